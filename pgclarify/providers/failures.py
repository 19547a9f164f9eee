"""Reads what servers say when they fail: with the status of an error, or within an answer that began as a success."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pgclarify.data.model_calls import FILTERED
from pgclarify.language.foreign_text import storable

# The first status of an error, that of a gateway whose model failed, and the first number that is no status.
_REFUSED: Final = 400
_FAILED: Final = 502
_NO_STATUS: Final = 600
# Where servers put the status into an error.
_STATUS: Final = ("code", "status", "status_code")


class UnreadableReply(Exception):
    """The reply is not what was asked for.

    Args:
        said: The server's message, if there is one.
    """

    def __init__(self, said: str = "") -> None:
        super().__init__(said)
        self.said = said


class FailedReply(UnreadableReply):
    """A failure within an answer that the server had begun as a success.

    Args:
        error: What the server says, in any form.
    """

    def __init__(self, error: object) -> None:
        super().__init__(_words(error))
        code = _dict(error).get("code")
        self.code = storable(code) if isinstance(code, str) else ""
        self.status = _status(error) or _FAILED
        """The status that tells what to do; that of a failed gateway if the error has none."""


def read_refusal(body: object) -> str:
    """Return the message in the parsed body of a response with an error status; empty if there is none."""
    if isinstance(body, list) and body:
        body = body[0]
    fields = _dict(body)
    said = _words(fields.get("error") or fields.get("detail") or body)
    return "" if said.startswith("<") else said


def unreadable(found: object) -> UnreadableReply:
    """Return what to raise for a body that is not what was asked for, such as an error that has no status."""
    error = _dict(found).get("error", "")
    return UnreadableReply(_words(error)) if _status(error) is None else FailedReply(error)


def failure_of(found: Mapping[str, Any], choice: Mapping[str, Any]) -> FailedReply | None:
    """Return the failure that a gateway sent within a chat completion, also beside a part of a reply; None if none.

    Args:
        found: The chat completion.
        choice: Its first choice; empty if it has none.
    """
    for error in (choice.get("error"), found.get("error") if choice else None):
        says_something = any(error.values()) if isinstance(error, dict) else bool(error)
        if says_something:
            return FailedReply(error)
    return FailedReply("") if choice.get("finish_reason") == "error" else None


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _status(error: object) -> int | None:
    """Return the status of HTTP that an error has as its code; None if it has none."""
    if _dict(error).get("code") == FILTERED:
        return _REFUSED
    for name in _STATUS:
        code = _dict(error).get(name)
        if isinstance(code, str) and re.fullmatch(r"[45]\d\d", code, re.ASCII):
            code = int(code)
        if isinstance(code, int | float) and _REFUSED <= code < _NO_STATUS:
            return int(code)
    return None


def _words(error: object) -> str:
    """Return the message of an error in any of its forms."""
    said = error.get("message", error) if isinstance(error, dict) else error
    if isinstance(said, str):
        return storable(said)
    if not said:
        return ""
    try:
        return storable(json.dumps(said, ensure_ascii=False))
    except RecursionError:
        return ""
