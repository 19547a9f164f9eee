"""What tests of ingestion share: documents, and a pipeline that ingests them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pgclarify.corpora.embedding_models import CorpusModels
from pgclarify.corpora.ingestion import Ingestion
from pgclarify.corpora.splitting import chunker_of
from pgclarify.data.vocabulary import Document
from pgclarify.database.documents import Documents
from pgclarify.errors import (
    ModelNotFound,
)
from pgclarify.ingest.chunking import Chunker
from pgclarify.protocols import Embedder
from tests.fakes import FakeDocumentStore, FakeEmbedder

SHORT = [
    Document("policy", "Rental cars are covered up to 30 dollars a day.", title="Basic policy"),
    Document("drivers", "Every driver must hold a license for two years."),
    Document("offices", "Rental offices are often near an airport."),
]


def ingestion(
    store: Documents,
    embedder: FakeEmbedder,
    *,
    chunkers: Callable[[Embedder], Chunker] = chunker_of,
    max_documents: int = 100,
    max_chars: int = 1_000_000,
    batch_size: int = 256,
    forget: Callable[[str], object] = lambda model: None,
) -> Ingestion:
    async def embedder_of(model: str) -> Embedder:
        if model != embedder.model:
            raise ModelNotFound("no such model", detail=f"It is {model!r}.")
        return embedder

    return Ingestion(
        store,
        CorpusModels(embedder_of, forget, chunkers=chunkers),
        max_documents=max_documents,
        max_chars=max_chars,
        batch_size=batch_size,
        retry_seconds=0.0,
    )


def vectors(store: FakeDocumentStore, document_id: str) -> NDArray[np.float32]:
    """The vectors of a document's passages, in order."""
    rows = [row for row in store.indexed[document_id].vectors if row is not None]
    assert len(rows) == len(store.indexed[document_id].chunks)
    return np.array(rows)
