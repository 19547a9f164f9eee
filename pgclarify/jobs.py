"""The task queue: the one module that knows procrastinate."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import datetime
from typing import Any, Protocol

import procrastinate
import psycopg
from procrastinate.connector import BaseConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, JobInserted, Status
from procrastinate.manager import JobManager, NotificationCallback, get_channel_for_queues
from procrastinate.worker import Worker
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgclarify.database.connections import Connections, with_keepalives
from pgclarify.database.errors import translated
from pgclarify.database.queries import queries
from pgclarify.errors import DatabaseBusy, ServerUnavailable

_logger = logging.getLogger(__name__)

_QUEUE = "runs"
_TASK = "carry_out_run"
# Notifications bring jobs at once. Those that a broken connection swallowed, and those that were put back for a while,
# are found when due_work names them, which wakes the worker, too.
_POLL_SECONDS = 60.0
_HEARTBEAT_SECONDS = 5.0
# Presence alone says who is alive. The queue would otherwise disown the jobs of a worker whose event loop is busy.
_FORGOTTEN_SECONDS = 86400.0
# After something that passes, at most so long; what was put back this often already may wait for longer. Drawn, or
# workers of one pace would meet over the same job for ever.
_LONGEST_PAUSE_SECONDS = 4
_OFTEN, _LONGEST_PAUSE_SECONDS_OF_OFTEN = 10, 60
# When the database is gone, jobs cannot be put back, and a worker that is to start over does not wait for long.
_CONNECTION_SECONDS = 10.0
# A temporary table, which could be somebody's, comes last.
_SEARCH_PATH = {"search_path": "pgclarify_queue,pg_catalog,pg_temp"}
# A batch is queued in one statement, and until statistics know of it, the planner would sort all of it for each job.
SESSION_SETTINGS = {"enable_sort": "off"}
# Of the pool, which fetches jobs and marks them done. One more listens.
_MOST_CONNECTIONS = 4
# Of the runs that a worker carries out at once, so many more than a batch gets are for calls that somebody waits for.
_LEAST_KEPT, _KEPT_SHARE = 2, 4
# However many notifications come in, the tables are looked at no more often.
_WAKE_SECONDS = 0.05
# So that a server that refuses at once does not fill the log.
_LISTEN_AGAIN_SECONDS = 1.0

# It reports every job at INFO, twice.
logging.getLogger("procrastinate").setLevel(logging.WARNING)


class CarryOut(Protocol):
    """Carries out a run."""

    async def __call__(self, run_id: int, *, is_waited_for: bool) -> None:
        """Carry out the run of an id; is_waited_for: whether somebody waits for its answer."""


class _WhenInterrupted(procrastinate.BaseRetryStrategy):
    """Puts a job back that was cut off: by a shutdown, or by the database. Nothing that it paid for is lost."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> procrastinate.RetryDecision | None:
        if isinstance(exception, DatabaseBusy):
            is_often = job.attempts >= _OFTEN
            pause = 1 + secrets.randbelow(_LONGEST_PAUSE_SECONDS_OF_OFTEN if is_often else _LONGEST_PAUSE_SECONDS)
        elif isinstance(exception, asyncio.CancelledError | ServerUnavailable):
            pause = 0
        else:
            return None
        _logger.warning("job %s is put back: %s", job.id, exception or "it was cut off")
        return procrastinate.RetryDecision(retry_in={"seconds": pause})


class _OwnJobs(JobManager):
    """Ends jobs and puts them back only while this worker has them: one that slept may have lost them meanwhile.

    Takes only some jobs without a waiting caller at once, so that a batch leaves room for calls that wait.

    Believes no notification, since every role that can connect may send any: each one only wakes the worker, which
    looks at the tables.

    Args:
        connector: procrastinate's.
        connect: Opens the connection that listens, in autocommit.
        most_in_background: Most jobs without a waiting caller that it has at once.
    """

    def __init__(
        self,
        connector: BaseConnector,
        connect: Callable[[], AbstractAsyncContextManager[psycopg.AsyncConnection[Any]]],
        *,
        most_in_background: int,
    ) -> None:
        super().__init__(connector)
        self._connect = connect
        self._heard = asyncio.Event()
        self._most_in_background = most_in_background
        self._in_background: set[int | None] = set()
        self._waited_for: set[int | None] = set()

    def is_waited_for(self, job: Job) -> bool:
        """Tell whether somebody waits for a job that this worker has taken."""
        return job.id in self._waited_for

    def wake(self) -> None:
        """Have the worker look at the tables, as a notification does."""
        self._heard.set()

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen(list(get_channel_for_queues(queues))))
            group.create_task(self._pass_on(on_notification))

    async def _pass_on(self, on_notification: NotificationCallback) -> None:
        while True:
            await self._heard.wait()
            self._heard.clear()
            # The worker takes the next job of the table, whatever the id.
            await on_notification(channel="", notification=JobInserted(type="job_inserted", job_id=0))
            await asyncio.sleep(_WAKE_SECONDS)

    async def _listen(self, channels: list[str]) -> None:
        while True:
            try:
                async with self._connect() as connection:
                    for channel in channels:
                        await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
                    # What came before was not heard.
                    self.wake()
                    while True:
                        await _readable(connection)
                        async for _ in connection.notifies(timeout=0):
                            self.wake()
            except Exception as error:  # whatever it is: without a listener, jobs would wait to be polled
                _logger.warning("no notifications of the queue, listening again: %s", error)
            await asyncio.sleep(_LISTEN_AGAIN_SECONDS)

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        rows = await self.connector.execute_query_all_async(
            query=queries["take_job"],
            worker_id=worker_id,
            only_waited_for=len(self._in_background) >= self._most_in_background,
        )
        if not rows:
            return None
        job = Job.from_row(rows[0])
        (self._waited_for if rows[0]["is_waited_for"] else self._in_background).add(job.id)
        return job

    def _let_go(self, job: Job) -> None:
        self._waited_for.discard(job.id)
        if job.id in self._in_background:
            self._in_background.remove(job.id)
            # The worker may have stopped looking although there are more, and no notification will come for them.
            if len(self._in_background) == self._most_in_background - 1:
                self.wake()

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        self._let_go(job)
        await self.connector.execute_query_async(
            query=queries["end_own_job"],
            job_id=job.id,
            worker_id=job.worker_id,
            attempts=job.attempts,
            status=status.value,
            delete_job=delete_job,
        )

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        self._let_go(job)
        await self.connector.execute_query_async(
            query=queries["retry_own_job"],
            job_id=job.id,
            worker_id=job.worker_id,
            attempts=job.attempts,
            retry_at=retry_at,
        )


