"""Documents as the chunks that become passages: how they are cut, which are new, and what is embedded of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from pgclarify.ingest.chunking import PART_CHUNKS, Chunker
from pgclarify.model import Chunk, PendingDocument, passage_hash
from pgclarify.protocols import Embedder
from pgclarify.vocabulary import AT_ENDPOINT


class Splitter(Protocol):
    """Cuts documents into chunks, in a thread; `pgclarify.ingest.chunking.Chunker` is the one in use."""

    def split_part(self, content: str, start: int = 0, *, ordinal: int = 1) -> tuple[list[Chunk], int | None]:
        """Cut the part of a document that starts somewhere: chunks in order, and where the next part starts, if any."""

    def embedding_text(self, title: str | None, heading: str | None, content: str) -> str:
        """Render what is embedded for a chunk."""


def chunker_of(embedder: Embedder) -> Splitter:
    """Make the chunker whose chunks fit into an embedding model.

    Raises:
        ConfigurationError: If the model reads too few tokens for that.
    """
    return Chunker(embedder.tokenizer, embedder.max_tokens)


def expected_passages(document: PendingDocument, chars: int, passages: int) -> int:
    """How many passages a document will have, about, if its first chars have so many."""
    return max(1, round(passages * len(document.content) / chars))


def new_chunks(title: str | None, chunks: Sequence[Chunk], hashes: Sequence[bytes]) -> list[Chunk]:
    """Leave out chunks that are there already: as many of a text, first ones first, as there are passages of it."""
    there = Counter(hashes)
    new = []
    for chunk in chunks:
        key = passage_hash(title, chunk.heading, chunk.content)
        if there[key] > 0:
            there[key] -= 1
        else:
            new.append(chunk)
    return new


def texts_a_call(embedder: Embedder, usual: int) -> int:
    """How many chunks to embed in one call: between two calls it is looked whether they are still wanted.

    Behind an endpoint that is a whole claim, so that its requests are under way together.

    Args:
        embedder: The model.
        usual: How many, for a model that computes here.
    """
    return PART_CHUNKS if is_behind_endpoint(embedder) else usual


def is_behind_endpoint(embedder: Embedder) -> bool:
    """Whether a model computes elsewhere."""
    return embedder.model.startswith(AT_ENDPOINT)


def render(splitter: Splitter, titled: Sequence[tuple[str | None, Chunk]]) -> list[str]:
    """What is embedded for chunks, each with the title of its document."""
    return [splitter.embedding_text(title, chunk.heading, chunk.content) for title, chunk in titled]
