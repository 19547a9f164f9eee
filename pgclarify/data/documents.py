"""Frozen data of documents: what ingest claims, cuts and writes, and the passages that retrieval returns."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Lines such as "## Fees", and lines that are underlined.
_HEADINGS = re.compile(r"\A(?:[ \t\r\n]*(?:#{1,6} [^\n]*|[^\n]+\n(?:={3,}|-{3,})[ \t\r]*)(?:\n|\Z))+")
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document that becomes a passage.

    Attributes:
        ordinal: Position in the document, from 1.
        heading: Headings above it, outermost first, joined by " > "; None if there are none.
        content: Exactly document.content[start_char:end_char].
        start_char: Offset of its first character in the document, from 0.
        end_char: Offset after its last character.
    """

    ordinal: int
    heading: str | None
    content: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A stored chunk, as retrieval returns it. Its key is (corpus_id, document_id, passage_id).

    Attributes:
        dated: The date of the document; None if it is unknown.
    """

    document_id: str
    passage_id: int
    content: str
    title: str | None = None
    heading: str | None = None
    start_char: int = 0
    dated: datetime | None = None


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document whose content is not searchable yet, claimed by this worker.

    Attributes:
        embedding_space_id: The space that its vectors are for.
    """

    corpus_id: int
    document_id: str
    title: str | None
    content: str
    content_hash: bytes
    embedding_space_id: int
    embedding_model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class PendingPassage:
    """A passage without a vector in a space that is being filled, claimed by this worker."""

    embedding_space_id: int
    document_id: str
    passage_id: int
    title: str | None
    heading: str | None
    content: str
    embedding_model: str
    dimensions: int


def passage_hash(title: str | None, heading: str | None, content: str) -> bytes:
    """Return the SHA-256 of the embedded text of a passage, 32 bytes, as in `passage.content_hash`."""
    # Texts in PostgreSQL have no null character, so it can separate the parts.
    seen = "\0".join((title or "", heading or "", content))
    return hashlib.sha256(seen.encode("utf-8", "surrogatepass")).digest()


def bare_text(content: str) -> str:
    """Return the text of a passage without the headings at its beginning, as `pgclarify_private.bare_text` does."""
    return _HEADINGS.sub("", content, count=1).strip(_BLANK) or content


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document cut into chunks, with their vectors.

    Attributes:
        vectors: One for each chunk: float32, shape (dimensions,), unit length. None for a chunk if the document already
            has a passage with the same passage_hash, whose vector is kept.
    """

    document: PendingDocument
    chunks: Sequence[Chunk]
    vectors: Sequence[NDArray[np.float32] | None]
