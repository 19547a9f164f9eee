"""Readings that a check doubts: refused, unless the model abstains often enough; then shown last, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.data.vocabulary import Outcome, StopCode
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.operations.clarification import interpretations
from pgclarify.operations.clarification.interpretations import Grounded
from pgclarify.operations.execution import execute
from pgclarify.operations.judging.verdicts import PassageJudge, knows_to_abstain
from tests.fakes import FakeEmbedder, FakeStore, RunRecord, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of
from tests.unit.operations.rental_cars import (
    ASIDE,
    COVERAGE,
    COVERED,
    DRIVERS,
    LICENSE,
    carry_out,
    passage,
)

SURCHARGE = "For visitors, the desk asks 20 dollars."
# The quote has no word of the reading.
DOUBTED = Reading("How much is the airport fee of a rental car?", "20 dollars", SURCHARGE)
PRICE = "The price of car {} is {} dollars a day."
GONE = EndpointUnavailable("the model does not answer")

Told = Mapping[str, Reading | CompletionError | None]


def prices(count: int) -> dict[str, Reading]:
    """Readings that no check doubts, by their passages."""
    contents = [PRICE.format(number, number) for number in range(1, count + 1)]
    return {
        content: Reading(f"What is the price of car {number}?", f"{number} dollars", content)
        for number, content in enumerate(contents, start=1)
    }


async def clarified(
    told: Told, verifier: ScriptedCompleter | None = None, settings: Mapping[str, object] | None = None
) -> RunRecord:
    """A run over the passages, in this order."""
    passages = [passage(f"d{place}", content) for place, content in enumerate(told, start=1)]
    return await carry_out(passages, verifier or scripts.verifier(told), settings=settings)


@pytest.mark.parametrize(
    ("others", "is_shown"),
    [
        ({ASIDE: None}, True),
        # One of eight passages is enough, one of nine is not.
        ({ASIDE: None, **prices(6)}, True),
        ({ASIDE: None, **prices(7)}, False),
        ({}, False),
        (prices(3), False),
        # A call that fails says nothing about the model, nor does a quote that the passage does not have.
        ({ASIDE: GONE}, False),
        ({ASIDE: replace(LICENSE, quote="No driver needs one.")}, False),
    ],
)
async def test_what_a_check_doubts_is_shown_only_if_the_model_abstains(others: Told, is_shown: bool) -> None:
    record = await clarified({SURCHARGE: DOUBTED, **others})
    verdict = record.verdicts[1]
    assert verdict.reason
    if is_shown:
        assert (verdict.outcome, verdict.doubt_code) == (Outcome.GROUNDED, Refusal.BESIDE_THE_POINT)
        assert (verdict.answer, verdict.quote, verdict.abstention_code) == ("20 dollars", SURCHARGE, None)
        assert verdict.vector is not None
    else:
        assert (verdict.outcome, verdict.doubt_code) == (Outcome.ABSTAINED, None)
        assert (verdict.answer, verdict.quote) == (None, None)
        assert verdict.abstention_code is Refusal.BESIDE_THE_POINT
    assert ("20 dollars" in [one.answer for one in record.interpretations]) == is_shown


@pytest.mark.parametrize(("read", "abstained", "expected"), [(7, 1, True), (8, 1, False), (0, 3, True)])
def test_a_model_that_abstains_does_so_in_one_of_eight_passages(read: int, abstained: int, expected: bool) -> None:
    assert knows_to_abstain(read, abstained) == expected


async def test_doubts_of_what_rules_read_are_never_shown() -> None:
    told = {SURCHARGE: DOUBTED, ASIDE: None}
    store = FakeStore([passage("fee", SURCHARGE), passage("aside", ASIDE)])
    run = store.add_run("rental cars")
    # Without a language model, rules judge.
    await execute(context_of(run, store, scripts.verifier(told), chat=None))
    record = store.runs[run.run_id]
    assert record.verdicts[1].abstention_code is Refusal.BESIDE_THE_POINT
    assert (record.interpretations, record.stop_code) == ([], StopCode.UNPROVEN)


async def test_doubted_readings_come_last_whatever_their_rank_and_support() -> None:
    told = {SURCHARGE: DOUBTED, f"{SURCHARGE} It is closed.": DOUBTED, COVERED: COVERAGE, ASIDE: None, DRIVERS: LICENSE}
    record = await clarified(told)
    assert [(one.answer, one.support, one.doubt) for one in record.interpretations] == [
        (COVERAGE.answer, 1, None),
        (LICENSE.answer, 1, None),
        (DOUBTED.answer, 2, Refusal.BESIDE_THE_POINT),
    ]


@pytest.mark.parametrize(
    ("doubts", "expected"),
    [
        ((Refusal.FRAGMENT, None), None),
        ((None, Refusal.FRAGMENT), None),
        # The first one speaks for both.
        ((Refusal.FRAGMENT, Refusal.ABOUT_ANOTHER), Refusal.FRAGMENT),
    ],
)
async def test_a_group_is_doubted_if_all_of_it_is(doubts: Sequence[Refusal | None], expected: Refusal | None) -> None:
    grounded = [
        Grounded(Passage(f"d{rank}", rank, ""), rank, "What is the fee?", "$20", "$20", 0, 3, doubt=doubt)
        for rank, doubt in enumerate(doubts, start=1)
    ]
    (found,) = await interpretations.interpret(FakeStore().add_run(), grounded, np.ones((2, 1), dtype=np.float32))
    assert (found.support, found.doubt) == (2, expected)


async def test_consolidation_again_keeps_the_doubts() -> None:
    store = FakeStore([passage("fee", SURCHARGE), passage("aside", ASIDE), passage("policy", COVERED)])
    told = {SURCHARGE: DOUBTED, COVERED: COVERAGE}
    parent = store.add_run("rental cars")
    await execute(context_of(parent, store, scripts.verifier(told)))
    run = store.add_run(operation="consolidate", parent=parent)
    await execute(context_of(run, store))
    found = [(one.answer, one.doubt) for one in store.runs[run.run_id].interpretations]
    assert found == [(COVERAGE.answer, None), (DOUBTED.answer, Refusal.BESIDE_THE_POINT)]


async def test_all_batches_of_a_run_tell_whether_the_model_abstains() -> None:
    store = FakeStore()
    context = context_of(store.add_run("rental cars"), store, scripts.verifier({SURCHARGE: DOUBTED}))
    judge = PassageJudge(context, FakeEmbedder())
    aside, fee = (
        Candidate(rank, passage(f"d{rank}", content), 1.0, "dense")
        for rank, content in enumerate((ASIDE, SURCHARGE), start=1)
    )
    await judge.judge([aside], batch=1)
    ((_, verdict),) = await judge.judge([fee], batch=2)
    assert verdict.doubt_code is Refusal.BESIDE_THE_POINT


@pytest.mark.parametrize("is_confirmed", [True, False])
async def test_a_doubted_answer_that_is_shown_is_confirmed_as_others_are(is_confirmed: bool) -> None:
    told = {SURCHARGE: DOUBTED, ASIDE: None, COVERED: COVERAGE}
    verifier = scripts.verifier(told, confirmation=lambda answer: is_confirmed or answer != DOUBTED.answer)
    record = await clarified(told, verifier, {"verify": "model"})
    (prompt,) = verifier.asked("confirmation")
    assert prompt.lines("Answer") == [DOUBTED.answer, COVERAGE.answer]
    verdict = record.verdicts[1]
    assert verdict.doubt_code is (Refusal.BESIDE_THE_POINT if is_confirmed else None)
    assert verdict.abstention_code is (None if is_confirmed else Refusal.NOT_CONFIRMED)


async def test_a_doubted_answer_that_is_refused_costs_no_confirmation() -> None:
    told = {SURCHARGE: DOUBTED, COVERED: COVERAGE}
    verifier = scripts.verifier(told, confirmation=lambda _: True)
    record = await clarified(told, verifier, {"verify": "model"})
    (prompt,) = verifier.asked("confirmation")
    assert prompt.lines("Answer") == [COVERAGE.answer]
    assert record.verdicts[1].abstention_code is Refusal.BESIDE_THE_POINT


async def test_nothing_is_doubted_if_only_the_quote_is_checked() -> None:
    record = await clarified({SURCHARGE: DOUBTED}, settings={"verify": "none"})
    assert [(one.answer, one.doubt) for one in record.interpretations] == [(DOUBTED.answer, None)]
