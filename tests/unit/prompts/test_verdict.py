"""Verdicts and relaxations: their prompts, over real HTTP, and which replies are accepted."""

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import InvalidReply, describe
from pgclarify.prompts.relaxation import relaxation
from pgclarify.prompts.verdict import verdict
from tests.openai_server import serve
from tests.unit.prompts.asking import over_http, said

QUESTION = "When did the bridge open?"
PASSAGE = Passage("d1", 1, "The bridge opened in 1902. It is made of iron.", title="Old Bridge")
READ = verdict(QUESTION, PASSAGE).read
READ_RELAXATION = relaxation(QUESTION).read


def reading(**changes: object) -> dict[str, object]:
    return {"interpretation": "When did Old Bridge open?", "answer": "1902", "quote": "It opened in 1902.", **changes}


async def test_a_passage_is_judged_over_http():
    async with serve() as server:
        read = await over_http(server, verdict(QUESTION, PASSAGE))
        (body,) = server.bodies
    assert isinstance(read, Reading)
    assert read.quote == "The bridge opened in 1902."
    assert read.quote in PASSAGE.content
    assert body["temperature"] == 0
    assert body["response_format"]["json_schema"]["name"] == "verdict"
    assert body["response_format"]["json_schema"]["strict"] is True


def test_a_reading_is_read():
    read = READ(said(reading(interpretation=" When did\n Old Bridge open? ", quote=" It\nopened. ")))
    assert read == Reading("When did Old Bridge open?", "1902", "It\nopened.")


@pytest.mark.parametrize(
    "reply",
    [
        reading(interpretation=None),
        reading(interpretation="", answer="", quote=""),
        reading(interpretation="null", answer="null", quote="null"),
        {"interpretation": None, "answer": None, "quote": None},
    ],
)
def test_null_and_blank_are_an_abstention(reply):
    assert READ(said(reply)) is StopCode.NOT_ANSWERED


@pytest.mark.parametrize(
    "interpretation",
    [
        "When did the bridge open according to the passage?",
        "Which year is mentioned in the text?",
        "When did the bridge open, given the provided context?",
        "What is the year in the paragraph above?",
    ],
)
def test_a_reading_that_leans_on_the_passage_is_an_abstention(interpretation):
    assert READ(said(reading(interpretation=interpretation))) is StopCode.NOT_ANSWERED


@pytest.mark.parametrize(
    "interpretation",
    [
        "Who wrote the text of the Treaty of Rome?",
        "Which document does a driver show at the border?",
        "How long did the passage of the bill take in the Senate?",
        "What is said in the text of the First Amendment about assembly?",
    ],
)
def test_a_reading_about_texts_stands(interpretation):
    read = READ(said(reading(interpretation=interpretation)))
    assert isinstance(read, Reading)
    assert read.interpretation == interpretation


@pytest.mark.parametrize(
    "reply",
    [
        '{"interpretation": "When did the bri',
        reading(quote="null"),
        reading(quote="x" * 2001),
        '{"interpretation": "\\ud800", "answer": "a", "quote": "b"}',
    ],
)
def test_a_reply_of_another_form_is_refused_with_a_short_message(reply):
    with pytest.raises(InvalidReply) as caught:
        READ(said(reply))
    assert caught.value.reply
    assert "\n" not in caught.value.message
    assert len(describe(caught.value, with_reply=True)) < 1000


@pytest.mark.parametrize("reply", ["", {"query": " "}, {"query": None}, {"query": "x" * 501}, {"q": "x"}, "prose"])
def test_a_relaxation_that_does_not_fit_is_refused(reply):
    with pytest.raises(InvalidReply):
        READ_RELAXATION(said(reply))


def test_a_relaxation_is_one_line():
    assert READ_RELAXATION(said({"query": " bridge\nopening "})) == "bridge opening"
