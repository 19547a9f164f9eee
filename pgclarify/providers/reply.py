"""Reads what servers send: chat completions, embeddings, scores, labels and lists of models.

Servers differ, and a broken server may send anything. This module returns plain texts, numbers and vectors. Anything
else raises UnreadableReply. Only `failures` and this module see a server's own data structures.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.model_calls import CUT, FILTERED
from pgclarify.language.foreign_text import storable
from pgclarify.language.lenient_json import Mend
from pgclarify.language.thoughts import without_thoughts
from pgclarify.providers.failures import UnreadableReply, failure_of, fields_of, unreadable

# The limit of the ledger's columns.
_MOST_TOKENS: Final = 2**31 - 1
# The parts of a reply that are its text. Some servers omit the type. Thoughts and pictures are not part of the answer.
_TEXT_PARTS: Final = frozenset({"text", "output_text", None})
# Fields in which servers send the model's thoughts.
_THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking")
_ENTAILMENT: Final = "entailment"
# Events of a stream, and a comment that keeps its connection open.
_STREAM_BEGINS: Final = (b"data:", b"event:", b"id:", b":")
_A_WORD: Final = re.compile(r"[A-Za-z_-]{1,40}")
# Other words of servers for the reasons that are told apart: of Anthropic, Google, Mistral and Zhipu.
_REASONS: Final = {
    **dict.fromkeys((CUT, "max_tokens", "max_output_tokens", "model_length"), CUT),
    **dict.fromkeys(
        (FILTERED, "safety", "recitation", "prohibited_content", "blocklist", "sensitive", "refusal"), FILTERED
    ),
}


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
        finish_reason: Why the model stopped, as the server says; None if it does not say.
        mends: Where the reply was found, if not in its place.
    """

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    has_thoughts: bool
    finish_reason: str | None = None
    mends: tuple[Mend, ...] = ()

    @property
    def tokens(self) -> int | None:
        """Tokens of the prompt and the reply; None if the server did not count both."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The embeddings that an endpoint returned.

    Attributes:
        vectors: float32, shape (texts, dimensions), in the order of the texts, exactly as sent: they may not have unit
            length, and numbers may not be finite.
        tokens: Tokens of all texts together; None if the server did not say.
    """

    vectors: NDArray[np.float32]
    tokens: int | None


@dataclass(frozen=True, slots=True)
class RerankReply:
    """The scores of some texts.

    Attributes:
        scores: One for each text, in order, as the server sent them: finite, of any size.
        tokens: How many tokens the server charges for; None if it does not say.
    """

    scores: tuple[float, ...]
    tokens: int | None


def read_reply(body: bytes) -> ChatReply:
    """Read a chat completion, in one piece or as a stream.

    Raises:
        UnreadableReply: If it is not a chat completion. FailedReply if it says that the model failed.
    """
    mends: list[Mend] = []
    if body.startswith(_STREAM_BEGINS):
        found = _joined(body)
        mends.append(Mend.STREAM)
    else:
        found = _object(body)
    choice = _first(found.get("choices"))
    message = choice.get("message")
    finish_reason = _reason(choice.get("finish_reason"))
    if (failure := failure_of(found, choice)) is not None and finish_reason != FILTERED:
        raise failure
    if not isinstance(message, dict):
        raise unreadable(found)
    thoughts = "".join(_string(message.get(name)) for name in _THOUGHTS)
    text = _text(message.get("content"))
    arguments = _arguments(message)
    if not text and isinstance(arguments, dict):
        text = json.dumps(arguments, ensure_ascii=False)
        mends.append(Mend.ARGUMENTS)
    elif not text and isinstance(arguments, str):
        text = arguments
    text = text or _string(message.get("refusal"))
    # Thoughts that were cut off, or have no object, are no answer.
    if not text and finish_reason not in (CUT, FILTERED) and "{" in thoughts:
        text = thoughts
        mends.append(Mend.REASONING)
    counted = fields_of(found.get("usage"))
    of_prompt = fields_of(counted.get("prompt_tokens_details"))
    of_output = fields_of(counted.get("completion_tokens_details"))
    reasoning = _tokens(of_output.get("reasoning_tokens")) or 0
    has_separate_thoughts = any(message.get(name) for name in _THOUGHTS)
    return ChatReply(
        storable(text),
        _tokens(counted.get("prompt_tokens")),
        _output_tokens(counted, reasoning),
        _tokens(of_prompt.get("cached_tokens")),
        has_thoughts=reasoning > 0 or has_separate_thoughts or without_thoughts(text) != text,
        finish_reason=finish_reason,
        mends=tuple(mends),
    )


