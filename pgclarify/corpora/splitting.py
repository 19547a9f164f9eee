"""Chunks of documents: how documents are cut, which chunks are new, and the text to embed of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pgclarify.data.documents import Chunk, passage_hash
from pgclarify.data.vocabulary import AT_ENDPOINT
from pgclarify.ingest.chunking import Chunker
from pgclarify.protocols import Embedder

# A claim has about so many chunks, unless a single document has more.
CLAIM_CHUNKS = 256


def chunker_of(embedder: Embedder) -> Chunker:
    """Make the chunker whose chunks fit an embedding model.

    Raises:
        ConfigurationError: If the model's input is too short.
    """
    return Chunker(embedder.tokenizer, embedder.max_tokens)


def new_chunks(title: str | None, chunks: Sequence[Chunk], hashes: Sequence[bytes]) -> list[Chunk]:
    """Return the chunks without existing passages. Of equal chunks, the first ones are taken as existing."""
    there = Counter(hashes)
    new = []
    for chunk in chunks:
        key = passage_hash(title, chunk.heading, chunk.content)
        if there[key] > 0:
            there[key] -= 1
        else:
            new.append(chunk)
    return new


def is_behind_endpoint(embedder: Embedder) -> bool:
    """Tell whether a model is behind an endpoint."""
    return embedder.model.startswith(AT_ENDPOINT)


def render(chunker: Chunker, titled: Sequence[tuple[str | None, Chunk]]) -> list[str]:
    """Render the texts to embed of chunks, each with the title of its document."""
    return [chunker.embedding_text(title, chunk.heading, chunk.content) for title, chunk in titled]
