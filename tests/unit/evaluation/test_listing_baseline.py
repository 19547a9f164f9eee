"""The baseline of answers one by one: its searches, calls, results and cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pgclarify.evaluated import Case, Output
from pgclarify.evaluation.listing_baseline import ListAtOnce
from pgclarify.model import Passage
from pgclarify.vocabulary import RunStatus
from tests.fakes.completer import Line, ScriptedCompleter
from tests.unit.evaluation.test_multi_hop_baselines import FakeRetriever, asked

CASE = Case("1", "Who played the queen?")
PASSAGES = [
    Passage("film", 1, "The queen is played by Ida Holm."),
    Passage("series", 2, "Ada Berg was the queen, it says."),
    Passage("play", 3, "Eva Lund was the queen, as well."),
]
A_WINDOW_EACH = 12
PROSE = "I know none."


def listed(*answers: tuple[str, int]) -> str:
    items = [{"quote": "as it stands", "passage": passage, "answer": answer} for answer, passage in answers]
    return json.dumps({"answers": items})


async def carried_out(
    replies: Sequence[Line | list[Line]], found: Sequence[Passage] = PASSAGES, **settings: Any
) -> tuple[Output, ScriptedCompleter, FakeRetriever]:
    left = list(replies)
    model = ScriptedCompleter({"baseline_listing": lambda _: left.pop(0)})
    retriever = FakeRetriever({CASE.question: found})
    method = ListAtOnce(
        asked(model, retriever), **{"top_k": 20, "evidence_tokens": 100_000, "max_answers": 10, **settings}
    )
    return await method.answer(CASE), model, retriever


def answers(output: Output) -> list[tuple[str | None, list[str]]]:
    return [(one.answer, [cited.passage.document_id for cited in one.citations]) for one in output.interpretations]


async def test_one_pass_is_one_search_and_one_call() -> None:
    output, model, retriever = await carried_out([listed(("Ida Holm", 1), ("Ada Berg", 2), ("Nobody", 9))])
    assert retriever.searches == [(CASE.question, 20)]
    assert len(model.calls) == output.usage.calls == output.retrievals == 1
    assert answers(output) == [("Ida Holm", ["film"]), ("Ada Berg", ["series"]), ("Nobody", [])]
    assert {one.interpretation for one in output.interpretations} == {CASE.question}
    assert list(output.retrieved) == PASSAGES


async def test_a_window_knows_nothing_of_the_others_and_spellings_are_one_answer() -> None:
    replies = [listed(("Ida Holm", 1)), listed(("Ada Berg", 1), ("ida holm", 1)), listed(("Eva Lund", 1))]
    output, model, _ = await carried_out(replies, evidence_tokens=A_WINDOW_EACH)
    texts = ["\n".join(message.content for message in call.messages[1:]) for call in model.calls]
    assert [sum(passage.content in text for passage in PASSAGES) for text in texts] == [1, 1, 1]
    assert not any("so far" in text for text in texts)
    assert answers(output) == [("Ida Holm", ["film", "series"]), ("Ada Berg", ["series"]), ("Eva Lund", ["play"])]


async def test_no_more_answers_than_are_wanted() -> None:
    replies = [listed(("Ida Holm", 1)), listed(("Ada Berg", 1)), listed(("Eva Lund", 1))]
    output, _, _ = await carried_out(replies, evidence_tokens=A_WINDOW_EACH, max_answers=2)
    assert [answer for answer, _ in answers(output)] == ["Ida Holm", "Ada Berg"]


async def test_a_window_that_cannot_be_read_leaves_the_others() -> None:
    replies = [PROSE, PROSE, listed(("Ada Berg", 1)), listed()]
    output, _, _ = await carried_out(replies, evidence_tokens=A_WINDOW_EACH)
    assert (output.status, answers(output)) == (RunStatus.PARTIAL, [("Ada Berg", ["series"])])


@pytest.mark.parametrize(
    ("found", "replies", "status"),
    [([], [], RunStatus.SUCCEEDED), (PASSAGES, [PROSE, PROSE], RunStatus.FAILED)],
)
async def test_nothing_found_is_no_answer_and_nothing_read_is_a_failure(
    found: list[Passage], replies: list[Line | list[Line]], status: RunStatus
) -> None:
    output, model, _ = await carried_out(replies, found)
    assert (output.status, output.interpretations, len(model.calls)) == (status, (), len(replies))
