"""The rules by which the model of tests.openai_server makes a question of a conversation stand on its own.

It replaces the first pronoun by the first name of the turns. If the question is about a lie, it invents a name. If the
turns have no name, it replies that it cannot tell.
"""

from __future__ import annotations

import re
from typing import Any

MADE_UP = "Zanzibar"

_NAME = re.compile(r"(?<=\S )[A-Z]\w+(?: [A-Z]\w+)*|^[A-Z]\w+ [A-Z]\w+", re.MULTILINE)
_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|them)\b", re.IGNORECASE)


def reply(purpose: str | None, text: str) -> dict[str, Any] | None:
    """The model's reply to a user message; None if the message is of another kind."""
    if purpose != "rewriting":
        return None
    (question,) = re.findall(r"^Question: (.*)$", text, re.MULTILINE)
    turns = re.findall(r"^Turn \d+: (.*)$", text, re.MULTILINE)
    name = MADE_UP if "lie" in question else next((match[0] for match in _NAME.finditer("\n".join(turns))), None)
    return {"question": None if name is None else _PRONOUN.sub(name, question, count=1)}
