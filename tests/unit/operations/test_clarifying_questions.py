"""Asking back: the proposals, and which of them the corpus answers."""

import pytest

from pgclarify.data.citations import Citation
from pgclarify.data.dialogue import ProposedQuestion
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


async def test_proposals_are_checked_by_their_reformulations() -> None:
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


@pytest.mark.parametrize(
    ("verdicts", "said", "left_out"),
    [
        (READINGS, PROPOSED[0], None),
        ({COST + BERTH: READINGS[COST + BERTH]}, PROPOSED[1], "1 proposal left out that no document answers"),
    ],
)
async def test_the_first_answerable_proposal_is_asked(
    verdicts: dict[str, Reading | CompletionError], said: ProposedQuestion, left_out: str | None
) -> None:
    asked = await ask_back(verdicts=verdicts, count=1, proposals=3)

    assert [(one.ordinal, one.proposed) for one in asked.questions] == [(1, said)]
    assert asked.record.stop_reason == left_out
    (request,) = [call for call in asked.completer.calls if call.purpose == "questions"]
    assert request.schema is not None
    assert request.schema["properties"]["questions"]["maxItems"] == 3


async def test_without_a_check_nothing_is_judged() -> None:
    asked = await ask_back(check="none", is_checked=False)

    assert [(one.is_answerable, one.citations) for one in asked.questions] == [(None, ()), (None, ())]
    assert asked.exploration.searches == []
    assert asked.stages() == [("questioning", 2, 1)]


async def test_a_proposal_without_a_reformulation_cannot_be_checked() -> None:
    unclear = proposal("Which harbor?", None)
    asked = await ask_back([unclear])

    assert [(one.proposed, one.is_answerable) for one in asked.questions] == [(unclear, None)]
    assert asked.exploration.searches == []


async def test_the_question_itself_is_not_proposed_and_nothing_twice() -> None:
    asked = await ask_back(
        [
            proposal("lindvik harbor?"),
            proposal("Do you mean the novel?", "Lindvik harbor."),
            proposal("do you mean the novel", COST),
            proposal("Do you want to keep a boat there?", COST),
        ]
    )

    assert asked.said == ["Do you mean the novel?", "Do you want to keep a boat there?"]
    # A check of the original question would tell nothing about this proposal.
    assert [one.proposed.reformulation for one in asked.questions] == [None, COST]
    assert [search[0] for search in asked.exploration.searches] == [COST]


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


async def test_a_quote_that_the_passage_does_not_have_proves_nothing() -> None:
    made_up = {WHO + NOVEL: Reading(WHO, "Ida Holm", "written by Jon Dahl")}
    assert (await ask_back(verdicts=made_up)).questions == []
