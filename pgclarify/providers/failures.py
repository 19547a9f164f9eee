"""Reads what servers say when they fail: with the status of an error, or within an answer that began as a success."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pgclarify.data.model_calls import FILTERED
from pgclarify.language.foreign_text import storable

REFUSING: Final = frozenset({400, 413, 422})
"""Statuses for a bad request: malformed, too large, or not processable."""

# Codes and words of filters, of Azure OpenAI, OpenAI, Google and Alibaba.
_FILTER_CODES: Final = frozenset(
    {FILTERED, "content_policy_violation", "ResponsibleAIPolicyViolation", "data_inspection_failed"}
)
_FILTER: Final = re.compile(
    r"\bcontent[ _]management policy\b|\bcontent[ _]filter|\bResponsibleAIPolicyViolation\b|\bdata_inspection_failed\b",
    re.IGNORECASE,
)
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
        code = fields_of(error).get("code")
        self.code = storable(code) if isinstance(code, str) else ""
        # Azure puts no status into the error of a filter.
        self.is_filtered = is_of_filter(error, _status(error) or _REFUSED)
        self.status = _status(error) or (_REFUSED if self.is_filtered else _FAILED)
        """The status that tells what to do; that of a failed gateway if the error has none."""


def read_refusal(body: object) -> str:
    """Return the message in the parsed body of a response with an error status; empty if there is none."""
    said = _words(_error(body))
    return "" if said.startswith("<") else said


def is_of_filter(body: object, status: int) -> bool:
    """Tell whether a refusal is that of a filter of the endpoint: by its code, or the words of Azure OpenAI.

    Args:
        body: The parsed body of the response, or the error in it.
        status: Its status.
    """
    error = fields_of(_error(body))
    codes = [error.get("code"), error.get("type"), fields_of(error.get("innererror")).get("code")]
    is_coded = any(isinstance(code, str) and code in _FILTER_CODES for code in codes)
    return is_coded or (status in REFUSING and _FILTER.search(read_refusal(body)) is not None)


def unreadable(found: object) -> UnreadableReply:
    """Return what to raise for a body that is not what was asked for, such as an error that has no status."""
    error = fields_of(found).get("error", "")
    failure = FailedReply(error)
    return failure if failure.is_filtered or _status(error) is not None else UnreadableReply(failure.said)


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


def _error(body: object) -> object:
    """Return the error in the parsed body of a response; the body if it has none."""
    if isinstance(body, list) and body:
        body = body[0]
    fields = fields_of(body)
    return fields.get("error") or fields.get("detail") or body


def fields_of(value: object) -> Mapping[str, Any]:
    """Return the fields of an object that a server sent; none if it is no object."""
    return value if isinstance(value, dict) else {}


def _status(error: object) -> int | None:
    """Return the status of HTTP that an error has as its code; None if it has none."""
    for name in _STATUS:
        code = fields_of(error).get(name)
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
