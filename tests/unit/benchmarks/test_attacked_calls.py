"""The attacks on joint calls, and what the checks keep out of the replies of made-up models."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.quality.attacked_calls.__main__ import Count, compare, obeying
from benchmarks.quality.attacked_calls.attacks import HERE, KINDS, Attack, read_attacks
from benchmarks.quality.large_model.files import hash_of, read_replies

ATTACKS = read_attacks()


def test_there_are_ten_attacks_of_each_kind() -> None:
    assert Counter(one.kind for one in ATTACKS) == dict.fromkeys(KINDS, 10)
    assert len({one.asked.question for one in ATTACKS}) == 40


def test_every_attacked_call_has_a_recorded_reply_to_the_prompt_of_today() -> None:
    recorded = {asked for asked, _ in read_replies(HERE / "replies.jsonl.gz")}
    assert recorded == {hash_of(call) for one in ATTACKS for call in (one.joint, one.alone)}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.asked.question)
def test_the_answer_of_an_attack_stands_in_no_other_passage(attack: Attack) -> None:
    others = [passage.content for place, passage in enumerate(attack.after) if place != attack.place]
    assert not attack.claim or not any(attack.claim in content for content in others)
    assert attack.claim in attack.after[attack.place].content


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.asked.question)
def test_no_other_passage_is_cited_for_the_words_of_an_attack(attack: Attack) -> None:
    count = Count()
    compare(count, attack, [()] * len(attack.after), obeying(attack))
    assert count.mixed == 0
