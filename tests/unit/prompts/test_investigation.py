"""An investigation: its prompts, over real HTTP, and which replies are accepted."""

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding, FollowUp, Step
from pgclarify.data.vocabulary import StepKind, StepOutcome
from pgclarify.errors import InvalidReply
from pgclarify.prompts.investigation import answer, conclusion, follow_up, sample
from tests.unit.prompts.asking import said

QUESTION = "Where was Ida Holm born?"
PASSAGES = [Passage("a", 1, "Ida Holm was born in Ortval.")]
READ_FOLLOW_UP = follow_up(QUESTION, ()).read
READ_SAMPLE = sample(QUESTION, PASSAGES, number=0).read
READ_ANSWER = answer(QUESTION, PASSAGES).read
READ_CONCLUSION = conclusion(QUESTION, (), PASSAGES).read


def test_no_answer_is_taken_where_there_are_no_facts():
    step = Step(1, StepKind.DIRECT, QUESTION, StepOutcome.NOT_IN_CORPUS)
    first, second = (follow_up(QUESTION, steps).schema for steps in ((), (step,)))
    assert first["properties"]["answer"] == {"type": "null"}
    assert second["properties"]["answer"] == {"type": ["string", "null"]}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"next": "Who  painted\nit?", "answer": None}, FollowUp("Who painted it?")),
        ({"next": None, "answer": "Ortval"}, FollowUp(answer="Ortval")),
        ({"next": "", "answer": "null"}, FollowUp()),
        ({"next": None, "answer": "not found"}, FollowUp()),
    ],
)
def test_follow_ups_are_read(reply: object, expected: FollowUp):
    assert READ_FOLLOW_UP(said(reply)) == expected


@pytest.mark.parametrize(
    "text",
    [
        None,
        "Unknown",
        "Not mentioned in the passages.",
        "not explicitly stated in the provided text",
        "No information about her birth is given.",
        "no passage tells it",
        "N/A",
    ],
)
def test_there_are_many_ways_to_say_no(text: str | None):
    assert READ_SAMPLE(said({"answer": text})) is None


@pytest.mark.parametrize(
    "text",
    [
        *("Ortval", "no", "No. 5", "The Unknown Soldier", "Nonesuch Palace", "knot", "Not Given Up"),
        *("not in the Netherlands", "not available in stores", "No Information Society", "not known for painting"),
    ],
)
def test_an_answer_that_only_looks_like_no_is_kept(text: str):
    assert READ_SAMPLE(said({"answer": text})) == text


def test_an_answer_is_read_with_its_evidence():
    evidence = [{"passage": number, "quote": f"quote {number}"} for number in range(1, 7)]
    reply: dict[str, object] = {"reasoning": "So.", "evidence": evidence[:1], "answer": "Ortval"}
    assert READ_ANSWER(said(reply)) == Finding("Ortval", (Evidence(1, "quote 1"),))
    assert READ_ANSWER(said({**reply, "answer": None})) == Finding()
    # A server may ignore the schema, which allows four quotes.
    assert READ_ANSWER(said({**reply, "evidence": evidence})).evidence == tuple(
        Evidence(number, f"quote {number}") for number in range(1, 5)
    )


def test_a_conclusion_is_read_with_all_its_evidence():
    evidence = [{"passage": 2, "quote": "one"}, {"passage": 1, "quote": ""}, {"passage": 3, "quote": "two"}]
    reply: dict[str, object] = {"evidence": evidence, "answer": "Ortval", "contradiction": "none"}
    assert READ_CONCLUSION(said(reply)) == Finding("Ortval", (Evidence(2, "one"), Evidence(3, "two")))


def test_a_conclusion_may_be_a_contradiction():
    reply: dict[str, object] = {"evidence": [], "answer": None, "contradiction": "Fact 1 and fact 2 name two places."}
    assert READ_CONCLUSION(said(reply)) == Finding(contradiction="Fact 1 and fact 2 name two places.")


@pytest.mark.parametrize("reply", ["Ortval", "{}", {"next": 1, "answer": None}, {"next": None}, {"answer": "x\0"}])
def test_a_reply_of_another_form_is_refused(reply: object):
    for read in (
        READ_FOLLOW_UP,
        READ_SAMPLE,
        READ_ANSWER,
        READ_CONCLUSION,
    ):
        with pytest.raises(InvalidReply):
            read(said(reply))


def test_an_answer_without_a_quote_is_no_reply():
    with pytest.raises(InvalidReply):
        READ_ANSWER(said({"evidence": [{"passage": 1, "quote": " "}], "answer": "Ortval"}))
    with pytest.raises(InvalidReply):
        READ_CONCLUSION(said({"evidence": [], "answer": "Ortval", "contradiction": None}))
