"""The queue of runs: takes runs while there is room, and listens for notifications of new ones."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import psycopg

from pgclarify.database.connections import Connections, with_keepalives
from pgclarify.database.runs import Runs, TakenRun
from pgclarify.errors import DatabaseBusy

_logger = logging.getLogger(__name__)

# A worker carries out this many more runs than a batch may use. They are reserved for runs with a waiting caller.
_LEAST_KEPT, _KEPT_SHARE = 2, 4
# Each needs a connection of the pool meanwhile. The other connections are for runs that have begun.
_MOST_TAKEN_AT_ONCE = 4
# The tables are read at most once in this time, for any number of notifications.
_WAKE_SECONDS = 0.05
# A server that refuses at once must not fill the log.
_LISTEN_AGAIN_SECONDS = 1.0

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[psycopg.AsyncConnection[Any]]]


class RunQueue:
    """Takes queued runs and has them carried out.

    It takes only some runs without a waiting caller at once, so that a batch leaves room for calls that wait.

    It does not trust notifications, because every role that can connect may send any. A notification only wakes the
    queue, which then reads the tables. A lost notification is no harm, because `due_work` wakes it while runs are due.

    Args:
        runs: The tables of runs.
        connect: Opens the connection that listens, in autocommit. A pooler in transaction mode passes no notifications.
        carry_out: Carries out a run, and puts it back if it cannot.
        concurrency: Most runs without a waiting caller at once. Some more runs are possible if a caller waits for them.
        grace: Seconds in which current runs may finish when the queue is stopped.
        may_take: Returns whether the worker may take a run now.
    """

    def __init__(
        self,
        runs: Runs,
        connect: Connect,
        carry_out: Callable[[TakenRun], Awaitable[None]],
        *,
        concurrency: int,
        grace: float,
        may_take: Callable[[], bool] = lambda: True,
    ) -> None:
        self._runs = runs
        self._connect = connect
        self._carry_out = carry_out
        self._most_in_background = concurrency
        self._most = concurrency + max(_LEAST_KEPT, concurrency // _KEPT_SHARE)
        self._grace = grace
        self._may_take = may_take
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_background: set[asyncio.Task[None]] = set()
        self._woken = asyncio.Event()
        self._is_stopping = False
        # Whether runs may be left in the queue that there was no room for. No notification will come for them.
        self._has_left = False

    async def wake(self) -> None:
        """Take runs soon, because some are due."""
        self._woken.set()

    def stop(self) -> None:
        """Take no more runs. Current runs may finish within the grace time."""
        self._is_stopping = True
        self._woken.set()

    async def serve(self) -> None:
        """Take runs until stopped, and then wait for the current ones. After an error, current runs end at once.

        Raises:
            ServerUnavailable: If the connection breaks.
            DatabaseError: If the server refuses to look for runs.
        """
        listening = asyncio.create_task(self._listen())
        try:
            while not self._is_stopping:
                await self._woken.wait()
                self._woken.clear()
                await self._take_runs()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=self._grace)
        finally:
            ending = [listening, *self._tasks]
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)

    async def _take_runs(self) -> None:
        """Take runs while there is room: first one, then two at once, then four, because the server may be far."""
        self._has_left = True
        at_once = 1
        while not self._is_stopping and self._may_take() and (room := self._most - len(self._tasks)) > 0:
            room_in_background = self._most_in_background - len(self._in_background)
            only_waited_for = room_in_background <= 0
            number = min(at_once, room if only_waited_for else min(room, room_in_background))
            at_once = min(2 * at_once, _MOST_TAKEN_AT_ONCE)
            try:
                taken = await self._take_some(number, only_waited_for=only_waited_for)
            except DatabaseBusy as busy:
                # With an error, the worker would stop.
                _logger.warning("a worker takes its next run later: %s", busy.message)
                return
            if any(run is not None and run.is_last for run in taken):
                self._has_left = False
                return
            if None in taken:
                self._has_left = only_waited_for
                return

    async def _take_some(self, number: int, *, only_waited_for: bool) -> list[TakenRun | None]:
        """Take runs at the same time, and begin them. Raises the first error after that."""

        async def take_one() -> TakenRun | None:
            run = await self._runs.take(only_waited_for=only_waited_for)
            if run is not None and run.started is not None:
                self._begin(run)
            return run

        results = await asyncio.gather(*(take_one() for _ in range(number)), return_exceptions=True)
        for run in results:
            if not isinstance(run, TakenRun) or run.started is not None:
                continue
            if run.refusal is None:
                # It must be carried out alone, and waits for those that have begun.
                self._begin(run)
            else:
                _logger.warning("run %d waits for some seconds: %s", run.run_id, run.refusal)
        # Let it begin: the worker may take no other from then on.
        await asyncio.sleep(0)
        taken: list[TakenRun | None] = []
        for each in results:
            if isinstance(each, BaseException):
                raise each
            taken.append(each)
        return taken

    def _begin(self, run: TakenRun) -> None:
        task = asyncio.create_task(self._carry_out_logged(run))
        self._tasks.add(task)
        if not run.is_waited_for:
            self._in_background.add(task)
        task.add_done_callback(self._let_go)

    async def _carry_out_logged(self, taken: TakenRun) -> None:
        try:
            await self._carry_out(taken)
        except Exception:
            _logger.exception("run %d was not put back", taken.run_id)

    def _let_go(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._in_background.discard(task)
        if self._has_left:
            self._woken.set()

    async def _listen(self) -> None:
        while True:
            try:
                async with self._connect() as connection:
                    await connection.execute("listen pgclarify_runs")
                    # Earlier notifications were missed.
                    self._woken.set()
                    while True:
                        await _readable(connection)
                        async for _ in connection.notifies(timeout=0):
                            pass
                        self._woken.set()
                        await asyncio.sleep(_WAKE_SECONDS)
            except Exception as error:  # whatever it is: without a listener, runs would wait to be polled
                _logger.warning("no notifications of the queue, listening again: %s", error)
            await asyncio.sleep(_LISTEN_AGAIN_SECONDS)


async def _readable(connection: psycopg.AsyncConnection[Any]) -> None:
    """Wait until the server sends something or closes; psycopg itself would check ten times a second."""
    loop, sent = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection.fileno(), sent.set)
    try:
        await sent.wait()
    finally:
        loop.remove_reader(connection.fileno())


def listening_to(dsn: str, connections: Connections) -> Connect:
    """Return what opens the connection that listens.

    Args:
        dsn: Connection string without a pooler.
        connections: Keeps the connection, so that it can be cut.
    """

    @asynccontextmanager
    async def connect() -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        opening = psycopg.AsyncConnection.connect(
            with_keepalives(dsn), autocommit=True, application_name="pgclarify queue"
        )
        async with await opening as connection:
            await connections.prepare(connection)
            yield connection

    return connect
