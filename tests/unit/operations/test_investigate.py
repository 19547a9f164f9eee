"""The chain of an investigation: its questions, their order, and its end."""

from typing import Any

import pytest

from pgclarify.data.investigation import Evidence, Finding, FollowUp
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
    BOTH,
    CONTENTS,
    FOLLOW_UPS,
    QUESTION,
    SAMPLES,
    WHERE,
    WHO,
    carry_out,
)

GONE = EndpointUnavailable("the endpoint cannot be reached")


def script(**changes: object) -> ScriptedCompleter:
    said: dict[str, Any] = {
        "follow_ups": FOLLOW_UPS,
        "answers": ANSWERS,
        "samples": SAMPLES,
        "conclusion": BOTH,
        **changes,
    }
    return scripts.investigator(said.pop("follow_ups"), **said)


async def test_a_question_is_taken_apart_and_answered():
    told = await carry_out(script())
    assert (told.record.status, told.record.error) == (RunStatus.SUCCEEDED, None)
    assert told.record.stop_reason == "no further question was needed"
    assert told.outcomes == [("follow_up", "answered"), ("follow_up", "answered"), ("conclusion", "answered")]
    assert [step.ordinal for step in told.steps] == [1, 2, 3]
    assert [step.question for step in told.steps] == [WHO, WHERE, QUESTION]
    assert [step.answer for step in told.steps] == ["Ida Holm", "Ortval", "Ortval"]
    who, where, end = told.steps
    assert [(one.candidate_rank, one.quote, one.start_char, one.end_char) for one in who.citations] == [
        (1, "painted by Ida Holm", 114, 133)
    ]
    # Ranks count through the whole run: the first step has ranks 1 to 4, so the second one begins at 5.
    assert [one.candidate_rank for one in where.citations] == [6]
    assert [(one.candidate_rank, one.quote) for one in end.citations] == [(1, ALTAR), (6, BIRTH)]


async def test_a_question_that_needs_no_follow_up_is_answered_as_it_is():
    investigator = scripts.investigator(answers={WHERE: BIRTHPLACE}, samples={WHERE: ["Ortval"]})
    told = await carry_out(investigator, question=WHERE)
    assert told.outcomes == [("direct", "answered"), ("conclusion", "answered")]
    assert (told.end.answer, told.end.confidence) == ("Ortval", 1.0)
    assert told.end.citations == told.steps[0].citations
    assert told.record.stop_reason == "the question needed no follow-up"
    # There is no chain of steps, so the reasoner has nothing to correct.
    assert investigator.asked("conclusion") == []


async def test_a_direct_question_without_an_answer_is_taken_apart_after_all():
    follow_ups = [FollowUp(), FollowUp(WHO), FollowUp(WHERE), FollowUp(answer="Ortval")]
    told = await carry_out(script(follow_ups=follow_ups))
    assert told.outcomes == [
        ("direct", "not_in_corpus"),
        ("follow_up", "answered"),
        ("follow_up", "answered"),
        ("conclusion", "answered"),
    ]


async def test_a_question_that_no_passage_answers_is_not_in_the_corpus():
    told = await carry_out(scripts.investigator(), question=WHERE)
    assert told.record.status is RunStatus.SUCCEEDED
    assert told.outcomes == [("direct", "not_in_corpus"), ("conclusion", "not_in_corpus")]
    assert told.steps[0].reason == "the passages do not answer it"
    assert told.steps[0].abstention_code == "not_answered"
    assert (told.end.answer, told.end.confidence, told.end.citations) == (None, None, ())


async def test_two_questions_in_a_row_without_an_answer_end_it():
    follow_ups = [FollowUp(WHO), FollowUp("Who restored the Lindvik Altar?"), FollowUp(WHERE)]
    investigator = script(follow_ups=follow_ups, answers={}, conclusion=None)
    told = await carry_out(investigator)
    assert told.outcomes == [
        ("follow_up", "not_in_corpus"),
        ("follow_up", "not_in_corpus"),
        ("conclusion", "not_in_corpus"),
    ]
    assert told.record.stop_reason == "2 questions in a row had no answer"
    assert len(investigator.asked("follow_up")) == 2


async def test_a_question_that_comes_again_ends_it():
    again = FollowUp("who paints the lindvik altar")
    investigator = script(follow_ups=[FollowUp(WHO), [again, again]], conclusion=None)
    told = await carry_out(investigator)
    assert told.outcomes[1] == ("follow_up", "repeated")
    assert told.steps[1].reason == "step 1 asked the same"
    assert told.steps[1].question == again.question
    assert told.record.stop_reason == "a question was asked again"
    # The model is asked a second time, with a reminder, and not a third time.
    assert [call.sample for call in investigator.calls if call.purpose == "follow_up"] == [0, 0, 1]
    assert len(investigator.asked("answer")) == 1


async def test_a_model_that_has_the_answer_is_not_let_go_on():
    told = await carry_out(script(follow_ups=[FollowUp(WHO), FollowUp(WHERE), FollowUp("Is Ortval big?", "Ortval")]))
    assert told.outcomes == [("follow_up", "answered"), ("follow_up", "answered"), ("conclusion", "answered")]
    assert told.record.stop_reason == "no further question was needed"
    # An answer that no step has does not count.
    told = await carry_out(script(follow_ups=[FollowUp(WHO), FollowUp(WHERE, "Copenhagen"), FollowUp()]))
    assert [outcome for _, outcome in told.outcomes] == ["answered", "answered", "answered"]


