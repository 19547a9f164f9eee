"""Clarifying questions: two forms, and which replies are accepted."""

import json

import pytest

from pgclarify.data.dialogue import Form, ProposedQuestion
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.vocabulary import AmbiguityType
from pgclarify.errors import InvalidReply
from pgclarify.prompts.clarifying_questions import clarifying_questions
from tests.unit.prompts.asking import said

QUESTION = "harbor museum"
every_form = pytest.mark.parametrize("form", list(Form))


def request_of(
    *history: str,
    question: str = QUESTION,
    form: Form = Form.RESPOND,
    count: int = 5,
) -> ModelCall[list[ProposedQuestion]]:
    return clarifying_questions(question, history, form=form, count=count)


def read(reply: object, form: Form = Form.RESPOND, count: int = 5) -> list[ProposedQuestion]:
    return request_of(form=form, count=count).read(said(reply))


def properties(request: ModelCall[list[ProposedQuestion]]) -> tuple[list[str], list[str]]:
    """The keys of the reply, and of one of its questions, in their order."""
    return list(request.schema["properties"]), list(request.schema["properties"]["questions"]["items"]["properties"])


def examples_in(request: ModelCall[list[ProposedQuestion]]) -> tuple[str, list[str], list[str]]:
    """The head of the examples, their questions, and their replies."""
    head, *lines = request.messages[0].content.rpartition("\n\n")[2].splitlines()
    return head, lines[::2], lines[1::2]


@every_form
@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_examples_have_all_types_and_are_replies_that_are_read(form: Form, count: int):
    request = request_of(form=form, count=count)
    head, questions, replies = examples_in(request)
    sizes, shown = ([1, 1, 1], "Examples, with 1 entry each") if count == 1 else ([3], "Example, with 3 entries")
    assert head == shown
    assert [len(json.loads(reply)["questions"]) for reply in replies] == sizes
    assert len(set(questions)) == len(sizes)
    assert all(question.startswith("Question: ") for question in questions)
    assert all(list(json.loads(reply)) == properties(request)[0] for reply in replies)

    entries = [entry for reply in replies for entry in read(reply, form)]
    assert [one.ambiguity_type for one in entries] == list(AmbiguityType), "one of each type"
    for one in entries:
        assert one.reasoning is not None
        assert (one.clarifying_question is None) == (form is Form.SELECT)
        assert (one.reformulation is None) == (form is Form.RESPOND)
        # The example in the prompt is about another subject than the question.
        assert QUESTION not in (one.clarifying_question or one.reformulation or "")


def test_no_prompt_asks_for_a_question_and_a_reformulation():
    assert properties(request_of())[1] == ["type", "question"]
    assert properties(request_of(form=Form.SELECT))[1] == ["type", "reformulation"]
    for form, other in ((Form.RESPOND, "reformulation"), (Form.SELECT, "clarifying question")):
        assert other not in request_of(form=form).messages[0].content


def test_a_question_that_names_a_placeholder_stays_as_it_is():
    """The number is only inserted into our own text, not into the question."""
    request = request_of("FORM", question="Who is COUNT of FORM?").retry()
    assert request.messages[1].content.splitlines()[:2] == ["Turn 1: FORM", "Question: Who is COUNT of FORM?"]


SPECIFY = {"type": "specify", "reasoning": "It names no\npurpose."}
VISIT = {"type": "specify", "question": "Do you want to  visit it?", "reformulation": "When does it open?"}
NOVEL = {"type": "semantic", "question": "Do you mean the novel?", "reformulation": "Who wrote it?"}


def test_types_and_their_reasons_are_read():
    assert read({"types": [SPECIFY], "questions": [VISIT, NOVEL]}) == [
        ProposedQuestion(AmbiguityType.SPECIFY, "It names no purpose.", "Do you want to visit it?", None),
        # The model gave no reason for this type.
        ProposedQuestion(AmbiguityType.SEMANTIC, None, "Do you mean the novel?", None),
    ]


def test_to_choose_from_there_are_reformulations_only():
    assert read({"types": [], "questions": [VISIT]}, form=Form.SELECT) == [
        ProposedQuestion(AmbiguityType.SPECIFY, None, None, "When does it open?")
    ]


@every_form
def test_a_text_of_the_other_form_proposes_nothing(form: Form):
    key = "question" if form is Form.RESPOND else "reformulation"
    with pytest.raises(InvalidReply, match="proposed nothing"):
        read({"questions": [VISIT | {key: None}, NOVEL | {key: "null"}]}, form=form)


def test_repeated_questions_are_proposed_once_up_to_the_count():
    texts = ["Visit it?", "VISIT it", "Visit it ?!", "Sail?", "Buy it?", "Rent it?"]
    reply = {"questions": [{"type": "specify", "question": text, "reformulation": "Other?"} for text in texts]}
    assert [one.clarifying_question for one in read(reply, count=3)] == ["Visit it?", "Sail?", "Buy it?"]
    # In a list to choose from, equal reformulations are one proposal.
    assert len(read(reply, form=Form.SELECT)) == 1


def test_each_question_needs_its_type():
    untyped = {"questions": [VISIT, {"question": "Sail?", "reformulation": "Who sails?"}]}
    with pytest.raises(InvalidReply, match="named no type"):
        read(untyped)


@pytest.mark.parametrize(
    "reply",
    [
        {"questions": []},
        {"questions": ["Do you want to visit it?"]},
        {"questions": [VISIT | {"type": "temporal"}]},
        {"questions": [VISIT | {"question": "x" * 2001}]},
        {"questions": [VISIT | {"answer": "yes"}]},
        {"questions": [VISIT], "types": [{"type": "specify"}]},
        '{"questions": [{"type": "specify", "question": "Cut of',
    ],
)
def test_a_reply_of_another_form_is_refused(reply: object):
    with pytest.raises(InvalidReply):
        read(reply)
