"""Documents wait for an embedding model that is missing, loading or away, and none is blamed for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.corpora.embedding_models import CorpusModels, public_reason
from pgclarify.corpora.ingestion import Ingestion
from pgclarify.data.vocabulary import Document
from pgclarify.embedding.batching import OutOfMemory
from pgclarify.errors import ConfigurationError, DimensionMismatch, EmbeddingUnavailable, ModelNotFound, PgclarifyError
from pgclarify.protocols import Embedder
from tests.fakes import FakeDocumentStore, FakeEmbedder
from tests.unit.corpora.ingesting import SHORT, ingestion
from tests.unit.operations.still_time import carry_out


@pytest.mark.parametrize(
    ("store", "embedder"),
    [
        (FakeDocumentStore(SHORT, embedding_model="other"), FakeEmbedder()),
        (FakeDocumentStore(SHORT, dimensions=8), FakeEmbedder()),
        (FakeDocumentStore(SHORT), FakeEmbedder(max_tokens=16)),
    ],
    ids=["no model", "other dimensions", "model too small"],
)
async def test_documents_for_a_missing_model_stay_pending_with_a_reason(
    store: FakeDocumentStore, embedder: FakeEmbedder
) -> None:
    pipeline = ingestion(store, embedder)
    # The documents are released, and not claimed again for a while.
    assert [await pipeline.ingest_once() for _ in range(3)] == [3, 0, 0]
    assert store.failed == {}
    assert store.stored == []
    assert list(store.delayed) == [1], "the reason for waiting is kept"
    assert [document.document_id for document in store.pending] == ["policy", "drivers", "offices"]


async def test_a_model_of_other_dimensions_than_its_corpus_is_loaded_anew() -> None:
    forgotten: list[str] = []
    pipeline = ingestion(FakeDocumentStore(SHORT, dimensions=8), FakeEmbedder(), forget=forgotten.append)
    assert await pipeline.ingest_once() == 3
    assert forgotten == [FakeEmbedder().model]


async def test_documents_wait_for_a_model_whose_endpoint_does_not_answer() -> None:
    store, embedder = FakeDocumentStore(SHORT), FakeEmbedder(fails_on="poison")
    pipeline = ingestion(store, embedder)
    embedder.is_away = True
    # The documents are released, and not claimed again for a while.
    assert [await pipeline.ingest_once() for _ in range(3)] == [3, 0, 0]
    assert store.failed == {}
    assert list(store.delayed) == [1]
    assert len(embedder.calls) == 1
    assert [document.document_id for document in store.pending] == ["policy", "drivers", "offices"]

    embedder.is_away = False
    assert await ingestion(store, embedder).ingest_once() == 3
    assert store.stored == [["policy", "drivers", "offices"]]


FOREIGN = "/etc/key says: a passage that is not for all"


@pytest.mark.parametrize(
    "error",
    [
        ConfigurationError("no key file", detail=FOREIGN, hint="Write the key there."),
        DimensionMismatch("too many dimensions", detail=FOREIGN, hint="Ask for fewer."),
        EmbeddingUnavailable("it failed", detail=FOREIGN, hint="Start it."),
        OutOfMemory(FOREIGN),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_the_reason_for_waiting_holds_no_foreign_text(
    error: PgclarifyError, caplog: pytest.LogCaptureFixture
) -> None:
    async def embedder_of(model: str) -> Embedder:
        raise error

    store, models = FakeDocumentStore(SHORT), CorpusModels(embedder_of)
    await Ingestion(store, models).ingest_once()
    assert store.delayed == {1: f"{error.message}: {error.hint}"}
    assert FOREIGN in caplog.text


def test_the_reason_does_not_tell_what_is_at_a_path() -> None:
    reasons = {
        public_reason("/etc", ModelNotFound("no model there", detail=FOREIGN)),
        public_reason("/etc", ModelNotFound("not a model", hint="Install its library.")),
    }
    assert len(reasons) == 1


class _GoesAfterOne(FakeEmbedder):
    """An embedder that becomes unavailable after it has failed on a text."""

    def __init__(self) -> None:
        super().__init__(fails_on="poison")

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        try:
            return await super().encode(texts, are_passages=are_passages)
        finally:
            self.is_away = True


async def test_no_document_is_blamed_if_the_endpoint_goes_while_one_is_looked_for() -> None:
    store = FakeDocumentStore([SHORT[0], Document("bad", "poison"), SHORT[1]])
    assert await ingestion(store, _GoesAfterOne()).ingest_once() == 3
    assert store.failed == {}
    assert store.stored == []
    assert len(store.pending) == 3
    assert list(store.delayed) == [1]


class _GoesInTheMiddle(FakeEmbedder):
    """An embedder that is unavailable after two calls, for some seconds.

    Args:
        outage: For how many seconds.
        on_call: Called while it is unavailable.

    Attributes:
        missed: How many calls came while it was unavailable.
    """

    def __init__(self, outage: float, on_call: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self._outage = outage
        self._on_call = on_call
        self._until: float | None = None
        self.missed = 0

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        now = asyncio.get_running_loop().time()
        if self._until is None and len(self.calls) == 2:
            self._until = now + self._outage
        self.is_away = self._until is not None and now < self._until
        if self.is_away:
            self.missed += 1
            self._on_call()
        return await super().encode(texts, are_passages=are_passages)


LONG = Document("long", "\n\n".join(f"{'All rental cars are new. ' * 6}{number}." for number in range(600)))


@pytest.mark.parametrize(("seconds", "embedded_twice"), [(29, 0), (121, 0), (155, 2)])
def test_a_long_document_goes_on_after_an_outage_of_two_minutes_and_no_longer_one(
    seconds: float, embedded_twice: int
) -> None:
    store, embedder = FakeDocumentStore([LONG]), _GoesInTheMiddle(seconds)

    async def index() -> None:
        pipeline = ingestion(store, embedder)
        while not store.stored:
            if not await pipeline.ingest_once():
                await asyncio.sleep(1)

    carry_out(index())
    assert store.stored == [["long"]]
    batches = -(-len(store.indexed["long"].chunks) // 256)
    assert len(embedder.calls) - embedder.missed == batches + embedded_twice


async def test_a_long_document_that_changed_is_not_embedded_after_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.corpora.embedding_models._MODEL_RETRY_SECONDS", 0.0)
    store = FakeDocumentStore([LONG])
    embedder = _GoesInTheMiddle(0.001, store.leased.clear)
    assert await ingestion(store, embedder).ingest_once() == 1
    assert len(embedder.calls) == 3
    assert store.stored == []
    assert store.delayed == {}


async def test_an_endpoint_that_does_not_answer_at_first_is_told_once_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pgclarify.corpora.embedding_models._MODEL_RETRY_SECONDS", 0.0)
    monkeypatch.setattr("pgclarify.corpora.embedding_models._LOADING_SECONDS", 0.0)
    asked = asyncio.Event()

    async def embedder_of(model: str) -> Embedder:
        await asked.wait()
        raise EmbeddingUnavailable("the embedding endpoint cannot be reached")

    store = FakeDocumentStore(SHORT)
    pipeline = Ingestion(store, CorpusModels(embedder_of))
    assert await pipeline.ingest_once() == 3
    assert store.delayed == {}, "the error is not known yet"
    asked.set()
    while not store.delayed:
        await pipeline.ingest_once()
    assert store.failed == {}
    await pipeline.close()


async def test_nobody_waits_for_a_model_that_is_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.corpora.embedding_models._LOADING_SECONDS", 0.0)
    loaded = asyncio.Event()
    embedder = FakeEmbedder()

    async def embedder_of(model: str) -> Embedder:
        await loaded.wait()
        return embedder

    store = FakeDocumentStore(SHORT)
    pipeline = Ingestion(store, CorpusModels(embedder_of))
    assert [await pipeline.ingest_once() for _ in range(2)] == [3, 0]
    assert len(store.pending) == 3

    loaded.set()
    claimed = 0
    while not claimed:
        await asyncio.sleep(0)
        claimed = await pipeline.ingest_once()
    while not store.stored:
        await pipeline.ingest_once()
    assert store.stored == [["policy", "drivers", "offices"]]
    await pipeline.close()


async def test_claims_take_turns_at_a_model_of_this_machine() -> None:
    models, embedder = CorpusModels(lambda model: asyncio.sleep(0, FakeEmbedder())), FakeEmbedder()

    async def embed(*texts: str) -> None:
        for text in texts:
            await models.encode(embedder, [text])

    await asyncio.gather(embed("part 1", "part 2", "part 3"), embed("short"))
    assert embedder.calls == [["part 1"], ["short"], ["part 2"], ["part 3"]]
