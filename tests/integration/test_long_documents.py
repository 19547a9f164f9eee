"""A long document is indexed in parts: nothing else waits for the whole document, and no part is embedded twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.corpora.embedding_models import CorpusModels
from pgclarify.corpora.ingestion import Ingestion
from pgclarify.corpora.long_documents import LongIngestion
from pgclarify.corpora.reembedding import Reembedding
from pgclarify.database.documents import Documents
from pgclarify.database.pool import Pool, open_pool
from pgclarify.database.spaces import EmbeddingSpaces
from pgclarify.errors import ModelNotFound
from pgclarify.ingest.chunking import PART_CHUNKS
from pgclarify.protocols import Embedder
from pgclarify.worker.maintenance import embed, every, ingest_long
from tests.fakes import FakeEmbedder
from tests.integration.by_hand import Connection, HandWorker, Hire, scalar
from tests.integration.counts import assert_counts_agree

ADD = "select pgclarify.add_document(%s, %s, %s)"
SENTENCE = "Ferries leave the harbor at noon."
DIMENSIONS = 8


def text_of(passages: int, word: str = "old") -> str:
    """A text of about this many passages, all different."""
    return "\n\n".join(
        f"Paragraph {number} of the {word} book says, in twenty words or so, what {number} means to ships and sailors."
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
    """A worker's work on documents, step by step or until none is pending."""

    def __init__(self, pool: Pool, worker: HandWorker, embedder: CountingEmbedder) -> None:
        self.embedder = embedder
        documents, models = Documents(pool, worker.worker_id), CorpusModels(self._get)
        self.ingestion = Ingestion(documents, models, retry_seconds=0)
        self.long = LongIngestion(documents, models, retry_seconds=0)
        self.reembedding = Reembedding(EmbeddingSpaces(pool, worker.worker_id), models)

    async def _get(self, model: str) -> Embedder:
        if model != self.embedder.model:
            raise ModelNotFound("no such model")
        return self.embedder

    async def step(self) -> bool:
        """Embed a part of a long document, or move one into place; false if there is none."""
        claimed = await self.long.claim()
        if claimed is None:
            return False
        await (self.long.publish(claimed) if claimed.is_staged else self.long.embed_part(claimed))
        return True

    async def index_all(self, connection: Connection) -> None:
        """Do as a worker does until nothing is pending."""
        turn = asyncio.Lock()
        tasks = {
            asyncio.create_task(every(0, lambda: embed(turn, self.ingestion.ingest_once))),
            asyncio.create_task(every(0, lambda: ingest_long(self.long, turn))),
        }
        while scalar(connection, "select count(*) from pgclarify_private.pending_document"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        # Again and again: before Python 3.12, asyncio.wait_for may swallow a cancellation.
        while tasks:
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=0.1)


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker, and corpora "books" and "notes", open for documents."""
    connection.execute("select pgclarify.create_corpus('books'), pgclarify.create_corpus('notes')")
    worker = hire()
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


def staged(connection: Connection) -> int:
    return int(scalar(connection, "select count(*) from pgclarify_private.staged_passage"))


@pytest.mark.parametrize("corpus", ["notes", "books"])
async def test_a_sentence_is_searchable_after_two_slices_of_a_long_document_at_most(
    connection: Connection, worker: HandWorker, corpus: str
) -> None:
    scalar(connection, ADD, "books", "book", text_of(1500))
    added_at, found_at = 400, 0

    def before(count: int) -> None:
        nonlocal found_at
        if count >= added_at and not scalar(connection, "select count(*) from pgclarify.document where id = 'note'"):
            scalar(connection, ADD, corpus, "note", SENTENCE)
        if not found_at and contents(connection, "note"):
            found_at = count

    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder(before))
        await indexer.index_all(connection)

    assert contents(connection, "note") == [SENTENCE]
    assert added_at < found_at <= added_at + 64 + 2 * PART_CHUNKS
    assert len(contents(connection)) == 1500
    assert_counts_agree(connection)


async def test_long_documents_of_two_corpora_take_turns(connection: Connection, worker: HandWorker) -> None:
    for corpus in ("books", "notes"):
        scalar(connection, ADD, corpus, f"of {corpus}", text_of(700, corpus))
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        while await indexer.ingestion.ingest_once():
            pass
        turns = []
        for _ in range(4):
            before = len(indexer.embedder.texts)
            await indexer.step()
            turns.append({corpus for corpus in ("books", "notes") if corpus in indexer.embedder.texts[before]})
            assert len(indexer.embedder.texts) - before <= PART_CHUNKS
        assert turns == [{"books"}, {"notes"}, {"books"}, {"notes"}]
        assert all(indexer.embedder.are_passages)


async def test_another_worker_goes_on_where_one_was_killed(
    connection: Connection, worker: HandWorker, hire: Hire
) -> None:
    scalar(connection, ADD, "books", "book", text_of(900))
    embedders = [CountingEmbedder(), CountingEmbedder()]
    async with open_pool(worker.connection.info.dsn) as pool:
        killed = Indexer(pool, worker, embedders[0])
        await killed.ingestion.ingest_once()
        assert [await killed.step(), await killed.step()] == [True, True]
        # It has begun the third.
        assert await killed.long.claim() is not None
        worker.die()
        heir = Indexer(pool, hire(), embedders[1])
        await heir.index_all(connection)

    texts = embedders[0].texts + embedders[1].texts
    assert len(embedders[0].texts) == 2 * PART_CHUNKS
    assert len(texts) == len(set(texts)) == 900
    assert contents(connection) == text_of(900).split("\n\n")
    assert staged(connection) == 0
    assert_counts_agree(connection)


async def test_searches_find_the_old_document_until_the_new_one_is_whole(
    connection: Connection, worker: HandWorker
) -> None:
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        scalar(connection, ADD, "books", "book", text_of(100))
        await indexer.index_all(connection)
        old, new = text_of(100), text_of(600, "new") + "\n\n" + text_of(100)
        scalar(connection, ADD, "books", "book", new)
        await indexer.ingestion.ingest_once()
        seen = []
        while await indexer.step():
            seen.append(contents(connection))
            assert_counts_agree(connection)

    assert all(passages == old.split("\n\n") for passages in seen[:-1])
    assert seen[-1] == new.split("\n\n")
    assert len(seen) == 4
    # What stays is not embedded again.
    assert len(indexer.embedder.texts) == 700


async def test_dropping_the_corpus_ends_a_slice_under_way(connection: Connection, worker: HandWorker) -> None:
    scalar(connection, ADD, "books", "book", text_of(900))
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        await indexer.ingestion.ingest_once()
        await indexer.step()
        is_dropped = False

        def before(count: int) -> None:
            nonlocal is_dropped
            if not is_dropped:
                is_dropped = True
                connection.execute("select pgclarify.drop_corpus('books')")

        indexer.embedder.before = before
        await indexer.step()

        assert len(indexer.embedder.texts) == PART_CHUNKS + 64
        assert staged(connection) == 0
        assert not await indexer.step()
    assert_counts_agree(connection)


async def test_dropping_the_corpus_ends_a_claim_of_short_documents(connection: Connection, worker: HandWorker) -> None:
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
async def test_work_on_an_old_version_ends(
    connection: Connection, worker: HandWorker, change: str, passages: list[str]
) -> None:
    scalar(connection, ADD, "books", "book", text_of(900))
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        await indexer.ingestion.ingest_once()
        await indexer.step()
        is_changed = False

        def before(count: int) -> None:
            nonlocal is_changed
            if not is_changed:
                is_changed = True
                connection.execute(change.encode())

        indexer.embedder.before = before
        await indexer.step()
        assert len(indexer.embedder.texts) == PART_CHUNKS + 64
        assert staged(connection) == 0
        await indexer.index_all(connection)

    assert contents(connection) == passages
    assert status(connection) == (0, 0)
    assert_counts_agree(connection)


async def test_pending_passages_of_a_long_document_are_counted(connection: Connection, worker: HandWorker) -> None:
    scalar(connection, ADD, "books", "book", text_of(900))
    assert status(connection)[1] > 1
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        await indexer.ingestion.ingest_once()
        counts = [status(connection)]
        while await indexer.step():
            counts.append(status(connection))
            assert_counts_agree(connection)

    assert [pending for pending, _ in counts] == [1] * (len(counts) - 1) + [0]
    waiting = [passages for _, passages in counts]
    assert waiting[-2:] == [1, 0]
    assert waiting == sorted(waiting, reverse=True)
    assert waiting[1] == pytest.approx(900 - PART_CHUNKS, rel=0.05)
    (queue,) = connection.execute("select pending_documents, pending_passages from pgclarify.queue_status").fetchall()
    assert queue == (0, 0)


async def test_a_document_starts_over_when_a_crash_has_emptied_the_table(
    connection: Connection, worker: HandWorker
) -> None:
    scalar(connection, ADD, "books", "book", text_of(600))
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        await indexer.ingestion.ingest_once()
        await indexer.step()
        connection.execute("truncate pgclarify_private.staged_passage")
        await indexer.index_all(connection)

    assert len(indexer.embedder.texts) == 600 + PART_CHUNKS
    assert contents(connection) == text_of(600).split("\n\n")
    assert_counts_agree(connection)


async def test_a_part_that_cannot_be_embedded_fails_the_document(connection: Connection, worker: HandWorker) -> None:
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        scalar(connection, ADD, "books", "book", SENTENCE)
        await indexer.index_all(connection)
        scalar(connection, ADD, "books", "book", text_of(600))
        indexer.embedder._fails_on = "Paragraph 500 "
        await indexer.index_all(connection)

    assert scalar(connection, "select error is not null from pgclarify.document where id = 'book'")
    assert contents(connection) == [SENTENCE]
    assert staged(connection) == 0
    assert status(connection) == (0, 0)
    assert_counts_agree(connection)


async def test_a_new_embedding_model_starts_a_long_document_over(connection: Connection, worker: HandWorker) -> None:
    async with open_pool(worker.connection.info.dsn) as pool:
        indexer = Indexer(pool, worker, CountingEmbedder())
        scalar(connection, ADD, "books", "note", SENTENCE)
        await indexer.index_all(connection)
        scalar(connection, ADD, "books", "book", text_of(600))
        await indexer.ingestion.ingest_once()
        await indexer.step()
        scalar(
            connection,
            "select pgclarify_private.set_embedding_model(caller, 'books', 'other') from pgclarify_private.caller",
        )
        worker.open_spaces(DIMENSIONS)
        worker.advance_spaces()
        other = Indexer(pool, worker, CountingEmbedder(model="other"))
        while await other.reembedding.fill_once():
            pass
        worker.advance_spaces()
        assert staged(connection) == 0
        assert_counts_agree(connection)
        await other.index_all(connection)

    assert len(other.embedder.texts) == 1 + 600
    assert contents(connection) == text_of(600).split("\n\n")
    assert_counts_agree(connection)


async def test_spaces_of_two_corpora_are_filled_by_turns(connection: Connection, worker: HandWorker) -> None:
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
