"""An investigation: its prompts, over real HTTP, and which replies are accepted."""

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding
from pgclarify.errors import InvalidReply
from pgclarify.prompts.investigation import answer, plan, sample
from tests.unit.prompts.asking import said

QUESTION = "Where was Ida Holm born?"
WHO = "Who painted the altar?"
PASSAGES = [Passage("a", 1, "Ida Holm was born in Ortval.")]
READ_PLAN = plan(QUESTION, most=3).read
READ_SAMPLE = sample(QUESTION, PASSAGES, number=0).read
READ_ANSWER = answer(QUESTION, PASSAGES).read


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        (["Where was #2 born?", "Who  painted\nthe altar?"], (WHO, "Where was #1 born?")),
        (["When did #3 meet #2?", "Who is Ida Holm?", WHO], (WHO, "Who is Ida Holm?", "When did #1 meet #2?")),
        # A question alone is no plan.
        ([QUESTION], ()),
        # A number that the model forgot is put in.
        (["Who employs Ida Holm's aunt?", "Who is Ida Holm's aunt?"], ("Who is Ida Holm's aunt?", "Who employs #1?")),
        (["Where was Ida Holm born?", "Who is Ida Holm?"], ()),
        # What no question needs is left out.
        (["Where was #3 born?", QUESTION, WHO], (WHO, "Where was #1 born?")),
        ([QUESTION, WHO], ()),
        # None of these can be asked.
        (["Where was #4 born?", WHO], ()),
        (["Where was #1 born?", WHO], ()),
        (["Where was #2 born?", "Who is #1?"], ()),
        (["Where was #2 born?", "Who painted it?"], ()),
        (["Where was #2 born?", ""], ()),
        # A server may ignore the schema, which allows three questions.
        (["Who is #2's aunt?", "Who knew #3?", WHO, "Who?"], (WHO, "Who knew #1?", "Who is #2's aunt?")),
        (["Who is #2's aunt?", "Who knew #3?", "Who was #4?", WHO], ()),
    ],
)
def test_a_plan_is_read(questions: list[str], expected: tuple[str, ...]):
    assert READ_PLAN(said({"questions": questions})) == expected


def test_a_plan_has_to_end():
    assert plan(QUESTION, most=3).schema["properties"]["questions"]["maxItems"] == 3


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
        "Ortval",
        "no",
        "No. 5",
        "The Unknown Soldier",
        "Nonesuch Palace",
        "knot",
        "Not Given Up",
        "not in the Netherlands",
        "not available in stores",
        "No Information Society",
        "not known for painting",
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


@pytest.mark.parametrize("reply", ["Ortval", "{}", {"questions": [1]}, {"answer": "x\0"}])
def test_a_reply_of_another_form_is_refused(reply: object):
    for read in (READ_PLAN, READ_SAMPLE, READ_ANSWER):
        with pytest.raises(InvalidReply):
            read(said(reply))


def test_an_answer_without_a_quote_is_no_reply():
    with pytest.raises(InvalidReply):
        READ_ANSWER(said({"evidence": [{"passage": 1, "quote": " "}], "answer": "Ortval"}))
