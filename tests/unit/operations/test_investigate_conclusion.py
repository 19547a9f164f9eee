"""The answers of an investigation: their confidence, and those of the trained reader."""

from collections.abc import Sequence

import pytest

from pgclarify.data.investigation import LEAST_CONFIDENCE, Evidence, Finding
from pgclarify.data.verdicts import AnswerSpan
from pgclarify.data.vocabulary import RunStatus, StepOutcome
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.ledger.calls import OutOfCalls
from tests.fakes import FakeEntailment, scripts
from tests.unit.operations.investigating import (
    ALTAR,
    ANSWERS,
    BIRTH,
    BIRTHPLACE,
    CASTLE,
    PAINTER,
    PLAN,
    QUESTION,
    SAMPLES,
    WHERE,
    WHO,
    Told,
    carry_out,
)

RUMOR = "Ida Holm was born in Molde, says her sister."
RUMORED = Finding("Molde", (Evidence(3, RUMOR), Evidence(1, "made up")))
INVENTED = Finding("Ortval", (Evidence(2, "She was born at Ortval, they say."),))


class FakeReader:
    """Finds Ortval."""

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        start = passage.find("Ortval")
        return AnswerSpan(start, start + 6, 9.0, -0.1) if start >= 0 else None

    async def judge(
        self, question: str, title: str, passage: str, sentences: Sequence[tuple[int, int]]
    ) -> Sequence[float]:
        return [0.9 if "Ortval" in passage[start:end] else 0.0 for start, end in sentences]


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


async def reason(conclusion: object, *, answers: object = ANSWERS, plan: object = PLAN, **settings: object) -> Told:
    investigator = scripts.investigator(
        plan,  # type: ignore[arg-type]
        answers=answers,  # type: ignore[arg-type]
        samples=SAMPLES,
        conclusion=conclusion,  # type: ignore[arg-type]
    )
    settings = {"contents": [ALTAR, BIRTH, CASTLE, RUMOR], "signals": {4: 0.9, 2: 0.8, 1: 0.6, 3: 0.1}} | settings
    return await carry_out(investigator, meta=True, **settings)  # type: ignore[arg-type]


async def test_the_meta_evidence_reasoner_reads_all_steps_with_their_best_evidence():
    told = await reason(RUMORED, top_k=3)
    (call,) = told.investigator.asked("conclusion")
    assert call.lines("Fact") == [f"{WHO} Ida Holm", f"{WHERE} Ortval"]
    # What the steps cite comes first, and then what is most relevant.
    assert call.passages == [ALTAR, BIRTH, RUMOR]


async def test_a_proven_answer_of_the_reasoner_counts_and_that_of_the_steps_is_kept():
    told = await reason(RUMORED)
    assert [step.answer for step in told.steps] == ["Ida Holm", "Ortval", "Molde"]
    assert told.end.reason == 'the steps answer "Ortval"'
    assert [one.quote for one in told.end.citations] == [RUMOR]
    # The score of what it cites, halved.
    assert told.end.confidence == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("said", "note", "status"),
    [
        (Finding("ortval.", (Evidence(2, BIRTH),)), "the same answer", RunStatus.SUCCEEDED),
        (None, "no answer", RunStatus.SUCCEEDED),
        ([INVENTED, INVENTED], "not proven", RunStatus.SUCCEEDED),
        ([Finding("Rome", (Evidence(2, BIRTH),))] * 2, "not proven", RunStatus.SUCCEEDED),
        (EndpointUnavailable("no endpoint"), "no reply", RunStatus.PARTIAL),
    ],
)
async def test_the_answer_of_the_steps_stands_unless_another_one_is_proven(said: object, note: str, status: RunStatus):
    told = await reason(said)
    assert (told.end.answer, told.end.reason, told.end.confidence) == ("Ortval", None, 1.0)
    assert told.record.stages[-1].note == f"meta evidence: {note}"
    assert told.record.status is status


async def test_the_reasoner_may_answer_what_the_steps_do_not():
    told = await reason(Finding("Ortval", (Evidence(3, BIRTH),)), answers={WHO: PAINTER})
    assert told.outcomes[-2:] == [("direct", "not_in_corpus"), ("conclusion", "answered")]
    assert (told.end.answer, told.end.reason, told.end.abstention_code) == ("Ortval", None, None)
    assert told.end.confidence == pytest.approx(0.8)


async def test_without_steps_there_is_nothing_to_reason_about():
    told = await reason(RUMORED, answers={QUESTION: BIRTHPLACE}, plan=())
    assert told.investigator.asked("conclusion") == []


async def test_calls_are_kept_for_the_reasoner():
    told = await reason(RUMORED, max_calls=6, entailment="none")
    assert told.steps[1].outcome is StepOutcome.CUT_OFF
    assert [one.purpose for one in told.investigator.calls] == ["plan", "answer", "answer", "conclusion"]
