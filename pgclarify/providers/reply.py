"""Parsing that all replies share: JSON, refusals, token counts.

Servers differ, and a broken server may send anything. This module returns plain texts and numbers. Anything else raises
UnreadableReply, or is a refusal without words. No other module sees a server's own data structures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

# The limit of the ledger's columns.
_MOST_TOKENS: Final = 2**31 - 1


class UnreadableReply(Exception):
    """The reply is not what was asked for.

    Args:
        said: The server's message, if there is one.
    """

    def __init__(self, said: str = "") -> None:
        super().__init__(said)
        self.said = said


@dataclass(frozen=True, slots=True)
class Refusal:
    """The body of a response with an error status.

    Attributes:
        message: The server's message; empty if it has none that can be read.
        parameter: The parameter that it names; empty if none.
        code: The server's code for the refusal; empty if it has none.
    """

    message: str
    parameter: str = ""
    code: str = ""


def read_refusal(body: bytes) -> Refusal:
    """Read the body of a response with an error status, in OpenAI's form or a similar one."""
    try:
        found = parsed(body)
    except UnreadableReply:
        text = body.decode("utf-8", "replace").strip()
        return Refusal("" if text.startswith("<") else storable(text))
    if isinstance(found, list) and found:
        found = found[0]
    if not isinstance(found, dict):
        return Refusal(words(found))
    error = next((found[name] for name in ("error", "detail") if found.get(name)), found)
    return Refusal(words(error), _name(error, "param"), _name(error, "code"))


def _name(error: object, key: str) -> str:
    """Return a text of an error by its key; empty if it is missing."""
    found = error.get(key) if isinstance(error, dict) else None
    return storable(found) if isinstance(found, str) else ""


def storable(text: str) -> str:
    """Replace what PostgreSQL cannot store: NUL and lone surrogates, which JSON may contain."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def parsed(body: bytes) -> object:
    """Read JSON. Invalid UTF-8 becomes U+FFFD, because the rest is paid for.

    Raises:
        UnreadableReply: If it is not JSON.
    """
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        pass
    # Raised outside the handler, so that the exception does not keep the body in memory.
    raise UnreadableReply


def tokens(number: object) -> int | None:
    """Return a server's token count; None if it is not a valid count."""
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        return None
    return number if 0 <= number <= _MOST_TOKENS else None


def words(error: object) -> str:
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
