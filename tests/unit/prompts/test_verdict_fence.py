"""The prompt of a verdict: the static part comes first, and the passage stands in a fence."""

import re

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Message
from pgclarify.prompts.verdict import verdict

QUESTION = "When does the bridge open?"


def messages_of(question: str, judged: Passage) -> tuple[Message, ...]:
    return verdict(question, judged).messages


def passage(
    content: str = "The bridge opened in 1902.", title: str | None = "Old Bridge", heading: str | None = "History"
) -> Passage:
    return Passage("d1", 1, content, title=title, heading=heading)


def fences(message: str) -> list[str]:
    return re.findall(r"</?passage-[0-9a-f]+>", message)


def test_the_same_input_renders_the_same_and_another_gets_another_code():
    assert messages_of(QUESTION, passage()) == messages_of(QUESTION, passage())
    variants = [
        (QUESTION, passage()),
        ("Why?", passage()),
        (QUESTION, passage("Other.")),
        (QUESTION, passage(title="Other")),
        (QUESTION, passage(heading=None)),
    ]
    assert len({fences(messages_of(*variant)[1].content)[0] for variant in variants}) == len(variants)