def read_models(body: bytes) -> list[str]:
    """Read a list of models: their names.

    Raises:
        UnreadableReply: If it is not a list of models.
    """
    models = _object(body).get("data")
    if not isinstance(models, list):
        raise UnreadableReply
    names = [fields_of(model).get("id") for model in models]
    return [storable(name) for name in names if isinstance(name, str)]


def read_embeddings(body: bytes, count: int) -> Embeddings:
    """Read a list of embeddings, each in base64 or as a list of numbers.

    Args:
        body: The body of the reply.
        count: How many texts were sent.

    Raises:
        UnreadableReply: If it is not such a list, or does not have one vector for each text, all of equal dimensions.
    """
    found = _object(body)
    items = _by_index(found.get("data"), count, found)
    vectors = [_vector(item.get("embedding")) for item in items]
    dimensions = {len(vector) for vector in vectors}
    if len(dimensions) != 1 or dimensions == {0}:
        raise UnreadableReply
    usage = fields_of(found.get("usage"))
    return Embeddings(np.stack(vectors), _tokens(usage.get("prompt_tokens")))


def read_scores(body: bytes, count: int) -> RerankReply:
    """Read scores in any order: an object with `results`, or a bare list, as text-embeddings-inference sends it.

    Args:
        body: The body of the reply.
        count: How many texts were sent.

    Raises:
        UnreadableReply: If it is neither, or does not have one finite score for each text.
    """
    found = _parsed(body)
    fields = fields_of(found)
    results = found.get("results") if isinstance(found, dict) else found
    items = _by_index(results, count, found)
    scores = [_score(item.get("relevance_score", item.get("score"))) for item in items]
    usage = fields.get("usage")
    if isinstance(usage, dict):
        # Jina, vLLM and llama.cpp.
        counted = usage.get("total_tokens", usage.get("prompt_tokens"))
    else:
        # Cohere, if it bills tokens and not searches.
        billed = fields_of(fields_of(fields.get("meta")).get("billed_units"))
        counted = billed.get("input_tokens")
    return RerankReply(tuple(scores), _tokens(counted))


def read_entailments(body: bytes, count: int) -> tuple[bool, ...]:
    """Read which pairs are entailed: TEI sends a list for each pair, with a score for each label.

    Args:
        body: The body of the reply.
        count: How many pairs were sent.

    Raises:
        UnreadableReply: If it has another form, or if the labels are not entailment and at least one other.
    """
    found = _parsed(body)
    if not isinstance(found, list) or len(found) != count:
        raise unreadable(found)
    return tuple(_is_entailed(item) for item in found)


def _parsed(body: bytes) -> object:
    """Read JSON. Invalid UTF-8 becomes U+FFFD, because the rest is paid for."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        pass
    # Raised outside the handler, so that the exception does not keep the body in memory.
    raise UnreadableReply


def _object(body: bytes) -> dict[str, Any]:
    found = _parsed(body)
    if not isinstance(found, dict):
        raise UnreadableReply
    return found


def _first(value: object) -> Mapping[str, Any]:
    """Return the first object of a list; empty if there is none."""
    if isinstance(value, list) and value:
        return fields_of(value[0])
    return {}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _tokens(number: object) -> int | None:
    """Return a server's token count; None if it is not a valid count."""
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        return None
    return number if 0 <= number <= _MOST_TOKENS else None


