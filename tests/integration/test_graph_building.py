"""Graphs whose lists a worker makes in its own memory, while documents come, change and go."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from pgclarify.database.pool import open_pool
from pgclarify.worker import graph_building
from pgclarify.worker.graph_building import BuildFailed, GraphBuilding
from pgclarify.worker.graph_building import link as link_all
from tests.integration.counts import assert_counts_agree
from tests.integration.linking import MANY, add, circle, faults, link, lists
from tests.integration.manual_worker import MakeWorker, ManualWorker, vector_of
from tests.sessions import Connect, Connection, scalar

WALKS = "select linking_document_id is not null from pgclarify_private.embedding_space"
HELD_BY = "select linking_worker_id from pgclarify_private.embedding_space"
LISTS = (
    "select document_id, neighbor_document_ids, neighbor_ids, similarities"
    " from pgclarify_private.neighborhood order by document_id"
)

Meanwhile = Callable[[], Any]
_Done = TypeVar("_Done")


class Building(GraphBuilding):
    """A builder that stops between reading and writing, and after some writes, so that a test can act meanwhile."""

    meanwhile: Meanwhile = staticmethod(lambda: None)
    room = 10**9
    lists_written = 0
    dies_after = 10**9

    async def _send(self, embedding_space_id: int, target: asyncio.StreamWriter, room: int) -> Any:
        return await super()._send(embedding_space_id, target, min(room, self.room))

    async def _store(self, *arguments: Any) -> None:
        self.meanwhile()
        await super()._store(*arguments)

    async def _write(self, *arguments: Any, **named: Any) -> bool | None:
        if self.lists_written == self.dies_after:
            raise asyncio.CancelledError
        self.lists_written += 1
        return await super()._write(*arguments, **named)


async def build(worker: ManualWorker, meanwhile: Meanwhile = lambda: None, dies_after: int = 10**9) -> bool:
    """Build once, as the real worker does."""
    return await with_building(worker, lambda building: building.build_once(), meanwhile, dies_after)


async def with_building(
    worker: ManualWorker,
    work: Callable[[Building], Awaitable[_Done]],
    meanwhile: Meanwhile = lambda: None,
    dies_after: int = 10**9,
) -> _Done:
    async with open_pool(worker.connection.info.dsn) as pool:
        building = Building(pool, worker.worker_id)
        building.meanwhile, building.dies_after = meanwhile, dies_after
        return await work(building)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_building, "_LEAST_PASSAGES", 3)
    monkeypatch.setattr(graph_building, "_PASSAGES_A_READ", 7)
    monkeypatch.setattr(graph_building, "_NEIGHBORS_A_WRITE", 50)


@pytest.fixture
def corpus(connection: Connection) -> Connection:
    connection.execute("select pgclarify.create_corpus('insurance')")
    connection.execute("update pgclarify_private.corpus set graph_degree = 5")
    return connection


@pytest.fixture
def loaded(corpus: Connection, make_worker: MakeWorker) -> Connection:
    add(corpus, MANY)
    make_worker().index_everything()
    return corpus


def exact(connection: Connection, vectors_of: Mapping[str, Sequence[float]]) -> dict[str, list[str]]:
    """The five nearest of every document; vectors_of: contents whose vectors are others than the tests' own."""
    contents = dict(connection.execute("select document_id, content from pgclarify.passage").fetchall())
    names = sorted(contents)
    halves = np.array([vectors_of.get(contents[name], vector_of(contents[name])) for name in names], dtype=np.float16)
    vectors = halves.astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similarities = vectors @ vectors.T
    np.fill_diagonal(similarities, -2)
    return {
        name: [names[place] for place in np.argsort(-row)[:5]] for name, row in zip(names, similarities, strict=True)
    }


def assert_right(connection: Connection, vectors_of: Mapping[str, Sequence[float]] | None = None) -> None:
    assert faults(connection) == {}
    assert lists(connection) == exact(connection, vectors_of or {})
    assert not scalar(connection, WALKS)
    assert scalar(connection, HELD_BY) is None
    assert_counts_agree(connection)


