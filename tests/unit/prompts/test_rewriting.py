"""Rewriting: its prompts, and which replies are accepted."""

import pytest

from pgclarify.data.dialogue import HISTORY_LENGTH, Turn
from pgclarify.errors import InvalidReply, describe
from pgclarify.prompts.rewriting import reformulation, rewriting
from tests.unit.prompts.asking import asked, said

QUESTION = "Where was she born?"
HISTORY = ("Who painted the altar?", "Ida Holm, in 1903")
TURNS = (
    Turn(("Do you mean the painter?", "Do you mean the donor?"), "the painter"),
    Turn(("Do you mean the town?",), "no"),
)
READ_REWRITING = rewriting(QUESTION, HISTORY).read
READ_REFORMULATION = reformulation(QUESTION, TURNS).read


def test_only_the_last_turns_of_a_history_are_shown():
    history = [f"said {number}" for number in range(25)]
    lines = asked(rewriting(QUESTION, history))
    assert lines[:HISTORY_LENGTH] == [f"Turn {number}: said {number + 14}" for number in range(1, HISTORY_LENGTH + 1)]
    assert len(lines) == HISTORY_LENGTH + 2


def test_a_long_turn_is_cut():
    page = "x" * 5000
    assert asked(rewriting(QUESTION, [page]))[0] == f"Turn 1: {'x' * 600}\u2026"
    lines = asked(reformulation(QUESTION, [Turn((page, "Or the novel?"), page)]))
    # All earlier questions are shown, so that "the last one" has a meaning.
    assert lines[1:] == [f"Asked back: {'x' * 200}\u2026 / Or the novel?", f"Reply: {'x' * 600}\u2026"]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"question": "Where was  Ida\nHolm born?"}, "Where was Ida Holm born?"),
        ({"question": None}, None),
        ({"question": " null "}, None),
        ({"question": ""}, None),
    ],
)
def test_rewritings_are_read(reply: object, expected: str | None):
    assert READ_REWRITING(said(reply)) == expected


@pytest.mark.parametrize("reply", ['{"question": "a"} {}', {"question": ["a"]}, {"question": 2001 * "x"}])
def test_a_reply_of_another_form_is_refused(reply: object):
    for read in (READ_REWRITING, READ_REFORMULATION):
        with pytest.raises(InvalidReply):
            read(said(reply))


def test_a_reformulation_is_a_question():
    assert READ_REFORMULATION(said({"question": "How old  is it?"})) == "How old is it?"
    for nothing in (None, "", "null"):
        with pytest.raises(InvalidReply):
            READ_REFORMULATION(said({"question": nothing}))


def test_a_reply_that_does_not_fit_is_told_short():
    with pytest.raises(InvalidReply) as refused:
        READ_REWRITING(said("word\n" * 1000))
    assert refused.value.reply is not None
    assert len(refused.value.reply) < 400
    assert "\n" not in refused.value.reply
    # Only with_reply quotes it, because it may repeat a passage.
    assert "word" not in describe(refused.value)
    assert "word" in describe(refused.value, with_reply=True)
