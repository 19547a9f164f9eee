"""Exploration in the database: from passages to their neighbors, and the recorded candidates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pgclarify.data.runs import Run
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import Runs
from pgclarify.operations.retrieval.exploration import Exploration, Query, by_signal, find_first
from tests.fakes.context import context_of
from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connection, HandWorker, Hire, MakeRole, scalar
from tests.integration.exploring import ANGLES, ask, find, near, passage, record, user, worker
from tests.integration.linking import add, load

pytestmark = pytest.mark.rolled_back

__all__ = ["user", "worker"]


class TestNeighbors:
    def test_are_nearest_first_and_told_once(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        batch = [passage(connection, "0"), passage(connection, "10")]
        rows = near(worker, ask(user, worker), batch, k=3)

        edges = [(row["via_passage_id"], row["document_id"]) for row in rows]
        zero, ten = (one["passage_id"] for one in batch)
        assert edges == [(zero, "10"), (zero, "25"), (zero, "45"), (ten, "0"), (ten, "25"), (ten, "45")]
        told = [row for row in rows if row["content"] is not None]
        assert sorted(row["document_id"] for row in told) == ["0", "10", "25", "45"]
        # Each edge comes from the nearest passage of the batch.
        assert {row["document_id"]: row["via_passage_id"] for row in told if row["document_id"] in ("25", "45")} == {
            "25": ten,
            "45": ten,
        }
        (row,) = [row for row in told if row["document_id"] == "25"]
        assert (row["content"], row["start_char"], row["signal_score"]) == ("At 25.", 0, None)
        assert row["similarity"] == pytest.approx(math.cos(math.radians(15)), abs=0.001)

    def test_the_text_of_known_neighbors_is_not_read_again(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        known = [passage(connection, angle)["passage_id"] for angle in ("0", "10")]
        rows = near(worker, ask(user, worker), [passage(connection, "0")], k=2, known=known)

        assert [(row["document_id"], row["content"]) for row in rows] == [("10", None), ("25", "At 25.")]

    def test_hidden_neighbors_take_no_place(
        self, connection: Connection, user: Connection, worker: HandWorker, make_role: MakeRole
    ) -> None:
        add(connection, {"10": "At 10."}, readers=[make_role(name="boss")])
        run_id, batch = ask(user, worker), [passage(connection, "0"), passage(connection, "10")]

        assert [(row["via_passage_id"], row["document_id"]) for row in near(worker, run_id, batch, k=2)] == [
            (batch[0]["passage_id"], "25"),
            (batch[0]["passage_id"], "45"),
        ], "they do not lead to other passages either"
        add(connection, {"10": "At 10."})
        assert [row["document_id"] for row in near(worker, run_id, batch, k=2)] == ["10", "25", "0", "25"]

    def test_removed_neighbors_are_left_out(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id, batch = ask(user, worker), [passage(connection, "0"), passage(connection, "10")]
        connection.execute("select pgclarify.remove_document('insurance', '10')")

        assert [row["document_id"] for row in near(worker, run_id, batch, k=2)] == ["25", "45"]

    def test_before_there_is_a_graph(self, connection: Connection, user: Connection, hire: Hire) -> None:
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        load(connection, worker := hire(), *ANGLES)
        run_id = ask(user, worker)

        assert near(worker, run_id, [passage(connection, "0")]) == []
        assert near(worker, run_id, []) == []

    def test_a_dropped_space_has_no_neighbors(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        run_id, there = ask(user, worker), [passage(connection, "0")]
        space = scalar(connection, "select embedding_space_id from pgclarify_private.corpus")
        connection.execute(f"drop table pgclarify_private.neighborhood_{space}".encode())

        assert near(worker, run_id, there) == []
        assert find(worker, run_id, vector=[1, 0, 0, 0])


@pytest.mark.committed
async def test_an_exploration_sends_few_statements(
    connection: Connection, user: Connection, worker: HandWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for the first ranking, at most one for the neighbors of a batch, and one for the candidates."""
    sent: list[str] = []

    fetch = Runs.fetch

    async def noted(runs: Runs, run: Run, name: str, /, **parameters: Any) -> list[Any]:
        sent.append(name)
        return await fetch(runs, run, name, **parameters)

    monkeypatch.setattr(Runs, "fetch", noted)
    run_id = int(scalar(user, "select pgclarify.submit('clarify', 'at 25', 'insurance')"))
    query = Query("at 25", np.array([1, 0, 0, 0], dtype=np.float32), "dense", "lexical")
    async with open_pool(worker.connection.info.dsn) as pool:
        runs = Runs(pool, worker.worker_id)
        run = await runs.start(run_id)
        assert isinstance(run, Run)
        tables = ExplorationTables(runs)
        context = context_of(run, RunTables(runs, run), passages=tables)
        first = await find_first(context, query, depth=2)
        explored = await Exploration(
            context,
            query,
            first=first,
            scorer=by_signal,
            max_passages=6,
            batch_size=2,
            k=2,
        ).carry_out()
        assert await tables.record_candidates(run, explored) == [1, 2, 3, 4, 5, 6]

    assert [one.passage.document_id for one in first] == ["0", "10"]
    assert {one.passage.document_id for one in explored} == {"0", "10", "25", "45", "70", "100"}
    # Five batches. The last one leads to no new passage.
    assert sent == ["find_passages", *["find_neighbors"] * 4, "record_candidates"]
    leads = connection.execute(
        "select near.document_id, via.document_id, candidate.batch from pgclarify.candidate"
        " inner join pgclarify.passage as near on near.id = candidate.passage_id"
        " left join pgclarify.passage as via on via.id = candidate.via_passage_id"
        " order by candidate.batch, near.document_id"
    ).fetchall()
    assert leads == [
        ("0", None, 1), ("10", None, 1), ("25", "0", 2), ("45", "25", 3), ("70", "45", 4), ("100", "70", 5)
    ]  # fmt: skip


class TestCandidates:
    def test_are_kept_as_given(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        assert record(worker, run_id, [passage(connection, "0"), passage(connection, "10")]) == [1, 2]
        assert record(worker, run_id, [passage(connection, "25")], first_rank=5) == [5]

        rows = user.execute(
            "select rank, document_id, score, origin, via_passage_id, batch, step_ordinal from pgclarify.candidate"
            " order by rank"
        ).fetchall()
        via = passage(connection, "0")["passage_id"]
        assert rows == [
            (1, "0", 0.5, "neighbor", None, 2, None),
            (2, "10", 0.5, "neighbor", via, 2, None),
            (5, "25", 0.5, "neighbor", None, 2, None),
        ]

    def test_removed_or_hidden_candidates_are_not_stored(
        self, connection: Connection, user: Connection, worker: HandWorker, make_role: MakeRole
    ) -> None:
        run_id = ask(user, worker)
        batch = [passage(connection, angle) for angle in ("0", "10", "25")]
        connection.execute("select pgclarify.remove_document('insurance', '0')")
        add(connection, {"10": "At 10."}, readers=[make_role(name="boss")])

        assert record(worker, run_id, batch) == [3]
        assert user.execute("select document_id from pgclarify.candidate").fetchall() == [("25",)]
