"""Asking back without a model: what splits the readings that clarify found."""

from __future__ import annotations

from dataclasses import replace

from pgclarify.data.dialogue import ClarifyingQuestion
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import RunStatus
from pgclarify.operations.execution import execute
from tests.fakes import FakeStore, RunRecord, scripts
from tests.fakes.context import context_of
from tests.unit.operations.rental_cars import COVERAGE, LICENSE, clarify_with, corpus, script


async def clarified(verdicts: dict[str, Reading] | None = None) -> tuple[FakeStore, Run]:
    store = FakeStore(corpus())
    run = store.add_run("rental cars")
    await clarify_with(store, run, scripts.verifier(verdicts or script()))
    return store, run


async def split(store: FakeStore, parent: Run) -> tuple[RunRecord, list[ClarifyingQuestion]]:
    settings = {"form": "split", "check": "none"}
    run = store.add_run("rental cars", operation="clarifying_questions", parent=parent, settings=settings)
    # No language model is asked.
    await execute(context_of(run, store))
    record = store.runs[run.run_id]
    return record, record.results_of(ClarifyingQuestion)


async def test_each_side_of_a_split_has_its_question_its_reading_and_its_documents() -> None:
    store, parent = await clarified()
    record, (first, second) = await split(store, parent)
    assert (record.status, record.interpretations) == (RunStatus.SUCCEEDED, [])
    assert first.proposed.clarifying_question == "Is it about \u201cbasic policy pay for a rental car\u201d?"
    assert first.proposed.reformulation == COVERAGE.interpretation
    assert first.proposed.reasoning == "1 of 2 readings; 0.92 bits"
    assert second.proposed.reformulation == LICENSE.interpretation
    found = store.runs[parent.run_id].interpretations
    assert [one.citations for one in (first, second)] == [tuple(one.citations) for one in found]
    assert (first.is_answerable, second.is_answerable) == (True, True)


async def test_readings_in_the_same_words_are_not_split() -> None:
    store, parent = await clarified(dict.fromkeys(script(), replace(LICENSE)))
    record, questions = await split(store, parent)
    assert (questions, record.stop_code) == ([], "not_answered")
