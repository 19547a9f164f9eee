"""A small made-up world: several passages for each subject, and questions that one or two passages answer."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.pages import CHECKOUT

_WORLD = json.loads((CHECKOUT / "tests/data/lindvik.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Asked:
    """A question that one passage answers.

    Attributes:
        question: As a user asks it.
        passage: The name of the passage.
        answers: A right answer contains one of these, in lower case.
        elsewhere: The name of a similar passage that does not answer.
    """

    question: str
    passage: str
    answers: list[str]
    elsewhere: str


# Title and text of each passage, by name.
PASSAGES: dict[str, tuple[str, str]] = {one["name"]: (one["title"], one["text"]) for one in _WORLD["passages"]}
QUESTIONS = [Asked(**one) for one in _WORLD["questions"]]
# Questions in two steps, with the passages that they need. The first passage leads to the second.
CHAINS: list[tuple[str, list[str]]] = [(one["question"], one["passages"]) for one in _WORLD["chains"]]
