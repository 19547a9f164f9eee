"""How fast documents become searchable: the worker, compared with `SentenceTransformer.encode` of the same texts.

python -m benchmarks.speed.ingest [--passages N]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from tokenizers import Tokenizer

from benchmarks import made_up, product
from benchmarks.data_sets import MODEL
from benchmarks.figures import Figure, show, step
from pgclarify.config import Device
from pgclarify.data.vocabulary import Document
from pgclarify.embedding.loading import load_model
from pgclarify.embedding.minilm import multiplies_int8
from pgclarify.ingest.chunking import Chunker
from tests import openai_server

PASSAGES = 2_000
_AIMS = {
    Device.AUTO: "≥ 0.95",
    Device.CPU: "≥ 0.95",
    Device.INT8: "≥ 1.5",
}
_DOCUMENTS_A_CALL = 100
_PATIENCE_SECONDS = 3600.0


def measure(passages: int = PASSAGES) -> list[Figure]:
    """Load the same documents with each backend that this processor supports.

    The plain model embeds a part of the texts before each backend and after the last one. So if the machine slows down
    meanwhile, it slows down for all.
    """
    documents = list(islice(_sectioned(), passages // made_up.PASSAGES_A_DOCUMENT))
    plain = load_model(MODEL)
    # A copy, because the model's own tokenizer truncates and pads.
    tokenizer = Tokenizer.from_str(plain.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = list(_texts(documents, Chunker(tokenizer, plain.max_seq_length)))
    plain.encode(texts[:32])
    backends = [each for each in _AIMS if each is not Device.INT8 or multiplies_int8()]
    parts = [texts[first :: len(backends) + 1] for first in range(len(backends) + 1)]
    plain_seconds = _encode(plain, parts.pop())
    seconds, cpu_seconds = {}, {}
    with product.database() as dsn:
        for backend, part in zip(backends, parts, strict=True):
            with step(f"{len(texts):,} passages, {backend}"):
                seconds[backend], cpu_seconds[backend] = _load(dsn, backend, documents, len(texts))
            plain_seconds += _encode(plain, part)
    return [
        *(
            Figure(f"ingest, {backend}: passages a second over plain encode", plain_seconds / taken, aim=_AIMS[backend])
            for backend, taken in seconds.items()
        ),
        Figure("plain encode", len(texts) / plain_seconds, "passages/s"),
        *(
            Figure(f"ingest, {backend}, of {len(texts):,}", len(texts) / taken, "passages/s")
            for backend, taken in seconds.items()
        ),
        *(
            Figure(f"ingest, {backend}: CPU time of the worker for a passage", 1000 * taken / len(texts), "ms")
            for backend, taken in cpu_seconds.items()
        ),
    ]


@contextmanager
def worker_of(dsn: str, backend: Device) -> Iterator[int]:
    """A worker whose models use this backend, and its process id."""
    name = "PGCLARIFY_DEVICE"
    before = os.environ.get(name)
    os.environ[name] = backend
    try:
        with openai_server.spawn() as endpoint, product.worker(dsn, endpoint, concurrency=1) as process:
            yield process.pid
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


def add(connection: product.Connection, corpus: str, documents: Iterator[Document]) -> None:
    """Add documents, a hundred in each transaction."""
    while some := list(islice(documents, _DOCUMENTS_A_CALL)):
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(
                "select pgclarify.add_document(%s, %s, %s, %s)",
                [(corpus, one.document_id, one.content, one.title) for one in some],
            )


def wait_until_searchable(connection: product.Connection, corpus: str) -> int:
    """Wait until no document is pending.

    Returns:
        How many passages the corpus has.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        (status,) = connection.execute(
            "select pending, failed, passages from pgclarify.corpus where corpus = %s", [corpus]
        ).fetchall()
        assert not status["failed"], status
        if not status["pending"]:
            return int(status["passages"])
        time.sleep(0.05)
    raise TimeoutError(f"corpus {corpus} is not searchable in time")


def _sectioned() -> Iterator[Document]:
    """Documents in Markdown: a section for each passage, with the first words of the passage as its heading."""
    for document in made_up.documents():
        sections = (f"## {' '.join(line.split()[:3])}\n\n{line}\n" for line in document.content.splitlines())
        yield Document(document.document_id, "\n".join(sections), title=document.title)


def _texts(documents: Sequence[Document], chunker: Chunker) -> Iterator[str]:
    """The texts that the worker embeds."""
    for document in documents:
        for chunk in chunker.split(document.content):
            yield chunker.embedding_text(document.title, chunk.heading, chunk.content)


def _encode(model: Any, texts: Sequence[str]) -> float:
    with step(f"{len(texts):,} passages, plain encode"):
        started = time.perf_counter()
        model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return time.perf_counter() - started


def _load(dsn: str, backend: Device, documents: Sequence[Document], passages: int) -> tuple[float, float]:
    """Seconds from adding the first document until all are searchable, and the worker's CPU time in them.

    The model is loaded before.
    """
    corpus = f"ingest {backend}"
    with worker_of(dsn, backend) as worker, product.connect(dsn) as connection:
        connection.execute("select pgclarify.create_corpus(%s, %s)", [corpus, MODEL])
        connection.execute("select pgclarify.add_document(%s, 'warm-up', 'Something to begin with.')", [corpus])
        before = wait_until_searchable(connection, corpus)
        started, cpu = time.perf_counter(), product.cpu_seconds_of(worker)
        add(connection, corpus, iter(documents))
        after = wait_until_searchable(connection, corpus)
        seconds, cpu = time.perf_counter() - started, product.cpu_seconds_of(worker) - cpu
    assert after - before == passages, (after, before, passages)
    return seconds, cpu


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    show(measure(parser.parse_args().passages))
