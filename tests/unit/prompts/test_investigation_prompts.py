"""The prompts of an investigation: how passages and earlier answers are shown."""

import re

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


def test_an_answer_is_never_a_place_for_another_one():
    steps = [Step(1, StepKind.FOLLOW_UP, "Who?", StepOutcome.ANSWERED, answer, 1.0) for answer in ("#2", "#1")]
    assert fill_in("Who met #1 and #2?", steps) == "Who met #2 and #1?"
