"""Keeps the neighborhood graph up to date while the worker does its other work.

All lists of a new graph are built at once in the memory of a process, in a fraction of the time that the index needs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray
from psycopg.rows import DictRow

from pgclarify.database.arrays import array_text
from pgclarify.database.pool import Pool, fetch, fetch_value
from pgclarify.errors import DatabaseBusy, ServerUnavailable
from pgclarify.worker.nearest_process import END

_logger = logging.getLogger(__name__)

# One step of the database takes about one second on two cores, so that no transaction blocks others for long.
_PASSAGES_A_BATCH = 2000
# With fewer passages, the database is fast enough and a process is not worth its start.
_LEAST_PASSAGES = 2000
# With more passages, comparing all pairs is slower than the index.
_MOST_PASSAGES = 100_000
_MOST_BYTES = 256 * 2**20
# Each thread needs about 50 MB, and runs need the CPU too.
_MOST_THREADS = 4
_PASSAGES_A_READ = 2000
# One write blocks the event loop for a few hundredths of a second, and takes the database a tenth of a second.
_NEIGHBORS_A_WRITE = 16_000
# A user may lock the corpus for any time. Then the build fails, because other corpora wait to be linked.
_RETRY_SECONDS, _MOST_TRIES = 0.5, 60
# After a failure, the index builds the lists for this time.
_SKIP_SECONDS = 600.0
# Ten times the time of comparing on one idle core: 100,000 passages have 20 minutes.
_START_SECONDS = 60.0
_SECONDS_A_MILLION_PAIRS = 0.12


class BuildFailed(Exception):
    """A graph could not be built here, for example because its process had too little memory."""


@dataclass(frozen=True)
class _Passages:
    """The passages of a space, in the order in which they were read."""

    document_ids: list[str] = field(default_factory=list)
    passage_ids: list[int] = field(default_factory=list)


class GraphBuilding:
    """Builds graphs of the corpora that fit, one after the other.

    Args:
        pool: The worker's connections.
        worker_id: The worker.
    """

    def __init__(self, pool: Pool, worker_id: int) -> None:
        self._pool = pool
        self._worker_id = worker_id
        # Spaces for which the build failed, and until when the database builds their lists.
        self._skipped: dict[int, float] = {}

    async def build_once(self) -> bool:
        """Build one graph that has no lists yet; return False if there is none.

        Raises:
            BuildFailed: If it cannot be built here. Then the database builds it.
            ServerUnavailable: If there is no connection.
            DatabaseBusy: If a later try may succeed.
            DatabaseError: If the server refuses.
        """
        now = asyncio.get_running_loop().time()
        self._skipped = {space_id: until for space_id, until in self._skipped.items() if until > now}
        (claimed,) = await fetch(
            self._pool,
            "claim_graph",
            worker_id=self._worker_id,
            min_passages=_LEAST_PASSAGES,
            max_passages=_MOST_PASSAGES,
            max_bytes=_MOST_BYTES,
            skipped_space_ids=list(self._skipped),
        )
        if claimed["embedding_space_id"] is None:
            return False
        try:
            passages, near, similarities = await self._find(claimed)
            await self._store(claimed["embedding_space_id"], passages, near, similarities)
        except (ServerUnavailable, DatabaseBusy):
            raise
        except Exception as error:
            self._skipped[claimed["embedding_space_id"]] = now + _SKIP_SECONDS
            if isinstance(error, BuildFailed):
                raise
            raise BuildFailed(str(error)) from error
        return True

    async def _find(self, claimed: DictRow) -> tuple[_Passages, NDArray[np.int32], NDArray[np.float32]]:
        # Passages may be added while the process reads.
        room = claimed["passages"] * 5 // 4 + 1000
        sizes = [room, claimed["dimensions"], claimed["degree"], min(os.cpu_count() or 1, _MOST_THREADS)]
        process = await asyncio.create_subprocess_exec(
            # -P: do not import from the current folder, which may have any files.
            *(sys.executable, "-P", "-m", "pgclarify.worker.nearest_process", *map(str, sizes)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # The process has its own threads; those of the matrix library would compete with them.
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )
        patience = _START_SECONDS + _SECONDS_A_MILLION_PAIRS * claimed["passages"] ** 2 / 1e6
        try:
            source, target = cast(asyncio.StreamReader, process.stdout), cast(asyncio.StreamWriter, process.stdin)
            with suppress(BrokenPipeError, ConnectionResetError):
                passages = await self._send(claimed["embedding_space_id"], target, room)
            try:
                async with asyncio.timeout(patience):
                    found = await source.read()
                    status = await process.wait()
            except TimeoutError:
                raise BuildFailed(f"comparing vectors took more than {patience:.0f} seconds") from None
            if status != 0:
                raise BuildFailed(f"the process that compares vectors ended with {status}")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        near, similarities = np.split(np.frombuffer(found, dtype=np.int32).reshape(-1, claimed["degree"]), 2)
        return passages, near, similarities.view(np.float32)

    async def _send(self, embedding_space_id: int, target: asyncio.StreamWriter, room: int) -> _Passages:
        """Send all vectors to the process; return the passages that they belong to."""
        passages = _Passages()
        while True:
            (read,) = await fetch(
                self._pool,
                "read_vectors",
                embedding_space_id=embedding_space_id,
                after_document_id=passages.document_ids[-1] if passages.document_ids else "",
                after_passage_id=passages.passage_ids[-1] if passages.passage_ids else 0,
                max_passages=_PASSAGES_A_READ,
            )
            if not read["passage_ids"]:
                break
            passages.document_ids.extend(read["document_ids"])
            passages.passage_ids.extend(read["passage_ids"])
            if len(passages.passage_ids) > room:
                raise BuildFailed(f"more than {room} passages are there by now")
            target.write(read["vectors"])
            await target.drain()
        target.write(END)
        target.close()
        await target.wait_closed()
        return passages

    async def _store(
        self, embedding_space_id: int, passages: _Passages, near: NDArray[np.int32], similarities: NDArray[np.float32]
    ) -> None:
        """Write all lists. Stop if the claim is lost: the graph must be built again, or the corpus was deleted."""
        count, a_write = len(passages.passage_ids), max(1, _NEIGHBORS_A_WRITE // near.shape[1])
        for start in range(0, max(count, 1), a_write):
            end = min(start + a_write, count)
            places = near[start:end].ravel().tolist()
            lists = {
                "document_ids": array_text(passages.document_ids[start:end]),
                "passage_ids": array_text(passages.passage_ids[start:end]),
                "neighbor_document_ids": array_text(_at(passages.document_ids, places)),
                "neighbor_ids": array_text(_at(passages.passage_ids, places)),
                "similarities": array_text(similarities[start:end].ravel().tolist()),
            }
            if not await self._write_when_free(embedding_space_id, lists, is_last=end == count):
                return

    async def _write_when_free(self, embedding_space_id: int, lists: dict[str, str], *, is_last: bool) -> bool:
        for _ in range(_MOST_TRIES):
            is_ours = await self._write(embedding_space_id, lists, is_last=is_last)
            if is_ours is not None:
                return is_ours
            await asyncio.sleep(_RETRY_SECONDS)
        raise BuildFailed(f"its corpus was locked for {_RETRY_SECONDS * _MOST_TRIES:.0f} seconds")

    async def _write(self, embedding_space_id: int, lists: dict[str, str], *, is_last: bool) -> bool | None:
        is_ours: bool | None = await fetch_value(
            self._pool,
            "store_graph",
            worker_id=self._worker_id,
            embedding_space_id=embedding_space_id,
            is_last=is_last,
            **lists,
        )
        return is_ours


async def link(pool: Pool, building: GraphBuilding) -> None:
    """Link new passages and unlink deleted ones until nothing is left to do."""
    while await _build(building) or await fetch_value(pool, "link_passages", max_passages=_PASSAGES_A_BATCH):
        pass


async def _build(building: GraphBuilding) -> bool:
    try:
        return await building.build_once()
    except BuildFailed as failed:
        _logger.warning("a graph is built by the database: %s", failed, exc_info=failed.__cause__)
        return True


def _at(values: Sequence[str] | Sequence[int], places: Sequence[int]) -> list[str | int | None]:
    return [None if place < 0 else values[place] for place in places]
