"""The prompts of an investigation: how passages and earlier answers are shown."""

import re

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Step
from pgclarify.data.vocabulary import StepKind, StepOutcome
from pgclarify.prompts.fencing import fenced_passages
from pgclarify.prompts.investigation import fill_in

PASSAGES = [
    Passage("a", 1, "Ida Holm painted it.", title="Altar", heading="Altar"),
    Passage("b", 2, "She was born in Ortval.", title="Ida Holm", heading="Life"),
]


def markers(text: str) -> list[str]:
    return re.findall(r"</?passage[^>]*>", text)


def test_title_and_section_are_shown_once():
    assert fenced_passages(PASSAGES).splitlines()[1:4] == [
        "Title: Altar",
        "Ida Holm painted it.",
        markers(fenced_passages(PASSAGES))[1],
    ]
    assert "Title: Ida Holm\nSection: Life\nShe was born" in fenced_passages(PASSAGES)


def test_a_long_answer_is_cut_in_later_questions():
    step = Step(1, StepKind.FOLLOW_UP, "Who?", StepOutcome.ANSWERED, "Ida " + 300 * "x", 1.0)
    assert fill_in("Where was #1 born?", [step]) == f"Where was Ida {96 * 'x'}\u2026 born?"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was born later, #1 or #2?", "Who was born later, Ida Holm born: 1890 or Tor Lind die: May 1885?"),
        ("How long is it between #1 and #2?", "How long is it between Ida Holm born: 1890 and Tor Lind die: May 1885?"),
        ("Which has more, #3, or #4?", "Which has more, the singer of Grey Harbour: Ana Li, or painted it: Bo?"),
        ("Where did #3 and #4 meet?", "Where did Ana Li and Bo meet?"),
        ("What did #3 do in #1?", "What did Ana Li do in 1890?"),
    ],
)
def test_answers_that_are_compared_keep_what_they_are_about(question: str, expected: str):
    asked = {
        "When was Ida Holm born?": "1890",
        "In which year did Tor Lind die?": "May 1885",
        "Who is the singer of Grey Harbour?": "Ana Li",
        "Who painted it?": "Bo",
    }
    steps = [
        Step(number, StepKind.FOLLOW_UP, one, StepOutcome.ANSWERED, answer, 1.0)
        for number, (one, answer) in enumerate(asked.items(), start=1)
    ]
    assert fill_in(question, steps) == expected


def test_an_answer_is_never_a_place_for_another_one():
    steps = [Step(1, StepKind.FOLLOW_UP, "Who?", StepOutcome.ANSWERED, answer, 1.0) for answer in ("#2", "#1")]
    assert fill_in("Who met #1 and #2?", steps) == "Who met #2 and #1?"
