"""Reads chat completions. Only this module knows their shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pgclarify.language.thoughts import without_thoughts
from pgclarify.providers.reply import UnreadableReply, parsed, storable, tokens, words

# The parts of a reply that are its text. Some servers omit the type. Thoughts and pictures are not part of the answer.
_TEXT_PARTS: Final = frozenset({"text", "output_text", None})

# Fields in which servers send the model's thoughts.
_THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The parts of a chat completion that are kept.

    Attributes:
        text: What the model said, or its refusal; empty if there is neither. If the server does not separate thoughts,
            they are in it.
        prompt_tokens: As the server counted them; None if it did not.
        completion_tokens: As the server counted them, including the tokens of thoughts.
        cached_tokens: How many of prompt_tokens the server had in its cache; None if it does not say.
        has_thoughts: Whether the model thought before it answered.
    """

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    has_thoughts: bool


def read_reply(body: bytes) -> ChatReply:
    """Read a chat completion. Invalid UTF-8 becomes U+FFFD, because the rest is paid for.

    Raises:
        UnreadableReply: If it is not a chat completion.
    """
    found = parsed(body)
    if not isinstance(found, dict):
        raise UnreadableReply
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        # Some servers return a provider's failure with a success status.
        raise UnreadableReply(words(found["error"]) if "error" in found else "")
    refusal = message.get("refusal")
    text = _text(message.get("content")) or (refusal if isinstance(refusal, str) else "")
    usage = found.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    reasoning = _details(counted, "completion_tokens_details", "reasoning_tokens") or 0
    return ChatReply(
        storable(text),
        tokens(counted.get("prompt_tokens")),
        _output_tokens(counted, reasoning),
        _details(counted, "prompt_tokens_details", "cached_tokens"),
        has_thoughts=reasoning > 0 or any(message.get(name) for name in _THOUGHTS) or without_thoughts(text) != text,
    )


def read_models(body: bytes) -> list[str]:
    """Read a list of models: their names.

    Raises:
        UnreadableReply: If it is not a list of models.
    """
    found = parsed(body)
    models = found.get("data") if isinstance(found, dict) else None
    if not isinstance(models, list):
        raise UnreadableReply
    names = [model.get("id") if isinstance(model, dict) else None for model in models]
    return [storable(name) for name in names if isinstance(name, str)]


def _details(counted: Mapping[str, object], group: str, name: str) -> int | None:
    """Return a count from one of the groups of details; None if it is missing."""
    details = counted.get(group)
    return tokens(details.get(name)) if isinstance(details, dict) else None


def _output_tokens(counted: Mapping[str, object], reasoning: int) -> int | None:
    """Return the tokens that are paid as output, including those of thoughts.

    OpenAI counts thoughts as part of completion_tokens. xAI counts them separately; the total shows it.
    """
    completion = tokens(counted.get("completion_tokens"))
    prompt, total = tokens(counted.get("prompt_tokens")), tokens(counted.get("total_tokens"))
    if completion is None or prompt is None or total is None:
        return completion
    return tokens(completion + reasoning) if prompt + completion + reasoning == total else completion


def _text(content: object) -> str:
    """Return the text of a message: a string, or the text parts of a list."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise UnreadableReply
    return "".join(_part(part) for part in content)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise UnreadableReply
    kind = part.get("type")
    said = part.get("refusal") if kind == "refusal" else part.get("text")
    is_said = kind == "refusal" or kind is None or (isinstance(kind, str) and kind in _TEXT_PARTS)
    return said if is_said and isinstance(said, str) else ""
