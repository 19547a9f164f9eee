"""Retrieval alone."""

from __future__ import annotations

import numpy as np

from pgclarify.model import Passage, RunStatus
from pgclarify.pipelines.search import search
from pgclarify.testing import FakeEmbedder, FakeExplorationStore, FakeStore

PASSAGES = [Passage(str(number), 1, f"passage {number}") for number in range(5)]


async def test_candidates_are_the_result() -> None:
    store, embedder = FakeStore(PASSAGES), FakeEmbedder()
    run = store.add_run("a question", operation="search", settings={"top_k": 3})
    await search(run, store, FakeExplorationStore(store), embedder)
    record = store.runs[run.run_id]
    assert (record.status, record.interpretations, record.error) == (RunStatus.SUCCEEDED, [], None)
    assert [candidate.rank for candidate in record.candidates] == [1, 2, 3]
    assert record.query == "a question"
    assert record.query_vector is not None
    assert np.array_equal(record.query_vector, (await embedder.encode(["a question"]))[0])


async def test_lexical_search_embeds_nothing() -> None:
    store, embedder = FakeStore(PASSAGES), FakeEmbedder()
    run = store.add_run("a question", operation="search", settings={"search": "lexical"})
    await search(run, store, FakeExplorationStore(store), embedder)
    assert store.runs[run.run_id].status is RunStatus.SUCCEEDED
    assert store.runs[run.run_id].query_vector is None
    assert embedder.calls == []


async def test_a_question_that_cannot_be_embedded_fails() -> None:
    store = FakeStore(PASSAGES)
    run = store.add_run("a question", operation="search")
    await search(run, store, FakeExplorationStore(store), FakeEmbedder(fails_on="question"))
    assert store.runs[run.run_id].status is RunStatus.FAILED
    assert store.runs[run.run_id].error


async def test_a_cancelled_search_is_left_quietly() -> None:
    store = FakeStore(PASSAGES)
    run = store.add_run("a question", operation="search")
    store.cancel(run)
    await search(run, store, FakeExplorationStore(store), FakeEmbedder())
    assert store.runs[run.run_id].status is RunStatus.CANCELLED
    assert store.runs[run.run_id].candidates == []
