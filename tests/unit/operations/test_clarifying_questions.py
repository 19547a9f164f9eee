"""Asking back: the proposals, and which of them the corpus answers."""

from dataclasses import replace

import pytest

from pgclarify.data.citations import Citation
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import CompletionError, EndpointUnavailable
from tests.unit.operations.harbor import (
    BERTH,
    COST,
    FERRY,
    NOVEL,
    PROPOSED,
    READINGS,
    WHO,
    ask_back,
    proposal,
)

GONE = EndpointUnavailable("the endpoint cannot be reached")


async def test_reformulations_are_checked() -> None:
    asked = await ask_back()

    assert (asked.record.status, asked.record.error, asked.record.stop_reason) == (RunStatus.SUCCEEDED, None, None)
    assert [(one.ordinal, one.proposed, one.is_answerable) for one in asked.questions] == [
        (1, PROPOSED[0], True),
        (2, PROPOSED[1], True),
    ]
    assert [one.citations for one in asked.questions] == [
        (Citation(1, "a novel that was written by Ida Holm", 118, 154),),
        (Citation(2, "A berth costs forty crowns", 200, 226),),
    ]
    assert [search[0] for search in asked.exploration.searches] == [WHO, COST]
    # Each passage is one candidate, and is judged once for each question.
    assert [(one.rank, one.passage.passage_id) for one in asked.record.candidates] == [(1, 1), (2, 2), (3, 3)]
    assert asked.stages() == [("questioning", 2, 1), ("retrieval", 6, 0), ("checking", 6, 6)]


async def test_a_reformulation_that_no_document_answers_is_left_out() -> None:
    asked = await ask_back(verdicts={COST + BERTH: READINGS[COST + BERTH]})

    assert [(one.ordinal, one.proposed) for one in asked.questions] == [(1, PROPOSED[1])]
    assert asked.record.stop_reason == "1 proposal left out that no document answers"


async def test_without_a_check_nothing_is_judged() -> None:
    asks = replace(PROPOSED[0], clarifying_question="Do you mean the novel?", reformulation=None)
    asked = await ask_back([asks], form="respond", check="none", is_checked=False)

    assert [(one.proposed, one.is_answerable, one.citations) for one in asked.questions] == [(asks, None, ())]
    assert asked.exploration.searches == []
    assert asked.stages() == [("questioning", 1, 1)]


async def test_the_question_itself_is_not_proposed_and_nothing_twice() -> None:
    asked = await ask_back([proposal("lindvik harbor?"), proposal(WHO), proposal(WHO.lower()), proposal(COST)])

    assert asked.said == [WHO, COST]
    assert [search[0] for search in asked.exploration.searches] == [WHO, COST]


class TestTrouble:
    @pytest.mark.parametrize(
        ("said", "error"),
        [
            ("prose", "the model's reply does not fit its form"),
            ([proposal("lindvik harbor")], "the model proposed nothing but the question itself"),
            ([proposal("Which\ud800?")], "the model's reply does not fit its form"),
            (GONE, "the endpoint cannot be reached"),
        ],
    )
    async def test_no_proposal_is_a_failure(self, said: object, error: str) -> None:
        asked = await ask_back(said)
        assert asked.record.status is RunStatus.FAILED
        assert (asked.record.error or "").startswith(error)
        assert asked.questions == []
        assert [stage.name for stage in asked.record.stages] == ["questioning"]

    async def test_a_passage_that_could_not_be_judged_leaves_the_answer_open(self) -> None:
        verdicts: dict[str, Reading | CompletionError] = {
            WHO + NOVEL: READINGS[WHO + NOVEL],
            WHO + FERRY: GONE,
            COST + BERTH: GONE,
        }
        asked = await ask_back(verdicts=verdicts)

        assert (asked.record.status, asked.record.error_code) == (RunStatus.PARTIAL, GONE.sqlstate)
        # Another passage answers it, which is enough.
        assert [one.is_answerable for one in asked.questions] == [True, None]
        assert asked.record.stages[-1].note == "2 of 6 verdicts failed: the endpoint cannot be reached"

    async def test_a_passage_that_is_gone_cannot_be_cited(self) -> None:
        asked = await ask_back(gone=[1], check="mark")
        assert [one.is_answerable for one in asked.questions] == [False, True]
        assert len(asked.completer.asked("verdict")) == 4


async def test_nothing_may_be_left() -> None:
    asked = await ask_back(verdicts={})

    assert asked.questions == []
    assert asked.record.status is RunStatus.SUCCEEDED
    assert asked.record.stop_reason == "no document answers any of 2 proposals"


async def test_a_quote_in_other_words_is_cited_as_its_sentence_and_counted() -> None:
    said = {WHO + NOVEL: Reading(WHO, "Ida Holm", "Lindvik Harbor is an old novel that Ida Holm has written by hand.")}
    assert (await ask_back(verdicts=said)).questions == []
    said = {WHO + NOVEL: Reading(WHO, "Ida Holm", "Lindvik Harbor is the novel which was written by Ida Holm")}
    asked = await ask_back(verdicts=said)
    assert [one.citations for one in asked.questions] == [(Citation(1, NOVEL, 100, 155),)]
    (mends,) = [stage.mends for stage in asked.record.stages if stage.name == "checking"]
    assert mends == {"quote": 1}


async def test_a_quote_that_the_passage_does_not_have_proves_nothing() -> None:
    made_up = {WHO + NOVEL: Reading(WHO, "Ida Holm", "written by Jon Dahl")}
    assert (await ask_back(verdicts=made_up)).questions == []


async def test_an_answer_that_a_check_doubts_answers_no_proposal() -> None:
    doubted = {WHO + FERRY: Reading(WHO, "The ferry", "The ferry leaves at noon.")}
    assert (await ask_back(verdicts=doubted)).questions == []
