"""The fakes keep the promises of the protocols. These are promises that no operation's test checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Verdict
from pgclarify.errors import EmbeddingError, RunLost
from pgclarify.prompts.verdict import verdict
from pgclarify.protocols import DocumentStore, Ledger
from pgclarify.vocabulary import Document, Outcome, RunStatus
from tests.fakes import (
    FakeDocumentStore,
    FakeEmbedder,
    FakeExplorationStore,
    FakeLedger,
    FakeLedgerTable,
    FakeStore,
    scripts,
)


async def test_vectors_are_of_unit_length_and_near_if_words_are_shared() -> None:
    vectors = await FakeEmbedder().encode(["rental cars", "Cars, rental!", "rental boats", "quiet music", ""])
    assert vectors.dtype == np.float32
    assert vectors.shape == (5, 256)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    same, near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2], vectors[0] @ vectors[3]
    assert same == pytest.approx(1)
    assert 0.3 < near < 0.7
    assert abs(far) < 0.2
    assert (await FakeEmbedder().encode([])).shape == (0, 256)


async def test_vectors_are_the_same_on_every_machine() -> None:
    (vector,) = await FakeEmbedder(dimensions=8).encode(["rental"])
    assert np.sign(vector).tolist() == [1, 1, 1, 1, 1, 1, -1, 1]


async def test_an_embedder_fails_on_request() -> None:
    with pytest.raises(EmbeddingError):
        await FakeEmbedder(fails_on="cars").encode(["rental cars"])


def test_a_token_is_a_word() -> None:
    tokenizer = FakeEmbedder().tokenizer
    assert len(tokenizer.encode("Rental cars, covered.", add_special_tokens=False)) == 5
    assert len(tokenizer.encode("Rental cars, covered.")) == 7


async def test_a_lease_is_given_back_by_its_holder_only() -> None:
    table = FakeLedgerTable()
    mine: Ledger = FakeLedger(table, worker="mine")
    other: Ledger = FakeLedger(table, worker="other")
    request = scripts.verifier().request(verdict("a question", Passage("a", 1, "a passage")))
    (claim,) = await mine.claim_completions([request])
    assert claim.completion_id is not None
    await other.release_completions([claim.completion_id])
    assert [row.holder for row in table.leased] == ["mine"]
    await mine.release_completions([claim.completion_id])
    assert table.leased == []


async def test_a_finished_run_takes_nothing_more() -> None:
    store = FakeStore()
    run = store.add_run("a question")
    await store.finish_run(run, RunStatus.SUCCEEDED, [], None)
    with pytest.raises(RunLost):
        await store.record_verdict(run, Verdict(rank=1, outcome=Outcome.ABSTAINED))


async def test_failed_if_and_only_if_there_is_an_error() -> None:
    store = FakeStore()
    run = store.add_run("a question")
    with pytest.raises(ValueError, match="failed"):
        await store.finish_run(run, RunStatus.FAILED, [], None)
    with pytest.raises(ValueError, match="partial"):
        await store.finish_run(run, RunStatus.PARTIAL, [], "an error")


@pytest.mark.parametrize(
    "search",
    [
        {"method": "fuzzy", "depth": 1},
        {"method": "lexical", "depth": 0},
        {"method": "lexical", "depth": 1, "signal": "hybrid"},
        {"method": "lexical", "depth": 1, "signal": "both"},
        {"method": "dense", "depth": 1},
    ],
)
async def test_a_search_that_the_database_would_refuse(search: dict[str, Any]) -> None:
    store = FakeStore()
    run = store.add_run("a question")
    exploration = FakeExplorationStore(store)
    assert await exploration.find_passages(run, "a question", None, method="lexical", depth=1, signal="lexical") == []
    with pytest.raises(ValueError, match=r"method|signal|vector|nothing"):
        await exploration.find_passages(run, "a question", None, **search)


@pytest.mark.parametrize("neighbors", [{"k": 0}, {"k": 1, "signal": "dense"}])
async def test_neighbors_that_the_database_would_refuse(neighbors: dict[str, Any]) -> None:
    store = FakeStore()
    run = store.add_run("a question")
    exploration = FakeExplorationStore(store)
    with pytest.raises(ValueError, match=r"vector|nothing"):
        await exploration.find_neighbors(run, [], known=[], query="a question", vector=None, **neighbors)


async def test_a_rank_is_taken_once() -> None:
    store = FakeStore()
    run = store.add_run("a question")
    exploration = FakeExplorationStore(store)
    candidate = Candidate(1, Passage("a", 1, "a passage"), 0.5, "dense")
    assert await exploration.record_candidates(run, [candidate]) == [1]
    for again in (candidate, replace(candidate, rank=0)):
        with pytest.raises(ValueError, match="ranks"):
            await exploration.record_candidates(run, [again])


@pytest.mark.parametrize("score", [0.0, 1.0, float("nan")])
def test_a_signal_score_is_between_0_and_1(score: float) -> None:
    with pytest.raises(ValueError, match="signal score"):
        FakeExplorationStore(FakeStore(), signals={1: score})


async def test_pending_documents_are_claimed_once() -> None:
    store: DocumentStore = FakeDocumentStore([Document("a", "a text")])
    assert [
        one.document_id for one in await store.claim_documents(max_documents=9, max_chars=9, skipped_models=[])
    ] == ["a"]
    assert await store.claim_documents(max_documents=9, max_chars=9, skipped_models=[]) == []