@contextmanager
def _translated_queue() -> Iterator[None]:
    """Raise our own exceptions in place of the queue's.

    Raises:
        ServerUnavailable: If the connection broke, or could not be had.
        DatabaseError: For any other error of the server.
    """
    with translated():
        try:
            yield
        except ConnectorException as error:
            # The queue wraps every error of the database in one of its own.
            if isinstance(error.__cause__, psycopg.Error):
                raise error.__cause__ from None
            raise


async def _readable(connection: psycopg.AsyncConnection[Any]) -> None:
    """Wait until the server has sent something, or has gone; psycopg itself would look ten times a second."""
    loop, sent = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection.fileno(), sent.set)
    try:
        await sent.wait()
    finally:
        loop.remove_reader(connection.fileno())


class Queue:
    """Jobs, each carrying out one run.

    Args:
        app: procrastinate's app, open.
        wake: Has the worker look at the tables.
        concurrency: Most runs in hand at once, those included that somebody waits for.
        grace: Seconds that runs in hand get to finish when the queue is stopped.
    """

    def __init__(self, app: procrastinate.App, wake: Callable[[], None], *, concurrency: int, grace: float) -> None:
        self._wake = wake
        self._worker = Worker(
            app,
            queues=[_QUEUE],
            concurrency=concurrency,
            fetch_job_polling_interval=_POLL_SECONDS,
            update_heartbeat_interval=_HEARTBEAT_SECONDS,
            stalled_worker_timeout=_FORGOTTEN_SECONDS,
            shutdown_graceful_timeout=grace,
            # What a run came to stands in the table run; a job that stays is one of our own mistakes.
            delete_jobs="successful",
            install_signal_handlers=False,
        )

    @property
    def worker_id(self) -> int | None:
        """What the queue calls this worker; None before and after it serves."""
        return self._worker.worker_id

    async def wake(self) -> None:
        """Take jobs soon: some are due."""
        self._wake()

    async def serve(self) -> None:
        """Take jobs until stopped.

        Raises:
            ServerUnavailable: If the connection breaks.
        """
        with _translated_queue():
            await self._worker.run()

    def stop(self) -> None:
        """Take no more jobs; those in hand get their grace."""
        self._worker.stop()


@asynccontextmanager
async def open_queue(
    dsn: str,
    carry_out: CarryOut,
    connections: Connections,
    *,
    concurrency: int,
    grace: float,
) -> AsyncIterator[Queue]:
    """Open the queue.

    Args:
        dsn: Connection string; direct, since notifications do not pass a pooler in transaction mode.
        carry_out: Carries out the run of an id; it is told whether somebody waits for it. Safe to repeat: it is
            repeated after a shutdown, a ServerUnavailable or a DatabaseBusy at once, and after any other exception as
            soon as no worker carries the run out.
        connections: Where those of the queue are kept, so that they can be cut.
        concurrency: Most runs without a waiting caller at once. There is room for some more that a caller waits for.
        grace: Seconds that runs in hand get to finish when the queue is stopped.

    Raises:
        ServerUnavailable: If there is no connection.
    """
    conninfo = make_conninfo(
        with_keepalives(dsn),
        application_name="pgclarify queue",
        options=" ".join(f"-c {name}={value}" for name, value in (_SEARCH_PATH | SESSION_SETTINGS).items()),
    )
    app = procrastinate.App(
        connector=procrastinate.PsycopgConnector(
            conninfo=conninfo,
            min_size=1,
            max_size=_MOST_CONNECTIONS,
            timeout=_CONNECTION_SECONDS,
            configure=connections.prepare,
            # Each call is one statement: BEGIN and COMMIT around it would make three of it.
            kwargs={"autocommit": True},
        )
    )

    @asynccontextmanager
    async def connect() -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connections.prepare(connection)
            yield connection

    app.job_manager = own_jobs = _OwnJobs(app.connector, connect, most_in_background=concurrency)

    @app.task(name=_TASK, queue=_QUEUE, retry=_WhenInterrupted(), pass_context=True)
    async def carry_out_run(context: procrastinate.JobContext, run_id: int) -> None:
        await carry_out(run_id, is_waited_for=own_jobs.is_waited_for(context.job))

    with _translated_queue():
        await app.open_async()
    try:
        kept = max(_LEAST_KEPT, concurrency // _KEPT_SHARE)
        yield Queue(app, own_jobs.wake, concurrency=concurrency + kept, grace=grace)
    finally:
        await app.close_async()
