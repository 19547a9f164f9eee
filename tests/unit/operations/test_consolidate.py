"""Existing verdicts are grouped again."""

from __future__ import annotations

from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import RunStatus
from pgclarify.operations.execution import execute
from tests.fakes import FakeEmbedder, FakeStore, scripts
from tests.fakes.context import context_of
from tests.unit.operations.rental_cars import (
    clarify_with,
    corpus,
    script,
)


async def finished(store: FakeStore) -> Run:
    run = store.add_run("rental cars")
    await clarify_with(store, run, scripts.verifier(script()))
    return run


async def test_consolidation_again_with_the_same_vectors() -> None:
    store, embedder = FakeStore(corpus()), FakeEmbedder()
    parent = await finished(store)
    run = store.add_run(operation="consolidate", parent=parent, settings={"singletons": "drop"})
    await execute(context_of(run, store, embedder=embedder))
    record = store.runs[run.run_id]
    assert record.status is RunStatus.SUCCEEDED
    assert record.interpretations == store.runs[parent.run_id].interpretations[:1]
    assert [text for call in embedder.calls for text in call] == []


async def test_readings_may_be_compared_without_their_answers() -> None:
    store, embedder = FakeStore(corpus()), FakeEmbedder()
    parent = await finished(store)
    settings = {"consolidation": "hdbscan", "embed": "question"}
    run = store.add_run(operation="consolidate", parent=parent, settings=settings)
    await execute(context_of(run, store, embedder=embedder))
    (texts,) = embedder.calls
    found = store.runs[run.run_id].interpretations
    assert {one.interpretation for one in found} <= set(texts)
    assert not any(one.answer in text for one in found for text in texts)
