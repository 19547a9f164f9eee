"""The end of an investigation: the reasoner, the chain without it, contradictions, and the confidence of the answer."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import LEAST_CONFIDENCE, Evidence, Finding, FollowUp
from pgclarify.data.vocabulary import RunStatus, StepOutcome
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.ledger.calls import OutOfCalls
from pgclarify.operations.investigation.conclusion import Chain, best_evidence
from tests.fakes import FakeEntailment, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.unit.operations.investigating import (
    ALTAR,
    ANSWERS,
    BIRTH,
    BOTH,
    CASTLE,
    FOLLOW_UPS,
    QUESTION,
    RIVAL,
    SAMPLES,
    WHERE,
    WHO,
    carry_out,
)

INVENTED = Finding("Ortval", (Evidence(2, "She was born at Ortval, they say."),))


def script(conclusion: object = BOTH, follow_ups: object = FOLLOW_UPS, **answers: Finding) -> ScriptedCompleter:
    return scripts.investigator(
        follow_ups,  # type: ignore[arg-type]
        answers={**ANSWERS, **answers},
        samples=SAMPLES,
        conclusion=conclusion,  # type: ignore[arg-type]
    )


async def test_the_reasoner_sees_the_chain_and_the_best_evidence_with_what_is_cited_first():
    investigator = script()
    await carry_out(investigator, signals={1: 0.5, 2: 0.3, 3: 0.9, 4: 0.7}, top_k=4)
    (asked,) = investigator.asked("conclusion")
    assert asked.question == QUESTION
    assert asked.lines("Fact") == [f"{WHO} Ida Holm", f"{WHERE} Ortval"]
    # Both steps found the same four passages, which are shown once.
    assert asked.passages == [ALTAR, BIRTH, CASTLE, RIVAL]


async def test_the_reasoner_may_set_the_chain_right():
    right = Finding("Lindvik", (Evidence(4, RIVAL),))
    told = await carry_out(script([right]), signals={4: 0.4}, question="Where was the painter of the altar born?")
    assert told.end.answer == "Lindvik"
    assert told.end.reason == 'the steps alone would have given "Ortval"'
    # It cites a passage that no step cites, and contradicts the steps: so its confidence is half the passage's score.
    assert told.end.confidence == pytest.approx(0.2)
    assert told.record.status is RunStatus.SUCCEEDED


async def test_an_answer_of_the_reasoner_is_as_sure_as_the_steps_that_it_rests_on():
    samples = {WHO: ["Ida Holm", "Johan"], WHERE: ["Ortval", "Lindvik"]}
    investigator = scripts.investigator(FOLLOW_UPS, answers=ANSWERS, samples=samples, conclusion=BOTH)
    told = await carry_out(investigator)
    assert [step.confidence for step in told.steps[:2]] == [pytest.approx(2 / 3), pytest.approx(2 / 3)]
    assert told.end.confidence == pytest.approx(4 / 9)
    assert told.end.reason is None


async def test_only_quotes_that_exist_are_cited_by_the_conclusion():
    some = Finding("Ortval", (Evidence(1, "No such words here at all."), Evidence(9, "nor here"), Evidence(2, BIRTH)))
    told = await carry_out(script(some))
    assert [citation.quote for citation in told.end.citations] == [BIRTH]


async def test_quotes_that_are_not_there_are_asked_for_once_more():
    investigator = script([INVENTED, BOTH])
    told = await carry_out(investigator)
    assert told.end.answer == "Ortval"
    assert [call.sample for call in investigator.calls if call.purpose == "conclusion"] == [0, 1]


async def test_an_answer_without_proof_falls_back_on_the_chain():
    told = await carry_out(script([INVENTED, INVENTED]))
    assert told.end.answer == "Ortval"
    assert told.end.reason == "from the steps alone: the quote does not occur in the passage"
    assert told.end.confidence == 0.5
    assert [citation.candidate_rank for citation in told.end.citations] == [1, 6]
    assert told.record.status is RunStatus.SUCCEEDED


async def test_the_reasoner_may_find_what_the_steps_did_not():
    investigator = scripts.investigator([FollowUp(WHO), FollowUp(WHERE)], conclusion=BOTH)
    told = await carry_out(investigator, signals={1: 0.9, 2: 0.8})
    assert [step.outcome for step in told.steps[:2]] == [StepOutcome.NOT_IN_CORPUS] * 2
    assert told.end.answer == "Ortval"
    # No step supports it, so its confidence is the score of its best passage.
    assert told.end.confidence == 0.9


@pytest.mark.parametrize("conclusion", [BOTH, Finding()])
async def test_a_product_of_small_shares_is_not_too_small(conclusion: Finding):
    told = await carry_out(script(conclusion), entailment="none", signals=dict.fromkeys(range(1, 5), 1e-30))
    assert told.end.answer == "Ortval"
    assert told.end.confidence == LEAST_CONFIDENCE


async def test_an_answer_that_no_step_proves_is_not_concluded():
    told = await carry_out(script(Finding(), [*FOLLOW_UPS[:2], FollowUp(answer="Copenhagen")]))
    assert told.end.outcome is StepOutcome.NOT_IN_CORPUS
    assert told.end.reason == 'no step proves the answer "Copenhagen"'


async def test_a_comparison_may_be_answered_by_what_the_question_names():
    follow_ups = [FollowUp(WHO), FollowUp(WHERE), FollowUp(answer="yes")]
    told = await carry_out(script(Finding(), follow_ups), question="Was the painter born in Ortval?")
    assert told.end.answer == "yes"


async def test_contradicting_steps_are_decided_by_the_evidence():
    told = await carry_out(script(replace(BOTH, contradiction="It cannot have been in 1903")))
    assert told.end.answer == "Ortval"
    assert told.end.reason == "the steps contradict each other: It cannot have been in 1903; the evidence decides"
    assert told.end.confidence == pytest.approx(0.5)


async def test_contradicting_steps_that_the_evidence_does_not_decide_between():
    told = await carry_out(script(Finding(contradiction="Ida Holm cannot have painted it in 1903")))
    assert told.end.outcome is StepOutcome.CONTRADICTED
    assert told.end.reason == "the steps contradict each other: Ida Holm cannot have painted it in 1903"


async def test_a_reasoner_that_cannot_be_understood_leaves_the_chain():
    told = await carry_out(script(["nonsense", "nonsense"]))
    assert told.end.answer == "Ortval"
    assert told.record.status is RunStatus.PARTIAL


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
    right = Finding("Lindvik", (Evidence(4, RIVAL),))
    told = await carry_out(script([right]), signals={4: 0.4}, question="Where was the painter of the altar born?")
    assert (told.end.answer, told.end.reason) == ("Lindvik", None)
    assert told.end.confidence == pytest.approx(0.4)
    assert told.record.status is status

    samples = {WHO: ["Johan"], WHERE: ["Ortval"]}
    investigator = scripts.investigator(FOLLOW_UPS, answers=ANSWERS, samples=samples, conclusion=BOTH)
    told = await carry_out(investigator, signals=dict.fromkeys(range(1, 5), 0.8))
    assert [step.answer for step in told.steps] == ["Ida Holm", "Ortval", "Ortval"]
    assert told.record.status is status


def test_evidence_of_a_step_that_was_sampled_compares_with_that_of_one_that_was_not():
    good = [Candidate(rank, Passage(f"a{rank}", rank, "good"), 0.8 / 5, "dense", step_ordinal=1) for rank in (1, 2)]
    poor = [Candidate(rank, Passage(f"b{rank}", rank, "poor"), 0.2, "dense", step_ordinal=2) for rank in (3, 4)]
    chain = Chain([], [*good, *poor], {1: 0.8, 2: 0.8, 3: 0.2, 4: 0.2}, None)
    assert best_evidence(chain, 2) == good
