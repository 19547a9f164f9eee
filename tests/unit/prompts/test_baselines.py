"""Baselines: their prompts, and which replies are accepted."""

import json
from typing import Any

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.errors import InvalidReply
from pgclarify.prompts.baselines import ReadFromPassages, answers, disambiguation, proposal, verification
from tests.unit.prompts.asking import said

QUESTION = "When does the museum open?"
READINGS = ("When does the harbor museum open?", "When was the harbor museum opened?")
PASSAGES = (
    Passage("a", 1, "The harbor museum opens at 9 am.", title="Harbor Museum", heading="Hours"),
    Passage("b", 2, "It opened in 1931.", title="Harbor Museum"),
)

CALLS: dict[str, ModelCall[Any]] = {
    "baseline_proposal": proposal(QUESTION),
    "baseline_verification": verification(READINGS[0], PASSAGES),
    "baseline_answers": answers(READINGS, PASSAGES),
    "baseline_disambiguation": disambiguation(QUESTION, PASSAGES),
}
READ_PROPOSAL, READ_VERIFICATION, READ_ANSWERS, READ_DISAMBIGUATION = (call.read for call in CALLS.values())


def test_proposed_readings_are_there_once():
    proposed = [f"  {READINGS[0]}\n", READINGS[1], READINGS[1].upper()]
    assert READ_PROPOSAL(said({"interpretations": proposed})) == list(READINGS)
    many = [f"Reading {number}?" for number in range(9)]
    assert READ_PROPOSAL(said({"interpretations": many})) == many[:5]


def test_a_passage_that_was_not_shown_is_left_out():
    assert READ_VERIFICATION(said({"passages": [-1, 0, 2, 3]})) == [1]
    reading = {"interpretation": READINGS[0], "answer": "9 am", "passages": [3]}
    assert READ_DISAMBIGUATION(said({"interpretations": [reading]})) == [ReadFromPassages(READINGS[0], "9 am", ())]


@pytest.mark.parametrize("numbers", [[True], ["1"], [1.5], 1, None])
def test_passages_are_named_by_numbers(numbers: object):
    with pytest.raises(InvalidReply):
        READ_VERIFICATION(said({"passages": numbers}))
    reading = {"interpretation": READINGS[0], "answer": "9 am", "passages": numbers}
    with pytest.raises(InvalidReply):
        READ_DISAMBIGUATION(said({"interpretations": [reading]}))


def test_answers_are_as_many_as_questions():
    assert READ_ANSWERS(said({"answers": [" 9\nam", None]})) == ["9 am", None]
    assert READ_ANSWERS(said({"answers": ["", "null"]})) == [None, None]
    for given in ([], ["9 am"], ["9 am", None, None], [9, None], ["x" * 501, None], "9 am"):
        with pytest.raises(InvalidReply):
            READ_ANSWERS(said({"answers": given}))


def test_readings_come_with_their_passages():
    readings = [
        {"interpretation": f" {READINGS[0]}", "answer": "9 am", "passages": [2, 1]},
        {"interpretation": READINGS[1], "answer": "1931", "passages": []},
        # An entry without a reading or without an answer is left out.
        {"interpretation": None, "answer": "1931", "passages": [1]},
        {"interpretation": READINGS[1], "answer": " ", "passages": [1]},
    ]
    assert READ_DISAMBIGUATION(said({"interpretations": readings})) == [
        ReadFromPassages(READINGS[0], "9 am", (0, 1)),
        ReadFromPassages(READINGS[1], "1931", ()),
    ]
    assert READ_DISAMBIGUATION(said({"interpretations": []})) == []


ONE = {"interpretation": READINGS[0], "answer": "9 am", "passages": [1]}
TWO = {"interpretation": READINGS[1], "answer": "in {1931}", "passages": [1, 2]}
BOTH = json.dumps({"interpretations": [ONE, TWO]})


@pytest.mark.parametrize("wrapped", ["", "<think>{}</think>\n", "```json\n", "<think>x</think>```\n"])
def test_a_reply_that_was_cut_off_keeps_its_complete_readings(wrapped: str):
    """The reply is cut at each possible place."""
    first_ends = BOTH.index("}") + 1
    for length in range(1, len(BOTH)):
        reply = said(wrapped + BOTH[:length])
        if length < first_ends:
            with pytest.raises(InvalidReply):
                READ_DISAMBIGUATION(reply)
        else:
            kept = READ_DISAMBIGUATION(reply)
            places = [(0,), (0, 1)] if length >= len(BOTH) - len("]}") else [(0,)]
            assert [one.passages for one in kept] == places
