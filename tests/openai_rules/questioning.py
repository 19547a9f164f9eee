"""The rules by which the model of tests.openai_server asks back, and makes one question of a conversation.

It proposes subjects of the question, one after the other. Passages about rental cars have some of them, and no passage
has the last one. It joins replies to the first question. As a simulated user it says what it wants, or chooses the
option that shares most words with that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

SUBJECTS = ("a deductible after hail", "a cleaning fee after smoking", "unicorns")
TYPES = ("semantic", "specify", "generalize")


def reply(purpose: str | None, text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The model's reply to a user message, in the form of a schema; None if the message is of another kind."""
    if purpose == "questions":
        return _questions(text, schema["properties"])
    if purpose == "simulated_reply":
        # A simulated user who always says what is wanted.
        return {"reply": _lines("Wanted", text)[0]}
    if purpose == "simulated_choice":
        wanted = set(_lines("Wanted", text)[0].split())
        shared = [len(wanted & set(one.split())) for one in _lines(r"Offered \d+", text)]
        return {"choice": 1 + shared.index(max(shared))}
    if purpose == "reformulation":
        return {"question": reformulated(_lines("First question", text)[0], *_lines("Reply", text))}
    return None


def reformulation(question: str, subject: str) -> str:
    """The question of a user who means this subject."""
    return f"What about {subject}, for {question.rstrip(' ?')}?"


def reformulated(question: str, *replies: str) -> str:
    """The question of a user who replied this."""
    return f"{question.rstrip(' ?')}, {' and '.join(replies)}?"


def _questions(text: str, form: Mapping[str, Any]) -> dict[str, Any]:
    (question,) = _lines("Question", text)
    # Do not propose a subject that the question names already.
    subjects = [subject for subject in SUBJECTS if subject not in question][: form["questions"]["maxItems"]]
    entries = [
        {
            "type": kind,
            "question": f"Is it about {subject}?",
            "reformulation": reformulation(question, subject),
        }
        for kind, subject in zip(TYPES, subjects, strict=False)
    ]
    keys = form["questions"]["items"]["properties"]
    said = {
        "types": [{"type": kind, "reasoning": f"It may be {kind}."} for kind in TYPES],
        "questions": [{key: entry[key] for key in keys} for entry in entries],
    }
    return {key: said[key] for key in form}


def _lines(label: str, text: str) -> list[str]:
    return re.findall(rf"^{label}: (.*)$", text, re.MULTILINE)