async def test_a_question_that_rests_on_a_missing_answer_is_not_asked():
    follow_ups = [FollowUp(WHO), [FollowUp("Where was he born?"), FollowUp("Where was #1 born?")]]
    investigator = script(follow_ups=follow_ups, answers={}, conclusion=None)
    told = await carry_out(investigator)
    assert told.outcomes == [("follow_up", "not_in_corpus"), ("conclusion", "not_in_corpus")]
    assert told.record.stop_reason == "the next question does not stand on its own"
    assert len(investigator.asked("answer")) == 1


async def test_follow_ups_are_limited():
    told = await carry_out(script(), max_steps=1)
    assert told.outcomes == [("follow_up", "answered"), ("conclusion", "answered")]
    assert told.record.stop_reason == "the limit of 1 follow-up question was reached"
    # The limit is a decision of the user, not a failure.
    assert told.record.status is RunStatus.SUCCEEDED


async def test_without_follow_ups_the_question_is_answered_as_it_is():
    investigator = scripts.investigator([FollowUp(WHO)], answers={WHERE: BIRTHPLACE}, samples={WHERE: ["Ortval"]})
    told = await carry_out(investigator, question=WHERE, max_steps=0)
    assert told.outcomes == [("direct", "answered"), ("conclusion", "answered")]
    assert (told.record.status, told.end.answer) == (RunStatus.SUCCEEDED, "Ortval")
    assert told.record.stop_reason == "no follow-up questions are allowed"
    assert investigator.asked("follow_up") == []
    assert "decomposition" not in {stage.name for stage in told.record.stages}


async def test_calls_are_limited():
    investigator = script(conclusion=None)
    # Two calls are reserved for the conclusion, and sampling leaves two for an answer.
    told = await carry_out(investigator, max_calls=7)
    assert told.outcomes == [("follow_up", "answered"), ("follow_up", "cut_off"), ("conclusion", "cut_off")]
    assert [call.purpose for call in investigator.calls] == [
        *("follow_up", "sample", "sample", "answer", "follow_up", "conclusion")
    ]
    assert told.record.status is RunStatus.PARTIAL
    assert told.record.stop_reason == "the calls left did not suffice (limit 7, of which 2 are kept for the conclusion)"
    assert told.end.reason == told.record.stop_reason


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
    # Two calls were reserved for the conclusion. It is only made if there are passages.
    assert bool(investigator.asked("conclusion")) == bool(told.record.candidates)


async def test_a_reranker_that_can_be_asked_a_few_times_reranks_a_few():
    judge = scripts.relevance_judge({BIRTH: "0.9"})
    investigator = scripts.investigator(answers={WHERE: Finding("Ortval", (Evidence(1, BIRTH),))})
    rerankers = Rerankers(judge, no_cross_encoder)
    told = await carry_out(investigator, question=WHERE, reranker="model", rerankers=rerankers, max_calls=8, batch=2)
    # One call to decompose the question, two for an answer, two for the conclusion, two for grades. One is left. That
    # is too few for two samples, so it grades the first passage of the next batch.
    assert len(judge.calls) == 3
    assert [one.score for one in told.candidates(1)] == [0.9, 0.1, 0.1, 0.05]
    assert (told.end.answer, told.record.status) == ("Ortval", RunStatus.PARTIAL)


async def test_a_second_run_pays_nothing_and_ends_the_same():
    table = FakeLedgerTable()
    first, second = script(), script()
    one = await carry_out(first, table=table)
    other = await carry_out(second, table=table)
    assert len(first.calls) == 10
    assert second.calls == []
    assert one.steps == other.steps
    assert sum(stage.reused_calls for stage in other.record.stages) == 10


async def test_an_endpoint_that_is_gone_fails_the_run():
    told = await carry_out(script(follow_ups=[GONE]))
    assert (told.record.status, told.record.error) == (RunStatus.FAILED, GONE.message)
    assert told.steps == []


async def test_an_answer_that_stands_survives_an_endpoint_that_goes():
    told = await carry_out(script(follow_ups=[FollowUp(WHO), FollowUp(WHERE), GONE]))
    assert told.end.answer == "Ortval"
    assert (told.record.status, told.record.error) == (RunStatus.PARTIAL, None)
    assert told.record.error_code == GONE.sqlstate


async def test_a_model_that_cannot_be_understood_is_no_sign_of_an_empty_corpus():
    told = await carry_out(script(answers={WHO: ["nonsense", "nonsense"]}, follow_ups=[FollowUp(WHO)], conclusion=None))
    assert told.outcomes == [("follow_up", "failed"), ("conclusion", "failed")]
    assert told.record.status is RunStatus.PARTIAL
    assert (told.steps[0].reason or "").startswith("the model's reply does not fit its form")


async def test_a_question_that_cannot_be_taken_apart_is_looked_up_as_it_is():
    told = await carry_out(scripts.investigator([["nonsense", "{}}"]], answers={WHERE: BIRTHPLACE}), question=WHERE)
    assert told.outcomes == [("direct", "answered"), ("conclusion", "answered")]
    assert told.record.status is RunStatus.PARTIAL


async def test_a_corpus_without_passages_costs_no_answer():
    investigator = scripts.investigator([FollowUp(WHO)])
    told = await carry_out(investigator, contents=())
    assert told.steps[0].reason == "the search found nothing"
    assert told.end.outcome is StepOutcome.NOT_IN_CORPUS
    assert [call.purpose for call in investigator.calls] == ["follow_up", "follow_up"]
