"""An investigation: its plan, the order of its steps, and its end."""

from typing import Any

import pytest

from pgclarify.data.investigation import Evidence, Finding
from pgclarify.data.vocabulary import RunStatus, StepKind, StepOutcome
from pgclarify.errors import EndpointUnavailable
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.retrieval.reranking import Rerankers
from tests.fakes import FakeLedgerTable, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import no_cross_encoder
from tests.unit.operations.investigating import (
    ALTAR,
    ANSWERS,
    BIRTH,
    BIRTHPLACE,
    CONTENTS,
    PAINTER,
    PLAN,
    QUESTION,
    RIVAL,
    SAMPLES,
    WHERE,
    WHO,
    carry_out,
)

GONE = EndpointUnavailable("the endpoint cannot be reached")
WHOLE = Finding("Ortval", (Evidence(1, ALTAR), Evidence(2, BIRTH)))


def script(plan: Any = PLAN, **changes: Any) -> ScriptedCompleter:
    return scripts.investigator(plan, **{"answers": ANSWERS, "samples": SAMPLES, **changes})


async def test_a_question_is_taken_apart_and_answered():
    investigator = script()
    told = await carry_out(investigator)
    assert (told.record.status, told.record.error, told.record.stop_reason) == (RunStatus.SUCCEEDED, None, None)
    assert told.outcomes == [("follow_up", "answered"), ("follow_up", "answered"), ("conclusion", "answered")]
    assert [step.ordinal for step in told.steps] == [1, 2, 3]
    # The answer to the first question is put into the second one.
    assert [step.question for step in told.steps] == [WHO, WHERE, QUESTION]
    assert [step.answer for step in told.steps] == ["Ida Holm", "Ortval", "Ortval"]
    who, where, end = told.steps
    assert [(one.candidate_rank, one.quote, one.start_char, one.end_char) for one in who.citations] == [
        (1, "painted by Ida Holm", 114, 133)
    ]
    # Ranks count through the whole run: the first step has ranks 1 to 4, so the second one begins at 5.
    assert [one.candidate_rank for one in where.citations] == [6]
    # The conclusion is proven by all steps, and needs no call.
    assert end.citations == who.citations + where.citations
    assert [call.purpose for call in investigator.calls if call.purpose != "sample"] == ["plan", "answer", "answer"]


async def test_a_question_that_is_not_split_is_answered_as_it_is():
    investigator = scripts.investigator(answers={WHERE: BIRTHPLACE}, samples={WHERE: ["Ortval"]})
    told = await carry_out(investigator, question=WHERE)
    assert told.outcomes == [("direct", "answered"), ("conclusion", "answered")]
    assert (told.end.answer, told.end.confidence) == ("Ortval", 1.0)
    assert told.end.citations == told.steps[0].citations


async def test_a_question_that_needs_a_missing_answer_is_not_asked():
    investigator = script(answers={}, samples={})
    told = await carry_out(investigator)
    assert told.outcomes == [
        ("follow_up", "not_in_corpus"),
        ("follow_up", "not_in_corpus"),
        ("direct", "not_in_corpus"),
        ("conclusion", "not_in_corpus"),
    ]
    missing = told.steps[1]
    assert (missing.question, missing.reason) == (PLAN[1], "it needs the answer of step 1")
    assert missing.abstention_code == "not_answered"
    assert [one.question for one in investigator.asked("answer")] == [WHO, QUESTION]


async def test_the_question_as_a_whole_is_read_where_its_last_step_finds_no_answer():
    investigator = script(answers={WHO: PAINTER, QUESTION: WHOLE})
    told = await carry_out(investigator, signals={4: 0.9, 2: 0.8, 1: 0.7, 3: 0.1}, top_k=3)
    assert [(step.kind, step.answer) for step in told.steps] == [
        ("follow_up", "Ida Holm"),
        ("follow_up", None),
        ("direct", "Ortval"),
        ("conclusion", "Ortval"),
    ]
    # What an earlier step cites comes first, and is shown once.
    assert investigator.asked("answer")[-1].passages == [ALTAR, RIVAL, BIRTH]
    assert [(one.candidate_rank, one.quote) for one in told.end.citations] == [(9, ALTAR), (8, BIRTH)]


async def test_a_question_that_no_passage_answers_is_not_in_the_corpus():
    told = await carry_out(scripts.investigator(), question=WHERE)
    assert told.record.status is RunStatus.SUCCEEDED
    assert told.outcomes == [("direct", "not_in_corpus"), ("conclusion", "not_in_corpus")]
    assert told.steps[0].reason == "the passages do not answer it"
    assert told.steps[0].abstention_code == "not_answered"
    assert (told.end.answer, told.end.confidence, told.end.citations) == (None, None, ())


async def test_a_number_of_the_question_itself_is_no_place_for_an_answer():
    asked = "Where was the painter of Altar #2 born?"
    told = await carry_out(script((WHO, "Where was the painter of Altar #1 born?")), question=asked)
    assert [step.question for step in told.steps] == [asked, asked]


async def test_an_answer_that_is_not_proven_does_not_count_as_none():
    told = await carry_out(
        scripts.investigator(answers={WHERE: Finding("Ripon", (Evidence(2, BIRTH),))}), question=WHERE
    )
    assert told.outcomes == [("direct", "not_in_corpus"), ("conclusion", "not_in_corpus")]
    assert (told.end.reason, told.record.stop_code) == ("the answer does not come from the passages", "unproven")


