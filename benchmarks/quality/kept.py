"""A server whose data can stay, with a corpus, for benchmarks that take hours."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import product
from benchmarks.data_sets import MODEL, read
from benchmarks.figures import step
from pgclarify import embedded
from pgclarify.data.vocabulary import Document
from pgclarify.embedding import load_embedder
from pgclarify.install.installer import install


@contextmanager
def database(folder: Path | None) -> Iterator[tuple[str, Callable[[str], Path]]]:
    """A temporary server, or one whose data stay: its URL, and a folder for other files."""
    if folder is None:
        with product.database() as dsn, tempfile.TemporaryDirectory() as beside:
            yield dsn, Path(beside).joinpath
        return
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)  # the server may run as a user of its own
    dsn = embedded.start(folder / "data")
    try:
        install(dsn)
        yield dsn, folder.joinpath
    finally:
        embedded.stop(folder / "data")


def load(dsn: str, corpus: str, path: Path) -> bool:
    """Store a corpus as a worker does, with one passage in each document. False if the corpus exists already."""
    with product.connect(dsn) as connection:
        if connection.execute("select from pgclarify.corpus where corpus = %s", [corpus]).fetchall():
            return False
    # Each line is a passage.
    documents = [Document(row["id"], " ".join(row["text"].split()), title=row["title"]) for row in read(path)]
    with step(f"embedding {len(documents):,} passages"):
        vectors = asyncio.run(_embed([f"{one.title}\n{one.content}" for one in documents]))
    places = {one.document_id: place for place, one in enumerate(documents)}
    with step("storing them"):
        product.load(dsn, corpus, documents, lambda document_id: vectors[[places[document_id]]])
    return True


async def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    embedder = load_embedder(MODEL)
    try:
        return await embedder.encode(texts)
    finally:
        embedder.close()
