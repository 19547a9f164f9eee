"""What every reply of an endpoint has in common, from bytes to plain records: JSON, refusals, counts of tokens.

Servers differ, and a broken one sends anything. What is understood is text and numbers of ours; all else is
UnreadableReply, or a refusal without words. No shape of a server's gets any further.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

# What the ledger's columns hold.
_MOST_TOKENS: Final = 2**31 - 1


class UnreadableReply(Exception):
    """What came is not what was asked for.

    Args:
        said: What the server says about it, if it says anything.
    """

    def __init__(self, said: str = "") -> None:
        super().__init__(said)
        self.said = said


@dataclass(frozen=True, slots=True)
class Refusal:
    """The body of an answer that is no success.

    Attributes:
        message: What the server says; empty if it says nothing that can be read.
        parameter: The parameter that it names; empty if none.
        code: What kind of refusal it is, as a code; empty if it has none.
    """

    message: str
    parameter: str = ""
    code: str = ""


def read_refusal(body: bytes) -> Refusal:
    """Read what a server says with a status that is no success: OpenAI's form, or what comes near it."""
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
    """A text under a key of an error; empty if there is none."""
    found = error.get(key) if isinstance(error, dict) else None
    return storable(found) if isinstance(found, str) else ""


def storable(text: str) -> str:
    """Replace what PostgreSQL's text cannot hold: NUL and lone surrogates, which JSON can smuggle in."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def parsed(body: bytes) -> object:
    """Read JSON. Bytes that are no UTF-8 become U+FFFD: the rest was paid for.

    Raises:
        UnreadableReply: If it is none.
    """
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        pass
    # Outside of the handler, so that nothing holds on to the body.
    raise UnreadableReply


def tokens(number: object) -> int | None:
    """How many tokens a server says that there were; None if that is no such number."""
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        return None
    return number if 0 <= number <= _MOST_TOKENS else None


def words(error: object) -> str:
    """What an error says, whatever its form."""
    said = error.get("message", error) if isinstance(error, dict) else error
    if isinstance(said, str):
        return storable(said)
    if not said:
        return ""
    try:
        return storable(json.dumps(said, ensure_ascii=False))
    except RecursionError:
        return ""
