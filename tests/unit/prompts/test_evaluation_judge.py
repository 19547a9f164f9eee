"""Judgements of readings: the prompt, and which replies are accepted."""

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


def test_judgements_are_read():
    assert CALLS["judge_support"].read(said({"supported": True})) is True
    assert CALLS["judge_support"].read(said({"supported": False})) is False
    assert CALLS["judge_match"].read(said({"matched": [True, False]})) == [True, False]


@pytest.mark.parametrize(
    "judgements", [[], [True], [True, True, True], [1, 0], ["true", "false"], [None, True], True, None, {"1": True}]
)
def test_there_is_one_judgement_for_each_reading(judgements: object):
    with pytest.raises(InvalidReply):
        CALLS["judge_match"].read(said({"matched": judgements}))
