"""What an endpoint sent, from bytes to plain records: the one place that knows the shapes of a chat completion.

Servers differ, and a broken one sends anything. What is understood here is text and numbers of ours; all else is
NotACompletion, or a refusal without words. No shape of a server's gets any further.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

# What the ledger's columns hold.
_MOST_TOKENS: Final = 2**31 - 1

# Parts of a reply that are its text. Some servers leave the type out; thoughts and pictures are no answer.
_TEXT_PARTS: Final = frozenset({"text", "output_text", None})


class NotACompletion(Exception):
    """What came is no chat completion, or not what else was asked for.

    Args:
        said: What the server says about it, if it says anything.
    """

    def __init__(self, said: str = "") -> None:
        super().__init__(said)
        self.said = said


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What of a chat completion is kept.

    Attributes:
        text: What the model said, or its refusal; empty if it said neither.
        prompt_tokens: As the server counted them; None if it did not.
        completion_tokens: Likewise.
    """

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The body of an answer that is no success.

    Attributes:
        message: What the server says; empty if it says nothing that can be read.
        parameter: The parameter that it names; empty if none.
    """

    message: str
    parameter: str = ""


def read_reply(body: bytes) -> ChatReply:
    """Read a chat completion. Bytes that are no UTF-8 become U+FFFD: the rest was paid for.

    Raises:
        NotACompletion: If it is anything else.
    """
    found = _json(body)
    if not isinstance(found, dict):
        raise NotACompletion
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        # Some servers pass on a provider's failure as a success.
        raise NotACompletion(_words(found["error"]) if "error" in found else "")
    refusal = message.get("refusal")
    text = _text(message.get("content")) or (refusal if isinstance(refusal, str) else "")
    usage = found.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    return ChatReply(storable(text), _tokens(counted.get("prompt_tokens")), _tokens(counted.get("completion_tokens")))


def read_models(body: bytes) -> list[str]:
    """Read a list of models: their names.

    Raises:
        NotACompletion: If it is none.
    """
    found = _json(body)
    models = found.get("data") if isinstance(found, dict) else None
    if not isinstance(models, list):
        raise NotACompletion
    names = [model.get("id") if isinstance(model, dict) else None for model in models]
    return [storable(name) for name in names if isinstance(name, str)]


def read_refusal(body: bytes) -> Refusal:
    """Read what a server says with a status that is no success: OpenAI's form, or what comes near it."""
    try:
        found = _json(body)
    except NotACompletion:
        text = body.decode("utf-8", "replace").strip()
        return Refusal("" if text.startswith("<") else storable(text))
    if isinstance(found, list) and found:
        found = found[0]
    if not isinstance(found, dict):
        return Refusal(_words(found))
    error = next((found[name] for name in ("error", "detail") if found.get(name)), found)
    parameter = error.get("param") if isinstance(error, dict) else None
    return Refusal(_words(error), storable(parameter) if isinstance(parameter, str) else "")


def storable(text: str) -> str:
    """Replace what PostgreSQL's text cannot hold: NUL and lone surrogates, which JSON can smuggle in."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def _json(body: bytes) -> object:
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        pass
    # Outside of the handler, so that nothing holds on to the body.
    raise NotACompletion


def _text(content: object) -> str:
    """The text of a message: a string, or the parts of a list that are text."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise NotACompletion
    return "".join(_part(part) for part in content)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise NotACompletion
    kind = part.get("type")
    said = part.get("refusal") if kind == "refusal" else part.get("text")
    is_said = kind == "refusal" or kind is None or (isinstance(kind, str) and kind in _TEXT_PARTS)
    return said if is_said and isinstance(said, str) else ""


def _tokens(number: object) -> int | None:
    """How many tokens a server says that there were; None if that is no such number."""
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        return None
    return number if 0 <= number <= _MOST_TOKENS else None


def _words(error: object) -> str:
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
