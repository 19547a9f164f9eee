"""The judge of sentences that comes with pgclarify: which sentence answers, and how it reads long passages."""

from __future__ import annotations

import asyncio

import pytest

from pgclarify.embedding import LocalSpanReader

LEAVE = "## Parental leave\n\nYou may take twelve weeks off after a birth. The kitchen on floor two has a new oven."
FILLER = "Nothing of the kind is told in this part of the handbook, which goes on for a while about other matters. "


async def judged(reader: LocalSpanReader, question: str, passage: str, *sentences: str) -> list[float]:
    places = [(passage.index(one), passage.index(one) + len(one)) for one in sentences]
    return [*await reader.judge(question, "Handbook", passage, places)]


async def test_the_first_sentence_below_its_name_answers_a_topic(reader: LocalSpanReader) -> None:
    leave, oven = await judged(reader, "parental leave", LEAVE, "You may take twelve weeks off", "The kitchen on floor")
    assert leave > 0.5 > oven


@pytest.mark.parametrize("before", [0, 12, 45])
async def test_a_long_passage_is_judged_to_its_end(reader: LocalSpanReader, before: int) -> None:
    passage = f"{FILLER * before}{LEAVE}{FILLER * (45 - before)}"
    leave, oven = await judged(
        reader, "parental leave", passage, "You may take twelve weeks off", "The kitchen on floor"
    )
    assert leave > oven


async def test_other_texts_in_a_batch_do_not_change_a_probability(reader: LocalSpanReader) -> None:
    (alone,) = await judged(reader, "parental leave", LEAVE, "You may take twelve weeks off")
    together = await asyncio.gather(
        *(
            judged(reader, "parental leave", LEAVE + FILLER * number, "You may take twelve weeks off")
            for number in range(8)
        )
    )
    assert together[0] == [pytest.approx(alone, abs=1e-3)]


async def test_what_has_no_tokens_does_not_answer(reader: LocalSpanReader) -> None:
    assert await reader.judge("What?", "", "", [(0, 0)]) == [0.0]
    assert await reader.judge("What?", "", "A sentence.", [(3, 3)]) == [0.0]
