"""Existing verdicts are grouped again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Verdict
from pgclarify.operations.execution import execute
from pgclarify.vocabulary import RunStatus
from tests.fakes import FakeEmbedder, FakeStore, scripts
from tests.fakes.context import context_of
from tests.unit.operations.rental_cars import (
    COVERAGE,
    LICENSE,
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


async def test_consolidation_again_by_another_embedding() -> None:
    store, embedder = FakeStore(corpus()), FakeEmbedder()
    parent = await finished(store)
    settings = {"embed": "question", "parent_embed": "question_answer"}
    run = store.add_run(operation="consolidate", parent=parent, settings=settings)
    await execute(context_of(run, store, embedder=embedder))
    assert embedder.calls == [[LICENSE.interpretation, COVERAGE.interpretation, COVERAGE.interpretation]]
    record = store.runs[run.run_id]
    # The new vectors are stored, so that the run's vectors agree with its settings.
    assert _same_vector(record.verdicts[1], (await embedder.encode([LICENSE.interpretation]))[0])
    assert not _same_vector(store.runs[parent.run_id].verdicts[1], (await embedder.encode([LICENSE.interpretation]))[0])
    assert [found.support for found in record.interpretations] == [2, 1]


def _same_vector(verdict: Verdict, vector: NDArray[np.float32]) -> bool:
    return verdict.vector is not None and np.array_equal(verdict.vector, vector)


async def test_consolidation_again_of_nothing() -> None:
    store = FakeStore()
    run = store.add_run(operation="consolidate", parent=await finished(store))
    await execute(context_of(run, store))
    assert (store.runs[run.run_id].status, store.runs[run.run_id].interpretations) == (RunStatus.SUCCEEDED, [])


async def test_consolidation_again_fails_without_the_embedding() -> None:
    store = FakeStore(corpus())
    run = store.add_run(operation="consolidate", parent=await finished(store), settings={"embed": "question"})
    await execute(context_of(run, store, embedder=FakeEmbedder(fails_on="license")))
    assert store.runs[run.run_id].status is RunStatus.FAILED


async def test_a_lost_consolidation_is_left_quietly() -> None:
    store = FakeStore(corpus())
    run = store.add_run(operation="consolidate", parent=await finished(store))
    store.cancel(run)
    await execute(context_of(run, store))
    assert store.runs[run.run_id].status is RunStatus.CANCELLED
