"""Asking back without a model: what splits the readings that clarify found."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pgclarify.data.dialogue import ClarifyingQuestion, ProposedQuestion
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import AmbiguityType, RunStatus
from pgclarify.operations.execution import execute
from tests.fakes import FakeStore, RunRecord, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of
from tests.unit.operations.rental_cars import (
    COVERAGE,
    COVERED,
    DRIVERS,
    LICENSE,
    clarify_with,
    corpus,
    script,
)

# The same words, and another answer.
ALIKE = Reading(COVERAGE.interpretation, "two years", DRIVERS)


async def clarified(verdicts: Mapping[str, Reading | None] | None = None) -> tuple[FakeStore, Run]:
    store = FakeStore(corpus())
    run = store.add_run("rental cars")
    await clarify_with(store, run, scripts.verifier(verdicts or script()))
    return store, run


async def split(
    store: FakeStore, parent: Run, completer: ScriptedCompleter | None = None, **settings: object
) -> tuple[RunRecord, list[ClarifyingQuestion]]:
    run = store.add_run(
        "rental cars",
        operation="clarifying_questions",
        parent=parent,
        settings={"form": "split", "check": "none"} | settings,
    )
    # By default, there is no language model.
    await execute(context_of(run, store, completer, chat=completer))
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


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        ({}, "no reading is left"),
        ({COVERED: COVERAGE}, "only one reading is left"),
        ({COVERED: COVERAGE, DRIVERS: ALIKE}, "all readings are in the same words"),
    ],
)
async def test_where_nothing_splits_the_readings(outcomes: dict[str, Reading], reason: str) -> None:
    store, parent = await clarified(dict.fromkeys(script()) | outcomes)
    record, questions = await split(store, parent)
    assert (questions, record.stop_reason, record.stop_code) == ([], reason, "not_answered")
    # The form was left open.
    record, questions = await split(store, parent, count=1)
    assert (questions, record.status) == ([], RunStatus.FAILED)
    assert (record.error or "").startswith(f"{reason}, so asking back needs a language model")
    asks = ProposedQuestion(AmbiguityType.SPECIFY, None, "Which?", None)
    model = ScriptedCompleter(scripts.proposals({"rental cars": [asks]}))
    record, questions = await split(store, parent, model, count=1)
    assert ([one.proposed for one in questions], record.status) == ([asks], RunStatus.SUCCEEDED)