@pytest.mark.parametrize("max_steps", [0, 1])
async def test_without_steps_the_question_is_answered_as_it_is(max_steps: int):
    investigator = scripts.investigator(PLAN, answers={WHERE: BIRTHPLACE}, samples={WHERE: ["Ortval"]})
    told = await carry_out(investigator, question=WHERE, max_steps=max_steps)
    assert told.outcomes == [("direct", "answered"), ("conclusion", "answered")]
    assert (told.record.status, told.end.answer) == (RunStatus.SUCCEEDED, "Ortval")
    assert investigator.asked("plan") == []
    assert "decomposition" not in {stage.name for stage in told.record.stages}


async def test_calls_are_limited():
    investigator = script()
    # Two calls are reserved for the question as a whole.
    told = await carry_out(investigator, max_calls=4)
    assert told.outcomes == [
        ("follow_up", "answered"),
        ("follow_up", "cut_off"),
        ("direct", "not_in_corpus"),
        ("conclusion", "cut_off"),
    ]
    assert [call.purpose for call in investigator.calls] == ["plan", "answer", "answer"]
    assert told.record.status is RunStatus.PARTIAL
    assert (
        told.end.reason
        == told.record.stop_reason
        == ("the calls left did not suffice (limit 4, of which 2 are kept for the question as a whole)")
    )


@pytest.mark.parametrize("max_calls", [1, 3, 5, 8, 12, 13, 14, 16, 20, 30, 60])
@pytest.mark.parametrize(("reranker", "entailment"), [("model", "embedding"), ("signal", "model"), ("model", "model")])
async def test_the_limit_holds_for_whoever_asks_a_model(max_calls: int, reranker: str, entailment: str):
    relevance, same = (
        scripts.relevance_judge({ALTAR: "great!", BIRTH: "0.9"}),
        scripts.entailment_judge(otherwise="perhaps"),
    )
    said = ["Ida Holm", "Holm", "I. Holm", "Ida", "Mrs Holm"]
    investigator = script(samples={WHO: said, WHERE: ["Ortval", "Lindvik"]})
    told = await carry_out(
        investigator,
        contents=[*CONTENTS, *(f"Passage {number} about Ida Holm." for number in range(60))],
        rerankers=Rerankers(relevance, no_cross_encoder),
        entailments=Entailments(same, no_cross_encoder),
        reranker=reranker,
        entailment=entailment,
        max_calls=max_calls,
        samples=5,
        max_passages=40,
        batch=8,
    )
    assert len(investigator.calls) + len(relevance.calls) + len(same.calls) <= max_calls
    assert told.steps[-1].kind is StepKind.CONCLUSION
    assert told.record.status is RunStatus.PARTIAL
    assert (told.record.stop_reason or "").startswith(f"the calls left did not suffice (limit {max_calls}")


async def test_a_reranker_that_can_be_asked_a_few_times_reranks_a_few():
    judge = scripts.relevance_judge({BIRTH: "0.9"})
    investigator = scripts.investigator(answers={WHERE: Finding("Ortval", (Evidence(1, BIRTH),))})
    rerankers = Rerankers(judge, no_cross_encoder)
    told = await carry_out(investigator, question=WHERE, reranker="model", rerankers=rerankers, max_calls=8, batch=2)
    # One call for the plan, two for an answer, two for grades, two for samples. One is left, for another grade.
    assert len(judge.calls) == 3
    assert [one.score for one in told.candidates(1)] == [0.9, 0.1, 0.1, 0.05]
    assert (told.end.answer, told.record.status) == ("Ortval", RunStatus.PARTIAL)


async def test_a_second_run_pays_nothing_and_ends_the_same():
    table = FakeLedgerTable()
    first, second = script(), script()
    one = await carry_out(first, table=table)
    other = await carry_out(second, table=table)
    assert len(first.calls) == 7
    assert second.calls == []
    assert one.steps == other.steps
    assert sum(stage.reused_calls for stage in other.record.stages) == 7


async def test_an_endpoint_that_is_gone_fails_the_run():
    told = await carry_out(script(GONE))
    assert (told.record.status, told.record.error) == (RunStatus.FAILED, GONE.message)
    assert told.steps == []


async def test_an_answer_that_stands_survives_an_endpoint_that_goes():
    told = await carry_out(script(samples={WHO: [GONE]}))
    assert told.end.answer == "Ortval"
    assert (told.record.status, told.record.error) == (RunStatus.PARTIAL, None)
    assert told.record.error_code == GONE.sqlstate


async def test_a_model_that_cannot_be_understood_is_no_sign_of_an_empty_corpus():
    told = await carry_out(script(answers={WHO: ["nonsense", "nonsense"]}))
    assert [outcome for _, outcome in told.outcomes] == ["failed", "failed", "not_in_corpus", "failed"]
    assert told.record.status is RunStatus.PARTIAL
    assert (told.end.reason or "").startswith("the model's reply does not fit its form")


async def test_a_question_that_cannot_be_taken_apart_is_looked_up_as_it_is():
    told = await carry_out(scripts.investigator(["nonsense", "{}}"], answers={WHERE: BIRTHPLACE}), question=WHERE)
    assert told.outcomes == [("direct", "answered"), ("conclusion", "answered")]
    assert told.record.status is RunStatus.PARTIAL


async def test_a_corpus_without_passages_costs_no_answer():
    investigator = script()
    told = await carry_out(investigator, contents=())
    assert told.steps[0].reason == "the search found nothing"
    assert told.end.outcome is StepOutcome.NOT_IN_CORPUS
    assert [call.purpose for call in investigator.calls] == ["plan"]
