"""Reads replies of embedding endpoints. Only this module knows their shapes."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgclarify.providers.reply import UnreadableReply, parsed, tokens, words


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


def read_embeddings(body: bytes, count: int) -> Embeddings:
    """Read a list of embeddings, each in base64 or as a list of numbers.

    Args:
        body: The body of the reply.
        count: How many texts were sent.

    Raises:
        UnreadableReply: If it is not such a list, or does not have one vector for each text, all of equal dimensions.
    """
    found = parsed(body)
    if not isinstance(found, dict):
        raise UnreadableReply
    items = found.get("data")
    if not isinstance(items, list):
        # Some servers return a provider's failure with a success status.
        raise UnreadableReply(words(found["error"]) if "error" in found else "")
    rows: dict[object, object] = {}
    for item in items:
        if not isinstance(item, dict) or type(item.get("index")) is not int:
            raise UnreadableReply
        rows[item["index"]] = item.get("embedding")
    if len(items) != count or set(rows) != set(range(count)):
        raise UnreadableReply
    vectors = [_vector(rows[index]) for index in range(count)]
    if len({len(vector) for vector in vectors}) != 1 or not len(vectors[0]):
        raise UnreadableReply
    usage = found.get("usage")
    return Embeddings(np.stack(vectors), tokens(usage.get("prompt_tokens")) if isinstance(usage, dict) else None)


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
