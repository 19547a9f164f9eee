"""Confirmations: each answer stands behind its own passage, and the reply has one word for each."""

import pytest

from pgclarify.data.documents import Passage
from pgclarify.errors import InvalidReply
from pgclarify.prompts.confirmation import GivenAnswer, confirmation
from tests.unit.prompts.asking import asked, said

BRIDGE = Passage("d1", 1, "The bridge opened in 1902.", title="Old Bridge", heading="History")
CHEESE = Passage("d2", 2, "Cheese is made of milk.")
OPENED = GivenAnswer(BRIDGE, "When did the Old Bridge open?", "in 1902")
MADE = GivenAnswer(CHEESE, "What is cheese made of?", "of wool")


def test_each_answer_stands_behind_its_passage():
    call = confirmation([OPENED, MADE])
    lines = asked(call)
    assert [one for one in lines if one.startswith(("Claim", "Question", "Answer"))] == [
        "Claim 1",
        "Question 1: When did the Old Bridge open?",
        "Answer 1: in 1902",
        "Claim 2",
        "Question 2: What is cheese made of?",
        "Answer 2: of wool",
    ]
    assert lines.index(BRIDGE.content) < lines.index("Question 1: When did the Old Bridge open?")
    assert lines.index("Claim 2") < lines.index(CHEESE.content) < lines.index("Answer 2: of wool")
    assert call.messages[0] == confirmation([MADE]).messages[0]
    # The reply must be erased with each of these documents.
    assert call.document_ids == ("d1", "d2")
    assert call.schema["properties"]["confirmed"]["minItems"] == 2


def test_a_reply_has_one_for_each():
    read = confirmation([OPENED, MADE]).read
    assert read(said({"confirmed": [True, False]})) == [True, False]


@pytest.mark.parametrize("confirmed", [[True], [True, False, True], [1, 0], ["true", "false"], [True, None]])
def test_a_reply_without_one_decision_for_each_answer_is_refused(confirmed: list[object]):
    with pytest.raises(InvalidReply):
        confirmation([OPENED, MADE]).read(said({"confirmed": confirmed}))
