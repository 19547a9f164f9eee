"""Long documents are indexed beside the others, and work on what is removed or changed meanwhile ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.corpora.embedding_models import CorpusModels
from pgclarify.corpora.ingestion import Ingestion
from pgclarify.database.documents import Documents
from pgclarify.database.pool import Pool, open_pool
from pgclarify.database.spaces import EmbeddingSpaces
from pgclarify.protocols import Embedder
from pgclarify.worker.maintenance import embed, every
from tests.fakes import FakeEmbedder
from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connection, scalar

ADD = "select pgclarify.add_document(%s, %s, %s)"
SENTENCE = "Ferries leave the harbor at noon."
DIMENSIONS = 8
# Of a document that has enough characters to be a long one. A worker embeds them in ten batches.
PASSAGES = 640


def text_of(passages: int, word: str = "old") -> str:
    """A text of this many passages, all different."""
    return "\n\n".join(
        f"Paragraph {number} of the {word} book says, in twenty words or so, what {'m' * 220} means to the sailors."
        for number in range(passages)
    )


class CountingEmbedder(FakeEmbedder):
    """Calls back before it embeds.

    Args:
        before: Given how many texts have been embedded so far.
        model: Its name.
    """

    def __init__(self, before: Callable[[int], None] = lambda count: None, model: str = "all-MiniLM-L6-v2") -> None:
        super().__init__(model=model, dimensions=DIMENSIONS)
        self.before = before
        self.texts: list[str] = []

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        self.before(len(self.texts))
        self.texts += texts
        return await super().encode(texts, are_passages=are_passages)


class Indexer:
    """A worker's work on documents."""

    def __init__(self, pool: Pool, worker: ManualWorker, embedder: CountingEmbedder) -> None:
        self.embedder = embedder
        models = CorpusModels(self._get)
        self.lanes = [
            Ingestion(Documents(pool, worker.worker_id), models, retry_seconds=0),
            Ingestion(Documents(pool, worker.worker_id, are_long=True), models, max_documents=1, retry_seconds=0),
        ]

    async def _get(self, model: str) -> Embedder:
        return self.embedder

    async def index_all(self, connection: Connection) -> None:
        """Do as a worker does until nothing is pending."""
        tasks = {asyncio.create_task(every(0, partial(embed, lane.ingest_once))) for lane in self.lanes}
        waiting = """
            select count(*)
            from pgclarify_private.pending_document inner join pgclarify_private.living_corpus using (corpus_id)
        """
        while scalar(connection, waiting):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        # Again and again: before Python 3.12, asyncio.wait_for may swallow a cancellation.
        while tasks:
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=0.1)


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker, and corpora "books" and "notes", open for documents."""
    connection.execute("select pgclarify.create_corpus('books'), pgclarify.create_corpus('notes')")
    worker = make_worker()
    worker.open_spaces(DIMENSIONS)
    return worker


def status(connection: Connection, corpus: str = "books") -> tuple[int, int]:
    """pending and pending_passages."""
    row = connection.execute(
        "select pending, pending_passages from pgclarify.corpus where corpus = %s", [corpus]
    ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def contents(connection: Connection, document_id: str = "book") -> list[str]:
    """The passages that searches can find of a document, in order."""
    return [
        row[0]
        for row in connection.execute(
            "select content from pgclarify.passage where document_id = %s order by ordinal", [document_id]
        )
    ]


@pytest.mark.parametrize("corpus", ["notes", "books"])
async def test_a_sentence_is_searchable_before_a_long_document_that_was_added_earlier(
    connection: Connection, worker: ManualWorker, corpus: str
) -> None:
    scalar(connection, ADD, "books", "book", text_of(PASSAGES))
    found_at = 0

    def before(count: int) -> None:
        nonlocal found_at
        if count == 64:
            scalar(connection, ADD, corpus, "note", SENTENCE)
        if count >= 64 and not found_at:
            # So that the worker has time to look, also on a busy machine.
            time.sleep(0.2)
            found_at = count * bool(contents(connection, "note"))

    async with open_pool(worker.connection.info.dsn) as pool:
        await Indexer(pool, worker, CountingEmbedder(before)).index_all(connection)

    assert 0 < found_at < PASSAGES
    assert contents(connection, "note") == [SENTENCE]
    assert contents(connection) == text_of(PASSAGES).split("\n\n")
    assert_counts_agree(connection)


async def test_dropping_the_corpus_ends_a_claim(connection: Connection, worker: ManualWorker) -> None:
    for number in range(200):
        scalar(connection, ADD, "books", f"note {number}", f"{SENTENCE} {number}")

    def before(count: int) -> None:
        if not count:
            connection.execute("select pgclarify.drop_corpus('books')")

    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder(before))
        await indexer.index_all(connection)

    assert len(indexer.embedder.texts) == 64


@pytest.mark.parametrize(
    ("change", "passages"),
    [
        ("select pgclarify.remove_document('books', 'book')", []),
        ("select pgclarify.add_document('books', 'book', 'A short one.')", ["A short one."]),
    ],
)
async def test_work_on_an_old_version_of_a_long_document_ends(
    connection: Connection, worker: ManualWorker, change: str, passages: list[str]
) -> None:
    scalar(connection, ADD, "books", "book", text_of(PASSAGES))

    def before(count: int) -> None:
        if not count:
            connection.execute(change.encode())

    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder(before))
        await indexer.index_all(connection)

    assert len(indexer.embedder.texts) == 64 + len(passages)
    assert contents(connection) == passages
    assert status(connection) == (0, 0)
    assert_counts_agree(connection)


async def test_spaces_of_two_corpora_are_filled_by_turns(connection: Connection, worker: ManualWorker) -> None:
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        for corpus in ("books", "notes"):
            scalar(connection, ADD, corpus, f"of {corpus}", text_of(250, corpus))
        await indexer.index_all(connection)
        for corpus in ("books", "notes"):
            scalar(
                connection,
                "select pgclarify_private.set_embedding_model(caller, %s, 'other') from pgclarify_private.caller",
                corpus,
            )
        worker.open_spaces(DIMENSIONS)
        worker.advance_spaces()
        store = EmbeddingSpaces(pool, worker.worker_id)
        claims: list[Any] = [await store.claim_passages(max_passages=10) for _ in range(4)]

    assert [claim[0].document_id for claim in claims] == ["of books", "of notes", "of books", "of notes"]