def _output_tokens(counted: Mapping[str, object], reasoning: int) -> int | None:
    """Return the tokens that are paid as output, including those of thoughts.

    OpenAI counts thoughts as part of completion_tokens. xAI counts them separately; the total shows it.
    """
    completion = _tokens(counted.get("completion_tokens"))
    prompt = _tokens(counted.get("prompt_tokens"))
    total = _tokens(counted.get("total_tokens"))
    if completion is None or prompt is None or total is None:
        return completion
    if prompt + completion + reasoning == total:
        return _tokens(completion + reasoning)
    return completion


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
    if kind == "refusal":
        return _string(part.get("refusal"))
    if kind is None or (isinstance(kind, str) and kind in _TEXT_PARTS):
        return _string(part.get("text"))
    return ""


def _arguments(message: Mapping[str, Any]) -> str | dict[str, Any] | None:
    """Return the arguments of the tool that the model calls, in the form "tools": JSON, or an object; None without."""
    call = fields_of(message.get("function_call")) or fields_of(_first(message.get("tool_calls")).get("function"))
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, str | dict) else None


def _reason(said: object) -> str | None:
    """Return why the model stopped, in OpenAI's words if they have one for it; None if the server does not say."""
    if not isinstance(said, str) or _A_WORD.fullmatch(said) is None:
        return None
    return _REASONS.get(said.lower().replace("-", "_"), said)


def _joined(body: bytes) -> dict[str, Any]:
    """Join the events of a stream to one completion."""
    found: dict[str, Any] = {}
    message: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for line in body.splitlines():
        if not line.startswith(b"data:") or line[5:].strip() == b"[DONE]":
            continue
        event = _object(line[5:])
        found |= {name: event[name] for name in ("error", "usage") if event.get(name)}
        choice = _first(event.get("choices"))
        last |= {name: choice[name] for name in ("error", "finish_reason") if choice.get(name)}
        _add(message, fields_of(choice.get("delta")) or fields_of(choice.get("message")))
    return {**found, "choices": [{**last, "message": message}] if message or last else []}


def _add(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a piece of a message to it."""
    for name in ("content", "refusal", *_THOUGHTS):
        if piece := _text(delta.get(name)):
            message[name] = message.get(name, "") + piece
    arguments = _arguments(delta)
    if isinstance(arguments, str):
        message["function_call"] = {"arguments": f"{_arguments(message) or ''}{arguments}"}


def _by_index(items: object, count: int, found: object) -> Sequence[Mapping[str, Any]]:
    """Return the items of a list, one for each text, in the order of the texts."""
    if not isinstance(items, list):
        raise unreadable(found)
    rows: dict[int, Mapping[str, Any]] = {}
    for item in items:
        index = fields_of(item).get("index")
        if type(index) is not int:
            raise UnreadableReply
        rows[index] = item
    if len(items) != count or rows.keys() != set(range(count)):
        raise UnreadableReply
    return [rows[index] for index in range(count)]


def _vector(sent: object) -> NDArray[np.float32]:
    """Read one vector; raise UnreadableReply if it is not a list of numbers."""
    if isinstance(sent, str):
        try:
            return np.frombuffer(base64.b64decode(sent, validate=True), dtype="<f4").astype(np.float32)
        except (binascii.Error, ValueError):
            pass
    elif isinstance(sent, list) and all(type(number) in (int, float) for number in sent):
        # An integer may be too large for a float, and a float too large for 32 bits.
        try:
            with np.errstate(over="ignore"):
                return np.array(sent, dtype=np.float64).astype(np.float32)
        except OverflowError:
            return np.full(len(sent), np.inf, dtype=np.float32)
    # Raised outside the handlers, so that the exception does not keep the body in memory.
    raise UnreadableReply


def _is_entailed(item: object) -> bool:
    scores: dict[str, float] = {}
    for one in item if isinstance(item, list) else []:
        if not isinstance(label := fields_of(one).get("label"), str):
            raise UnreadableReply
        scores[label.casefold()] = _score(one.get("score"))
    if _ENTAILMENT not in scores or len(scores) < 2:
        raise UnreadableReply(storable(f"its labels are: {', '.join(scores)}") if scores else "")
    return max(scores, key=scores.__getitem__) == _ENTAILMENT


def _score(sent: object) -> float:
    # An integer may be too large for a float.
    if isinstance(sent, int | float) and not isinstance(sent, bool) and -1e300 < sent < 1e300:
        return float(sent)
    raise UnreadableReply
