from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgclarify.embedding import LocalEmbedder, load_embedder


@pytest.fixture(scope="session")
def embedder() -> Iterator[LocalEmbedder]:
    """The model that comes with pgclarify. It answers in any event loop."""
    embedder = load_embedder("all-MiniLM-L6-v2", threads=1)
    yield embedder
    embedder.close()
