from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgclarify.embedding import LocalEmbedder, LocalSpanReader, load_embedder, load_span_reader


@pytest.fixture(scope="session")
def embedder() -> Iterator[LocalEmbedder]:
    """The model that ships with pgclarify. It works in each event loop."""
    embedder = load_embedder("all-MiniLM-L6-v2")
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def reader() -> Iterator[LocalSpanReader]:
    """The reader that ships with pgclarify."""
    reader = load_span_reader()
    yield reader
    reader.close()
