"""Reads replies of cross-encoder endpoints. Only this module knows their shapes."""

from __future__ import annotations

from dataclasses import dataclass

from pgclarify.providers.reply import UnreadableReply, parsed, storable, tokens, words

_ENTAILMENT = "entailment"


@dataclass(frozen=True, slots=True)
class RerankReply:
    """The scores of some texts.

    Attributes:
        scores: One for each text, in order, as the server sent them: finite, of any size.
        tokens: How many tokens the server charges for; None if it does not say.
    """

    scores: tuple[float, ...]
    tokens: int | None


def read_scores(body: bytes, count: int) -> RerankReply:
    """Read scores in any order: an object with `results`, or a bare list, as text-embeddings-inference sends it.

    Args:
        body: The body of the reply.
        count: How many texts were sent.

    Raises:
        UnreadableReply: If it is neither, or does not have one finite score for each text.
    """
    found = parsed(body)
    items = found.get("results") if isinstance(found, dict) else found
    if not isinstance(items, list):
        # Some servers return a provider's failure with a success status.
        raise UnreadableReply(words(found["error"]) if isinstance(found, dict) and "error" in found else "")
    scores: dict[object, float] = {}
    for item in items:
        if not isinstance(item, dict) or type(item.get("index")) is not int:
            raise UnreadableReply
        scores[item["index"]] = _score(item.get("relevance_score", item.get("score")))
    if len(items) != count or set(scores) != set(range(count)):
        raise UnreadableReply
    return RerankReply(tuple(scores[index] for index in range(count)), _tokens(found))


def read_entailments(body: bytes, count: int) -> tuple[bool, ...]:
    """Read which pairs are entailed: TEI sends a list for each pair, with a score for each label.

    Args:
        body: The body of the reply.
        count: How many pairs were sent.

    Raises:
        UnreadableReply: If it has another form, or if the labels are not entailment and at least one other.
    """
    found = parsed(body)
    if not isinstance(found, list) or len(found) != count:
        raise UnreadableReply(words(found["error"]) if isinstance(found, dict) and "error" in found else "")
    return tuple(_is_entailed(item) for item in found)


def _is_entailed(item: object) -> bool:
    scores: dict[str, float] = {}
    for one in item if isinstance(item, list) else []:
        if not isinstance(one, dict) or not isinstance(one.get("label"), str):
            raise UnreadableReply
        scores[one["label"].casefold()] = _score(one.get("score"))
    if _ENTAILMENT not in scores or len(scores) < 2:
        raise UnreadableReply(storable(f"its labels are: {', '.join(scores)}") if scores else "")
    return max(scores, key=scores.__getitem__) == _ENTAILMENT


def _score(sent: object) -> float:
    # An integer may be too large for a float.
    if isinstance(sent, int | float) and not isinstance(sent, bool) and -1e300 < sent < 1e300:
        return float(sent)
    raise UnreadableReply


def _tokens(found: object) -> int | None:
    """Read the tokens: usage of Jina, vLLM and llama.cpp, billed units of Cohere if they are tokens, not searches."""
    if not isinstance(found, dict):
        return None
    usage, meta = found.get("usage"), found.get("meta")
    if isinstance(usage, dict):
        return tokens(usage.get("total_tokens", usage.get("prompt_tokens")))
    billed = meta.get("billed_units") if isinstance(meta, dict) else None
    return tokens(billed.get("input_tokens")) if isinstance(billed, dict) else None
