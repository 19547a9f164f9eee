"""A worker's row in the database. The worker is alive while its session holds a lock and it sends heartbeats."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeAlias

import psycopg
from psycopg.rows import dict_row

from pgclarify.database.connections import cut, with_keepalives
from pgclarify.database.errors import translated
from pgclarify.database.queries import queries, statement
from pgclarify.errors import DatabaseBusy, PgclarifyError, ServerUnavailable

_logger = logging.getLogger(__name__)

# How long a worker counts as alive after a heartbeat, by the database's clock: four heartbeats.
LEASE = timedelta(seconds=20)
_HEARTBEATS_A_LEASE = 4
# If the event loop does not run for this long, it is stuck, not busy. Then its worker must not look alive.
_LOOP_PATIENCE_SECONDS = 60.0
_JOIN_SECONDS = 5.0

_Connection = psycopg.Connection[dict[str, Any]]
Check: TypeAlias = Callable[[psycopg.Connection[Any]], bool]


class Presence:
    """A registered worker that is kept alive.

    A thread with its own session holds the worker's advisory lock and sends heartbeats. So an event loop that is busy
    for some seconds does not lose its runs. The thread stops when the event loop is stuck.

    Args:
        dsn: Connection string of the database.
        entry: Parameters of register_worker.
        lease: How long the worker counts as alive after a heartbeat.
        check: Called in the worker's session before each heartbeat. If it raises, the worker ends.

    Attributes:
        lost: Ends with ServerUnavailable when the worker no longer counts as alive, or with the error of the check. The
            worker must then stop its runs, because others may have taken them over.
    """

    def __init__(self, dsn: str, entry: dict[str, Any], lease: timedelta, check: Check | None) -> None:
        self._dsn = with_keepalives(dsn)
        self._check = check
        self._entry = entry | {"lease": lease}
        self._lease_seconds = lease.total_seconds()
        self._pause_seconds = self._lease_seconds / _HEARTBEATS_A_LEASE
        self._loop = asyncio.get_running_loop()
        self._entered: asyncio.Future[int] = self._loop.create_future()
        self.lost: asyncio.Future[None] = self._loop.create_future()
        # Otherwise asyncio reports an exception that was never retrieved.
        self.lost.add_done_callback(lambda lost: lost.cancelled() or lost.exception())
        # Set when another version of the schema was installed.
        self.outdated = asyncio.Event()
        self._embedding_models: list[str] = []
        # Ends the pause of the thread.
        self._waking = threading.Event()
        self._is_closing = False
        self._connection: _Connection | None = None
        # When the loop last ran, and when the unanswered heartbeat was sent; both monotonic.
        self._fed_at = time.monotonic()
        self._beating_since: float | None = None
        self._thread = threading.Thread(target=self._live, name="presence", daemon=True)

    @property
    def worker_id(self) -> int:
        """The worker's key."""
        return self._entered.result()

    def report_loaded(self, embedding_models: list[str]) -> None:
        """Send a heartbeat now, which reports these models as loaded."""
        self._embedding_models = embedding_models
        self._waking.set()

    @classmethod
    @asynccontextmanager
    async def enter(
        cls,
        dsn: str,
        *,
        version: str,
        provider: str,
        model: str,
        prompt_version: str,
        is_serving: bool = True,
        lease: timedelta | None = None,
        schema_hash: str | None = None,
        check: Check | None = None,
    ) -> AsyncIterator[Presence]:
        """Register a worker and keep it alive.

        Args:
            dsn: Connection string of the database.
            version: Of pgclarify.
            provider: openai or extractive.
            model: Its model.
            prompt_version: Version of its prompts.
            is_serving: False for a process that only leases replies of the ledger; callers must not wait for it.
            lease: How long it counts as alive after a heartbeat; None for LEASE.
            schema_hash: Of the schema that it works with; None for a process that takes no runs.
            check: Called in the worker's session before each heartbeat. `outdated` is set once it returns False.

        Raises:
            ServerUnavailable: If there is no connection.
            DatabaseError: If the role may not work.
        """
        entry = {
            "host": socket.gethostname(),
            "process_id": os.getpid(),
            "version": version,
            "provider": provider,
            "model": model,
            "prompt_version": prompt_version,
            "is_serving": is_serving,
            "schema_hash": schema_hash,
        }
        presence = cls(dsn, entry, LEASE if lease is None else lease, check)
        presence._thread.start()
        feeding = asyncio.create_task(presence._feed(), name="feeding")
        try:
            await presence._entered
            yield presence
        finally:
            feeding.cancel()
            await presence._close()

    async def _feed(self) -> None:
        """Tell the thread that the loop runs, and give up if a heartbeat gets no answer."""
        while True:
            self._fed_at = time.monotonic()
            since = self._beating_since
            # The previous heartbeat may be up to a pause older. The worker must stop before others take over its runs.
            if since is not None and self._fed_at - since > self._lease_seconds - self._pause_seconds:
                self._end(
                    ServerUnavailable(
                        "the database does not answer",
                        detail="A heartbeat has had no answer for nearly as long as the lease.",
                    )
                )
                self._cut()
                return
            await asyncio.sleep(min(1.0, self._pause_seconds))

    async def _close(self) -> None:
        self._is_closing = True
        self._waking.set()
        if self._beating_since is not None:
            self._cut()
        # It is a daemon thread, so one that is still connecting to a dead server blocks nothing.
        await asyncio.to_thread(self._thread.join, _JOIN_SECONDS)

    def _cut(self) -> None:
        if self._connection is not None:
            cut(self._connection)

    def _live(self) -> None:
        """Run the thread."""
        try:
            with translated():
                connection: _Connection = psycopg.connect(
                    self._dsn, autocommit=True, row_factory=dict_row, application_name="pgclarify worker"
                )
                with contextlib.closing(connection):
                    self._connection = connection
                    connection.execute(queries["pin_session"])
                    connection.execute(queries["prepare_session"])
                    worker_id = _register(connection, self._entry)
                    self._in_loop(_resolve, self._entered, worker_id)
                    self._beat_until_closed(connection, worker_id)
        except PgclarifyError as error:
            self._in_loop(self._end, error)

    def _beat_until_closed(self, connection: _Connection, worker_id: int) -> None:
        while True:
            self._waking.wait(self._pause_seconds)
            self._waking.clear()
            if self._is_closing:
                return
            if time.monotonic() - self._fed_at > _LOOP_PATIENCE_SECONDS:
                continue
            self._beating_since = time.monotonic()
            try:
                self._beat(connection, worker_id)
            except DatabaseBusy as busy:
                # There is time for the next heartbeat before the lease ends.
                _logger.warning("a heartbeat failed: %s", busy.message)
            finally:
                self._beating_since = None

    def _beat(self, connection: _Connection, worker_id: int) -> None:
        with translated():
            if self._check is not None and not self._check(connection):
                self._in_loop(self.outdated.set)
            parameters = {"worker_id": worker_id, "embedding_models": self._embedding_models}
            row = connection.execute(statement("note_heartbeat", parameters), parameters).fetchone()
        if row is None or not row["result"]:
            raise ServerUnavailable(
                f"worker {worker_id} counts as dead",
                detail="It could not send a heartbeat before its lease ended; other workers take over its runs.",
            )

    def _end(self, error: PgclarifyError) -> None:
        for future in (self._entered, self.lost):
            if not future.done():
                future.set_exception(error)
                return

    def _in_loop(self, action: Any, *arguments: Any) -> None:  # noqa: ANN401
        # The loop may be closed already; then nothing waits for this.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(action, *arguments)


def _register(connection: _Connection, entry: dict[str, Any]) -> int:
    while True:
        (registered,) = connection.execute(statement("register_worker", entry), entry).fetchall()
        worker_id = int(registered["result"])
        # Any role may take a lock of this number. With another number, this worker is as safe.
        (lock,) = connection.execute(queries["take_worker_lock"], {"worker_id": worker_id}).fetchall()
        if lock["is_locked"]:
            return worker_id


def _resolve(future: asyncio.Future[int], worker_id: int) -> None:
    if not future.done():
        future.set_result(worker_id)
