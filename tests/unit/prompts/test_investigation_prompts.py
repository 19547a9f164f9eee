"""The prompts of an investigation: how passages and facts are shown."""

import re

from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Step
from pgclarify.data.vocabulary import StepKind, StepOutcome
from pgclarify.prompts.fencing import fenced_passages
from pgclarify.prompts.investigation import follow_up

QUESTION = "Where was the painter of the altar born?"
PASSAGES = [
    Passage("a", 1, "Ida Holm painted it.", title="Altar", heading="Altar"),
    Passage("b", 2, "She was born in Ortval.", title="Ida Holm", heading="Life"),
]
STEPS = [
    Step(1, StepKind.FOLLOW_UP, "Who painted the altar?", StepOutcome.ANSWERED, "Ida Holm", 1.0),
    Step(2, StepKind.FOLLOW_UP, "Where was Ida Holm born?", StepOutcome.NOT_IN_CORPUS),
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


def test_a_long_answer_is_cut_in_later_prompts():
    step = Step(1, StepKind.FOLLOW_UP, "Who?" + 300 * "?", StepOutcome.ANSWERED, "Ida " + 300 * "x", 1.0)
    (shown,) = (one for one in follow_up(QUESTION, [step]).messages[1].content.splitlines() if "Fact" in one)
    assert shown == f"Fact 1: Who?{196 * '?'}\u2026 Ida {96 * 'x'}\u2026"
