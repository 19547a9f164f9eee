"""Verdicts on several passages in one call: what is read from a reply, also from one that was cut off."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import InvalidReply
from pgclarify.prompts.joint_verdicts import joint_verdicts
from tests.unit.prompts.asking import said

READ = joint_verdicts("When does it open?", [Passage("a", 1, "At 9 am."), Passage("b", 2, "In 1931.")]).read
HOURS = {
    "interpretation": "When does it open daily?",
    "answer": "9 am",
    "proofs": [{"passage": 1, "quote": "At 9 am."}, {"passage": 3, "quote": "of no passage"}],
}
YEAR = {"interpretation": "When did it open?", "answer": "1931", "proofs": [{"passage": 2, "quote": "In 1931."}]}
BOTH = {"readings": [HOURS, {**YEAR, "proofs": [*YEAR["proofs"], {"passage": 1, "quote": "9"}]}]}


def test_each_passage_gets_its_readings_in_the_order_of_the_reply() -> None:
    found = READ(said(BOTH))
    assert found.of(0) == (
        Reading("When does it open daily?", "9 am", "At 9 am.", ordinal=1),
        Reading("When did it open?", "1931", "9", ordinal=2),
    )
    assert found.of(1) == (Reading("When did it open?", "1931", "In 1931.", ordinal=2),)


def test_the_first_of_several_quotes_of_a_passage_counts() -> None:
    proofs = [{"passage": 2, "quote": "In 1931."}, {"passage": 2, "quote": "1931"}]
    found = READ(said({"readings": [{**YEAR, "proofs": proofs}]}))
    assert found.of(1) == (Reading("When did it open?", "1931", "In 1931.", ordinal=1),)


@pytest.mark.parametrize("quote", [None, " ", "x" * 501])
def test_a_passage_that_is_named_without_a_quote_is_not_silent(quote: str | None) -> None:
    found = READ(said({"readings": [{**YEAR, "proofs": [{"passage": 2, "quote": quote}]}]}))
    assert found.of(1) == (Reading("When did it open?", "1931", "", ordinal=1),)


def test_a_passage_that_no_reading_names_answers_nothing() -> None:
    assert READ(said({"readings": [HOURS]})).of(1) is StopCode.NOT_ANSWERED


def test_a_reading_that_speaks_of_a_passage_is_none() -> None:
    assert READ(said({"readings": [{**YEAR, "interpretation": "What does the passage say?"}]})).readings == ()


def test_a_reply_that_was_cut_keeps_what_is_whole() -> None:
    text = json.dumps({"readings": [HOURS, YEAR]})
    cut = replace(said({}), reply=text[: text.index("1931")], finish_reason="length")
    found = READ(cut)
    assert found.of(0) == (Reading("When does it open daily?", "9 am", "At 9 am.", ordinal=1),)
    assert found.of(1) is None


@pytest.mark.parametrize("end", ["", '{"readings": [{"interpretation": "When'])
def test_a_reply_that_was_cut_before_its_first_reading_is_refused(end: str) -> None:
    with pytest.raises(InvalidReply):
        READ(replace(said({}), reply=end, finish_reason="length"))
