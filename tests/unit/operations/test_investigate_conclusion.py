"""The answers of an investigation: their confidence, and those of the trained reader."""

from collections.abc import Sequence

import pytest

from pgclarify.data.investigation import LEAST_CONFIDENCE, Evidence, Finding
from pgclarify.data.verdicts import AnswerSpan
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.ledger.calls import OutOfCalls
from tests.fakes import FakeEntailment, scripts
from tests.unit.operations.investigating import (
    ANSWERS,
    BIRTH,
    BIRTHPLACE,
    PAINTER,
    PLAN,
    SAMPLES,
    WHERE,
    WHO,
    Told,
    carry_out,
)

INVENTED = Finding("Ortval", (Evidence(2, "She was born at Ortval, they say."),))


class FakeReader:
    """Finds Ortval."""

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        start = passage.find("Ortval")
        return AnswerSpan(start, start + 6, 9.0, -0.1) if start >= 0 else None


async def test_a_conclusion_is_as_sure_as_the_steps_that_it_rests_on():
    samples = {WHO: ["Ida Holm", "Johan"], WHERE: ["Ortval", "Lindvik"]}
    told = await carry_out(scripts.investigator(PLAN, answers=ANSWERS, samples=samples))
    assert [step.confidence for step in told.steps[:2]] == [pytest.approx(2 / 3), pytest.approx(2 / 3)]
    assert told.end.confidence == pytest.approx(4 / 9)


async def test_a_product_of_small_shares_is_not_too_small():
    investigator = scripts.investigator(PLAN, answers=ANSWERS)
    told = await carry_out(investigator, entailment="none", signals=dict.fromkeys(range(1, 5), 1e-30))
    assert (told.end.answer, told.end.confidence) == ("Ortval", LEAST_CONFIDENCE)


@pytest.mark.parametrize(
    ("error", "status"),
    [(OutOfCalls(), RunStatus.SUCCEEDED), (EndpointUnavailable("no endpoint"), RunStatus.PARTIAL)],
)
async def test_answers_that_cannot_be_compared_are_kept(
    error: CompletionError, status: RunStatus, monkeypatch: pytest.MonkeyPatch
):
    async def judge(_: object, question: str, pairs: Sequence[tuple[str, str]], **more: object) -> Sequence[bool]:
        if pairs:
            raise error
        return []

    monkeypatch.setattr(FakeEntailment, "__call__", judge)
    samples = {WHO: ["Johan"], WHERE: ["Ortval"]}
    investigator = scripts.investigator(PLAN, answers=ANSWERS, samples=samples)
    told = await carry_out(investigator, signals=dict.fromkeys(range(1, 5), 0.8))
    assert [step.answer for step in told.steps] == ["Ida Holm", "Ortval", "Ortval"]
    assert told.record.status is status


async def read(
    *said: Finding | str | CompletionError | None, reader: object = FakeReader(), **settings: object
) -> Told:
    investigator = scripts.investigator(PLAN, answers={WHO: PAINTER, WHERE: [*said]}, samples=SAMPLES)
    return await carry_out(investigator, reader=reader, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([None], "the passages do not answer it"),
        ([INVENTED, INVENTED], "the quote does not occur in the passage"),
        ([EndpointUnavailable("no endpoint")], "no endpoint"),
    ],
)
async def test_the_trained_reader_answers_where_the_model_does_not(
    said: list[Finding | CompletionError | None], reason: str
):
    told = await read(*said)
    step = told.steps[1]
    assert (step.answer, step.reason) == ("Ortval", f"read without the language model: {reason}")
    # Its quote is a sentence, and is cited as any other.
    assert [(one.candidate_rank, one.quote) for one in step.citations] == [(6, BIRTH)]
    assert (told.end.answer, told.end.reason) == ("Ortval", None)


async def test_the_trained_reader_needs_no_calls():
    told = await read(BIRTHPLACE, max_calls=4)
    assert told.steps[1].reason == "read without the language model: no calls were left for it"
    assert (told.end.answer, told.record.status) == ("Ortval", RunStatus.PARTIAL)


async def test_an_answer_of_the_trained_reader_has_to_be_proven():
    told = await read(None, contents=["The altar was painted by Ida Holm in 1903.", "Ortval has a harbor."])
    assert told.end.answer is None


async def test_an_investigation_does_without_the_trained_reader():
    told = await read(None, reader=None)
    assert told.steps[1].reason == "the passages do not answer it"