async def test_the_lists_are_those_of_the_database(loaded: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    assert await build(worker)
    built = loaded.execute(LISTS).fetchall()
    assert_right(loaded)
    assert not await build(worker)

    loaded.execute("select pgclarify.alter_corpus('insurance', jsonb_build_object('graph', 'rebuild'))")
    link(worker)

    walked = loaded.execute(LISTS).fetchall()
    assert [row[:3] for row in built] == [row[:3] for row in walked]
    np.testing.assert_allclose([row[3] for row in built], [row[3] for row in walked], atol=1e-6)


async def test_modules_in_the_current_folder_are_not_imported(
    loaded: Connection, make_worker: MakeWorker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tmp_path.joinpath("numpy.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    assert await build(make_worker())


async def test_only_one_builds(loaded: Connection, make_worker: MakeWorker) -> None:
    first, second = make_worker(), make_worker()
    claims: list[bool] = []

    async def at_once(building: Building) -> bool:
        store = building._store

        async def store_later(*arguments: Any) -> None:
            claims.append(await build(second))
            await store(*arguments)

        monkey.setattr(building, "_store", store_later)
        return await building.build_once()

    with pytest.MonkeyPatch.context() as monkey:
        assert await with_building(first, at_once)
    assert claims == [False]
    assert_right(loaded)


async def test_fewer_passages_than_neighbors(corpus: Connection, make_worker: MakeWorker) -> None:
    add(corpus, {"0": "At 0.", "10": "At 10.", "25": "At 25.", "nowhere": "Nowhere."})
    (worker := make_worker()).index_everything(circle(0, 10, 25) | {"Nowhere.": [0.0] * 4})

    assert await build(worker)

    assert lists(corpus) == {"0": ["10", "25"], "10": ["0", "25"], "25": ["10", "0"], "nowhere": []}


async def test_changes_during_the_build_are_linked(loaded: Connection, make_worker: MakeWorker) -> None:
    indexer, other = make_worker(), make_worker()

    def meanwhile() -> None:
        add(loaded, {"new": "New.", "7": "Changed.", "8": "Passage number 8, changed."})
        loaded.execute("select pgclarify.remove_document('insurance', '3')")
        indexer.index_everything()
        # No worker links it before the lists exist, and the lists do not have it.
        assert link(other) == 0

    worker = make_worker()
    assert await build(worker, meanwhile)
    assert {"new", "7", "8"}.isdisjoint(lists(loaded))

    link(worker)
    assert_right(loaded)


async def test_changes_while_lists_are_replaced_are_linked(loaded: Connection, make_worker: MakeWorker) -> None:
    indexer, worker = make_worker(), make_worker()
    link(worker)
    loaded.execute("select pgclarify.alter_corpus('insurance', jsonb_build_object('graph', 'rebuild'))")

    def meanwhile() -> None:
        add(loaded, {"7": "Changed."})
        indexer.index_everything()

    assert await build(worker, meanwhile)
    # Its list would be of its former content, so it has none, and waits to be linked.
    assert "7" not in lists(loaded)

    link(worker)
    assert_right(loaded)


async def test_most_of_a_corpus_is_new(loaded: Connection, make_worker: MakeWorker) -> None:
    link(worker := make_worker())
    add(loaded, {f"new {number}": f"New {number}." for number in range(5)})
    worker.index_everything()

    # An eighth.
    assert await build(worker)
    assert_right(loaded)

    add(loaded, {f"newer {number}": f"Newer {number}." for number in range(5)})
    worker.index_everything()
    assert not await build(worker)


async def test_lists_that_lack_what_was_removed_are_left_to_the_database(
    loaded: Connection, make_worker: MakeWorker
) -> None:
    link(worker := make_worker())
    for number in range(15):
        loaded.execute("select pgclarify.remove_document('insurance', %s)", [str(number)])
    worker.send("link_passages", max_passages=15)
    assert scalar(loaded, "select count(*) from pgclarify_private.pending_link") >= 5

    assert not await build(worker)
    link(worker)
    assert_right(loaded)


@pytest.mark.parametrize("builds_again", [True, False])
async def test_a_worker_that_is_killed_while_it_writes(
    loaded: Connection, make_worker: MakeWorker, builds_again: bool
) -> None:
    killed, other, indexer = make_worker(), make_worker(), make_worker()
    with pytest.raises(asyncio.CancelledError):
        await build(killed, dies_after=2)
    assert len(lists(loaded)) == 20
    assert scalar(loaded, HELD_BY) == killed.worker_id
    add(loaded, {"30": "Changed.", "2": "Changed, too."})
    loaded.execute("select pgclarify.remove_document('insurance', '3')")
    indexer.index_everything()
    assert link(other) == 0

    killed.die()

    if builds_again:
        assert await build(other)
    link(other)
    assert_right(loaded)


async def test_a_worker_that_comes_back_writes_nothing_old(
    loaded: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    stopped, other = make_worker(), make_worker()
    seen = "update pgclarify_private.worker set seen_at = %s where worker_id = %s"

    def meanwhile() -> None:
        connect().execute(seen, ["2000-01-01", stopped.worker_id])
        loaded.execute("select pgclarify.remove_document('insurance', '3')")
        # Deleted passages are removed from all lists.
        assert other.value("link_passages", max_passages=5) == 1
        connect().execute(seen, ["2100-01-01", stopped.worker_id])

    assert await build(stopped, meanwhile)

    assert lists(loaded) == {}
    link(other)
    assert_right(loaded)


async def test_a_graph_that_is_to_be_built_anew_meanwhile(loaded: Connection, make_worker: MakeWorker) -> None:
    assert await build(
        worker := make_worker(),
        lambda: loaded.execute("select pgclarify.alter_corpus('insurance', jsonb_build_object('graph', 'rebuild'))"),
    )

    assert lists(loaded) == {}
    assert await build(worker)
    assert_right(loaded)


async def test_a_corpus_that_is_dropped_meanwhile(loaded: Connection, make_worker: MakeWorker) -> None:
    assert await build(worker := make_worker(), lambda: loaded.execute("select pgclarify.drop_corpus('insurance')"))

    assert scalar(loaded, "select count(*) from pgclarify_private.neighborhood") == 0
    assert not await build(worker)


async def test_a_corpus_that_somebody_holds(
    loaded: Connection, connect: Connect, make_worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_building, "_RETRY_SECONDS", 0)
    user, worker = connect(), make_worker()
    with user.transaction(), pytest.raises(BuildFailed):
        await build(worker, lambda: user.execute("select from pgclarify_private.corpus for update"))

    assert lists(loaded) == {}
    link(make_worker())
    # The builder has claimed the space, so other workers link nothing in it.
    assert lists(loaded) == {}
    await with_building(worker, lambda building: link_all(building._pool, building))
    assert_right(loaded)


@pytest.mark.parametrize("python", ["/nowhere/python", str(shutil.which("false"))])
async def test_a_process_that_fails_leaves_the_graph_to_the_database(
    loaded: Connection, make_worker: MakeWorker, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    worker = make_worker()
    with pytest.raises(BuildFailed):
        await build(worker)

    await with_building(worker, lambda building: link_all(building._pool, building))

    assert_right(loaded)


async def test_a_process_that_takes_too_long_leaves_the_graph_to_the_database(
    loaded: Connection, make_worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_building, "_START_SECONDS", 0)
    with pytest.raises(BuildFailed):
        await build(make_worker())


async def test_more_passages_than_there_is_room_for(loaded: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()

    async def send_little(building: Building) -> bool:
        building.room = 39
        with pytest.raises(BuildFailed):
            await building.build_once()
        # It does not try again at once.
        return await building.build_once()

    assert not await with_building(worker, send_little)
    link(worker)
    assert_right(loaded)


async def test_a_corpus_that_does_not_fit_is_left_to_the_database(
    loaded: Connection, make_worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = make_worker()
    # 40 vectors of four numbers of four bytes, and lists of five neighbors of 24 bytes.
    monkeypatch.setattr(graph_building, "_MOST_BYTES", 40 * (4 * 4 + 5 * 24) - 1)
    assert not await build(worker)
    monkeypatch.setattr(graph_building, "_MOST_BYTES", 40 * (4 * 4 + 5 * 24))
    monkeypatch.setattr(graph_building, "_MOST_PASSAGES", 39)
    assert not await build(worker)
    monkeypatch.setattr(graph_building, "_MOST_PASSAGES", 40)
    assert await build(worker)
