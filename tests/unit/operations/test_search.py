"""Search, without and with reranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import EndpointUnavailable, ModelNotFound
from pgclarify.operations.execution import execute
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.protocols import CrossEncoder
from tests.fakes import FakeCrossEncoder, FakeEmbedder, FakeExplorationStore, FakeStore, RunRecord, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of

PASSAGES = [Passage(str(number), number, f"passage {number}") for number in range(1, 41)]
ENCODER = FakeCrossEncoder(scores={("a question", f"passage {number}"): number / 10 for number in range(1, 9)})


async def encoder(name: str) -> CrossEncoder:
    """The only cross-encoder."""
    if name != "an-encoder":
        raise ModelNotFound(f"there is no model {name}")
    return ENCODER


class World:
    """A run of search with its stores and models."""

    def __init__(self, settings: Mapping[str, object], **corpus: object) -> None:
        self.store = FakeStore(PASSAGES)
        self.run: Run = self.store.add_run("a question", operation="search", settings=settings)
        self.exploration = FakeExplorationStore(self.store, PASSAGES, **corpus)  # type: ignore[arg-type]
        self.embedder = FakeEmbedder()
        self.judge: ScriptedCompleter | None = None

    async def search(self) -> RunRecord:
        rerankers = Rerankers(self.judge, encoder)
        context = context_of(
            self.run, self.store, passages=self.exploration, embedder=self.embedder, rerankers=rerankers
        )
        await execute(context)
        return self.store.runs[self.run.run_id]


def found(record: RunRecord) -> list[int]:
    return [candidate.passage.passage_id for candidate in record.candidates]


def adaptive(**settings: object) -> dict[str, object]:
    return {
        "retrieval": "adaptive",
        "method": "hybrid",
        "reranker": "signal",
        "max_passages": 100,
        "top_k": 3,
    } | settings


class TestPlain:
    async def test_candidates_are_the_result(self) -> None:
        world = World({"top_k": 3})
        record = await world.search()
        assert (record.status, record.interpretations, record.error) == (RunStatus.SUCCEEDED, [], None)
        assert [candidate.rank for candidate in record.candidates] == [1, 2, 3]
        assert record.query == "a question"
        assert record.query_vector is not None
        assert np.array_equal(record.query_vector, (await world.embedder.encode(["a question"]))[0])
        assert (world.exploration.searches, record.stop_reason) == ([("a question", "hybrid", 3, None)], None)


class TestAdaptive:
    async def test_a_passage_outside_the_first_ranking_is_found(self) -> None:
        world = World(adaptive(method="dense"), first=[1, 2], neighbors={1: [8]}, signals={8: 0.9, 2: 0.2, 1: 0.4})
        record = await world.search()
        assert [(one.rank, one.passage.passage_id, one.origin, one.via_passage_id) for one in record.candidates] == [
            (1, 8, "neighbor", 1),
            (2, 1, "dense", None),
            (3, 2, "dense", None),
        ]
        assert (record.status, record.stop_reason) == (RunStatus.SUCCEEDED, "nothing was left to look at")
        assert world.exploration.searches == [("a question", "dense", 100, "lexical")]

    @pytest.mark.parametrize("max_passages", [2, 3, 10, 16])
    async def test_a_small_budget_leaves_something_for_neighbors(self, max_passages: int) -> None:
        world = World(
            adaptive(max_passages=max_passages, method="dense"), neighbors={1: [40]}, signals={1: 0.5, 40: 0.9}
        )
        assert found(await world.search())[0] == 40

    async def test_a_cross_encoder_scores_what_it_is_given(self) -> None:
        world = World(adaptive(reranker="an-encoder"), first=[1, 2], neighbors={1: [8]})
        record = await world.search()
        assert [(one.passage.passage_id, one.score) for one in record.candidates] == [(8, 0.8), (2, 0.2), (1, 0.1)]
        assert world.exploration.searches == [("a question", "hybrid", 100, None)]

    async def test_a_failed_search_keeps_its_stages(self) -> None:
        world = World(adaptive(reranker="model"))
        world.judge = scripts.relevance_judge({"passage 1": EndpointUnavailable("no endpoint")})
        record = await world.search()
        assert (record.status, record.error) == (RunStatus.FAILED, "no endpoint")
        assert [(stage.name, stage.calls) for stage in record.stages] == [("retrieval", 0), ("reranking", 15)]


class TestReranked:
    @pytest.mark.parametrize(("max_passages", "expected"), [(40, [8, 7, 6]), (4, [4, 3, 2])])
    async def test_the_first_ones_are_scored_again(self, max_passages: int, expected: Sequence[int]) -> None:
        world = World(
            {"method": "hybrid", "reranker": "an-encoder", "max_passages": max_passages, "top_k": 3}, neighbors={4: [8]}
        )
        record = await world.search()
        assert found(record) == expected
        assert world.exploration.lookups == []
        assert [(stage.name, stage.batch) for stage in record.stages] == [("retrieval", None), ("reranking", 1)]
        assert record.stop_reason is None
