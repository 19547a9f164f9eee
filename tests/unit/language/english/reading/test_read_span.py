"""Readings that are made from the spans of the trained reader."""

from __future__ import annotations

import pytest

from pgclarify.data.verdicts import AnswerSpan
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.evidence import gather_evidence
from pgclarify.language.english.reading.span_readings import read_span
from pgclarify.language.english.reading.topics import read_topic

OBY = "| | Oby 3 | Oby 4 |\n|---|---|---|\n| Memory | 2 GB | 4 GB |"


def read(question: str, content: str, pointed_at: str) -> str | None:
    start = content.index(pointed_at)
    span = AnswerSpan(start, start + len(pointed_at), 1.0, 0.0)
    reading = read_span(Asked.read(question), span, gather_evidence(content), read_topic(None, None), content)
    return reading.answer if reading else None


@pytest.mark.parametrize(
    ("question", "content", "pointed_at", "answer"),
    [
        ("How many requests does ab send?", "If busy, ab sends more than 150 requests.", "150",
         "more than 150 requests"),
        ("Which section may hold the logs?", "Put it into a `<Host>` section.", "Host>` section", None),
        ("Where do visitors park?", "Visitors park in lot B. The gate code is 7.", "lot B. The gate code", "lot B"),
        ("How many doors are there?", "| A | B |\n|---|---|\n| doors | 6 doors, locked |", "| 6 doors", "6 doors"),
        ("How much memory is needed?", OBY, "2 GB | 4 GB", None),
        ("When is lunch?", "Lunch is served from 11:30 to 14:00.", "11:30 to 14:00", "11:30 to 14:00"),
        ("When was Ina Holm born?", "Ina Holm, born 1941 (19 March 1941), rows.", "1941", "19 March 1941"),
        ("Which party does Ina Holm lead?", "Ina Holm leads the Green Party.", "Green", "Green Party"),
        ("What is the population of Oby?", "The population of Oby: 90 inhabitants.", "90", "90 inhabitants"),
        ("What was the fee in 2019?", "The fee was 5 euros.", "5 euros", None),
        ("When was the mill built?", "The mill was built about 1820.", "1820", "about 1820"),
        ("How many cars does the Pip take?", "The Sula takes 14 cars. The Pip is small.", "14 cars", None),
        ("How many cars does the Pip take?", f"Pip takes {'menu ' * 90} 14 cars", "14 cars", None),
        ("Which release was the first one?", "It was 0.9 (beta), they say.", "0.9 (beta", "0.9 (beta)"),
        ("When was the Oby school established?", "Oby has a school. The school opened in 1985.", "1985", "1985"),
        ("When was the mill built?", "The mill was erected in 1820. Barns were built near it.", "1820", "1820"),
        ("Where is the Crow printed?", "The Crow is a newspaper in Oby. It was printed daily.", "Oby", "Oby"),
        ("What does a book cost?", "Books are sold at the desk. They cost 5 euros.", "5 euros", "5 euros"),
    ],
)  # fmt: skip
def test_the_form_of_an_answer_shows_some_that_are_none(
    question: str, content: str, pointed_at: str, answer: str | None
) -> None:
    assert read(question, content, pointed_at) == answer
