"""What a cross-encoder behind an endpoint sent: the one place that knows the shapes of its replies."""

from __future__ import annotations

from dataclasses import dataclass

from pgclarify.providers.reply import UnreadableReply, parsed, storable, tokens, words

_ENTAILMENT = "entailment"


@dataclass(frozen=True, slots=True)
class RerankReply:
    """The scores of some texts.

    Attributes:
        scores: One for each text, in their order, as the server sent them: finite, of any size.
        tokens: How many tokens the server charges for; None if it does not say.
    """

    scores: tuple[float, ...]
    tokens: int | None


def read_scores(body: bytes, count: int) -> RerankReply:
    """Read scores, sorted in any way: an object with `results`, or a bare list, as text-embeddings-inference sends it.

    Args:
        body: What came.
        count: How many texts were sent.

    Raises:
        UnreadableReply: If it is anything else, or not one finite score for each text.
    """
    found = parsed(body)
    items = found.get("results") if isinstance(found, dict) else found
    if not isinstance(items, list):
        # Some servers pass on a provider's failure as a success.
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
    """Read which pairs are entailed: a list for each pair, which has a score for each label, as TEI sends it.

    Args:
        body: What came.
        count: How many pairs were sent.

    Raises:
        UnreadableReply: If it is anything else, or the model has no label called entailment, or no other.
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
    # An integer may be larger than any float.
    if isinstance(sent, int | float) and not isinstance(sent, bool) and -1e300 < sent < 1e300:
        return float(sent)
    raise UnreadableReply


def _tokens(found: object) -> int | None:
    """What Jina, vLLM and llama.cpp call usage, and Cohere billed units, where those are tokens and no searches."""
    if not isinstance(found, dict):
        return None
    usage, meta = found.get("usage"), found.get("meta")
    if isinstance(usage, dict):
        return tokens(usage.get("total_tokens", usage.get("prompt_tokens")))
    billed = meta.get("billed_units") if isinstance(meta, dict) else None
    return tokens(billed.get("input_tokens")) if isinstance(billed, dict) else None
