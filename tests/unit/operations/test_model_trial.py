"""The trial of a model: which models read several passages in one call, and how many."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from pgclarify.data.runs import Tally
from pgclarify.errors import BudgetSpent, EndpointFailed, EndpointUnavailable, RequestRefused
from pgclarify.operations.model_trial.passages_per_call import MOST_CALLS, SIZES, Counted, flaw
from pgclarify.operations.model_trial.trial import calls, known_questions, try_model
from tests.fakes.completer import Line, Prompt, ScriptedCompleter
from tests.fakes.ledger import FakeLedger, FakeLedgerTable
from tests.fakes.trial_models import (
    KNOWN,
    Said,
    careful,
    inventing_with_others,
    losing_the_middle,
    mixing_up,
    never_abstaining,
    paraphrasing,
    paraphrasing_with_others,
    script,
    sentences,
    small,
)
from tests.pages import CHECKOUT


def test_pages_say_how_many_passages_and_calls_a_trial_has() -> None:
    passages = [known for asked in known_questions() for known in asked.passages]
    answering = sum(bool(known.answers) for known in passages)
    said = {
        "docs/endpoints.md": (
            rf"\b{len(passages)} passages .+ of which {answering} answer and {len(passages) - answering} do not",
            rf"at most {MOST_CALLS} calls",
        ),
        "docs/operations.md": (rf"trial\]\(\S+\) of up to {MOST_CALLS} calls",),
        "CHANGELOG.md": (rf"trial\]\(\S+\) of up to {MOST_CALLS} calls",),
    }
    for page, sentences_of_page in said.items():
        text = " ".join((CHECKOUT / page).read_text(encoding="utf-8").split())
        for sentence in sentences_of_page:
            assert re.search(sentence, text), f"{page}: {sentence}"
    assert sum(len(calls(size)) for size in SIZES) == MOST_CALLS


async def tried(
    reply: Callable[[Prompt], Line], table: FakeLedgerTable | None = None, endpoint: str = "http://here/v1"
) -> tuple[int, list[Counted], Tally]:
    tally = Tally()
    completer = ScriptedCompleter({"model_trial": reply})
    size, counted = await try_model(FakeLedger(table), completer, endpoint, tally)
    return size, counted, tally


def test_the_trial_has_passages_that_answer_and_others_for_each_size() -> None:
    assert len(KNOWN) == 32
    for size in SIZES:
        chunks = calls(size)
        assert {len(one.passages) for one in chunks} == {size}
        assert sum(bool(known.answers) for one in chunks for known in one.passages) == 20
        assert sum(not known.answers for one in chunks for known in one.passages) == (20 if size == 20 else 12)
    for asked in known_questions():
        for known in (*asked.passages, *asked.beside):
            assert all(any(answer in one for one in sentences(known)) for answer in known.answers if "%" not in answer)


async def test_a_large_model_reads_twenty_for_64_calls() -> None:
    size, counted, tally = await tried(script(careful))
    assert size == 20
    assert tally.calls == sum(one.calls for one in counted) == MOST_CALLS
    assert [(one.found, one.invented, one.mixed_up, one.unquoted, one.unread) for one in counted] == [
        (20, 0, 0, 0, 0)
    ] * 6


@pytest.mark.parametrize(
    ("say", "size", "most_calls"),
    [
        (small, 1, 32),
        (mixing_up(0.6), 1, 48),
        (mixing_up(0.1), 1, 48),
        (mixing_up(0.01), 20, 64),
        (never_abstaining, 1, 32),
        (inventing_with_others, 4, 60),
        (paraphrasing, 1, 32),
        (paraphrasing_with_others, 1, 48),
        (losing_the_middle, 8, 62),
        (lambda prompt: [], 1, 32),
    ],
    ids=[
        "small", "mixing up most", "mixing up one in ten", "mixing up one in a hundred", "never abstaining",
        "inventing with others", "paraphrasing", "paraphrasing with others", "losing the middle", "silent",
    ],
)  # fmt: skip
async def test_a_model_reads_as_many_as_it_keeps_apart(
    say: Callable[[Prompt], list[Said]], size: int, most_calls: int
) -> None:
    found, _, tally = await tried(script(say))
    assert (found, tally.calls) == (size, most_calls)


@pytest.mark.parametrize("reply", ["I cannot read so much.", RequestRefused("it is too long")])
async def test_what_is_too_much_for_a_model_is_too_much(reply: Line) -> None:
    def say(prompt: Prompt) -> Line:
        return reply if len(prompt.passages) > 8 else script(careful)(prompt)

    size, counted, _ = await tried(say)
    assert size == 8
    assert counted[-1].unread == 32


@pytest.mark.parametrize(
    "error", [EndpointUnavailable("down"), EndpointFailed("slow"), RequestRefused("no such model")]
)
async def test_an_endpoint_that_fails_tells_nothing(error: EndpointUnavailable) -> None:
    with pytest.raises(type(error)):
        await tried(lambda _: error)


async def test_a_trial_that_was_interrupted_pays_for_nothing_twice() -> None:
    table = FakeLedgerTable()
    with pytest.raises(EndpointFailed):
        await tried(
            lambda prompt: script(careful)(prompt) if len(prompt.passages) < 8 else EndpointFailed("slow"), table
        )
    size, _, tally = await tried(script(careful), table)
    assert size == 20
    assert (tally.calls, tally.reused_calls) == (8, 56)


async def test_another_model_of_the_same_name_has_a_trial_of_its_own() -> None:
    table = FakeLedgerTable()
    assert (await tried(script(mixing_up(0.6)), table))[0] == 1
    size, _, tally = await tried(script(careful), table, "http://elsewhere/v1")
    assert (size, tally.calls, tally.reused_calls) == (20, 64, 0)


async def test_a_budget_that_refuses_a_call_ends_the_trial() -> None:
    with pytest.raises(BudgetSpent):
        await tried(script(careful), FakeLedgerTable(max_calls=40))


def counted(size: int, **changes: int) -> Counted:
    usual: Mapping[str, int] = {
        "calls": 1, "answering": 20, "found": 20, "silent": 12, "invented": 0, "unread": 0, "readings": 20,
        "mixed_up": 0, "unquoted": 0,
    }  # fmt: skip
    return Counted(size, **{**usual, **changes})


@pytest.mark.parametrize(
    ("changes", "is_good"),
    [
        ({"found": 18}, True), ({"found": 17}, False), ({"mixed_up": 1}, True), ({"mixed_up": 2}, False),
        ({"unquoted": 4}, True), ({"unquoted": 5}, False), ({"invented": 3}, True), ({"invented": 4}, False),
        ({"unread": 1}, True), ({"unread": 2}, False),
    ],
)  # fmt: skip
def test_a_size_is_good_within_these_limits(changes: Mapping[str, int], is_good: bool) -> None:
    assert (flaw([counted(1), counted(2, **changes)]) is None) == is_good


def test_mistakes_of_smaller_sizes_count() -> None:
    alone = counted(1)
    assert flaw([alone, counted(2, mixed_up=1), counted(4, mixed_up=2)]) is not None
    assert flaw([alone, counted(2), counted(4, mixed_up=2)]) is None
