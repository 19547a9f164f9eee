"""Judgements of readings: the prompt, and which replies are accepted."""

import re
from typing import Any

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.errors import InvalidReply
from pgclarify.prompts.evaluation_judge import match, support
from tests.unit.prompts.asking import said

QUESTION = "When does the museum open?"
READINGS = ("When does the harbor museum open?", "When was the harbor museum founded?", "When does the castle open?")
PASSAGES = (
    Passage("a", 1, "The harbor museum opens at 9 am.", title="Harbor Museum", heading="Hours"),
    Passage("b", 2, "The castle opens at 10 am.", title="Castle"),
)

CALLS: dict[str, ModelCall[Any]] = {
    "judge_support": support(READINGS[0], "9 am", PASSAGES),
    "judge_match": match(QUESTION, READINGS[:2], READINGS[1:]),
}


def asked(request: ModelCall[Any]) -> list[str]:
    # Not splitlines(): a line ends here wherever a model may see an end of a line.
    return re.split(r"[\n\r\u0085\u2028\u2029\v\f]", request.messages[1].content)


def values(request: ModelCall[Any]) -> Any:
    """What the schema says of the one key of a reply."""
    schema = request.schema
    (value,) = schema["properties"].values()
    assert schema["required"] == list(schema["properties"])
    return value


def test_passages_come_first_so_that_a_server_reads_them_once():
    first = support(READINGS[0], "9 am", PASSAGES)
    second = support(READINGS[1], None, PASSAGES)
    end = first.messages[1].content.index("The passages end here")
    assert first.messages[0] == second.messages[0]
    assert first.messages[1].content[:end] == second.messages[1].content[:end]
    assert asked(first)[-3:] == [f"Question: {READINGS[0]}", "Answer: 9 am", "Do the passages prove it?"]
    assert asked(second)[-2:] == [f"Question: {READINGS[1]}", "Do the passages prove it?"]


def test_a_schema_knows_how_much_is_judged():
    """So a server that constrains its model gets one judgement for each reading."""
    assert values(CALLS["judge_support"]) == {"type": "boolean"}
    value = values(CALLS["judge_match"])
    assert (value["minItems"], value["maxItems"], value["items"]) == (2, 2, {"type": "boolean"})


def test_a_long_answer_is_cut():
    request = support("q" * 900, "a" * 900, PASSAGES)
    assert asked(request)[-3:-1] == [f"Question: {'q' * 500}\u2026", f"Answer: {'a' * 500}\u2026"]


def test_judgements_are_read():
    assert CALLS["judge_support"].read(said({"supported": True})) is True
    assert CALLS["judge_support"].read(said({"supported": False})) is False
    assert CALLS["judge_match"].read(said({"matched": [True, False]})) == [True, False]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "true",
        "supported: true",
        *({"supported": value} for value in (1, "true", None, [True])),
        {"matched": True},
        {"supported": True, "reason": "it says so"},
        '{"supported": true} {"supported": false}',
    ],
)
def test_a_reply_that_is_no_judgement_is_refused(reply: object):
    with pytest.raises(InvalidReply):
        CALLS["judge_support"].read(said(reply))


@pytest.mark.parametrize(
    "judgements", [[], [True], [True, True, True], [1, 0], ["true", "false"], [None, True], True, None, {"1": True}]
)
def test_there_is_one_judgement_for_each_reading(judgements: object):
    with pytest.raises(InvalidReply):
        CALLS["judge_match"].read(said({"matched": judgements}))


def test_half_a_character_is_no_reason_to_fail():
    for text in ("\ud800", "\u202e\u200b", "", " ", "\0"):
        assert match(text, [text], [text]).messages
        assert support(text, text, [Passage("a", 1, text)]).messages
