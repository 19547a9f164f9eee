"""The task queue. Only this module uses procrastinate."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime
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
from pgclarify.errors import DatabaseBusy, DatabaseError, RunLost, RunPostponed, ServerUnavailable

_logger = logging.getLogger(__name__)

_QUEUE = "runs"
_TASK = "carry_out_run"
# Notifications announce new jobs at once. Jobs whose notification was lost with a connection, and jobs that were put
# back for a while, are found when due_work names them, which also wakes the worker.
_POLL_SECONDS = 60.0
_HEARTBEAT_SECONDS = 5.0
# Only presence decides which workers are alive. Otherwise the queue would take jobs from a worker with a busy event
# loop.
_FORGOTTEN_SECONDS = 86400.0
# Longest delay before a job is retried after a temporary failure. A job that was already put back often may wait
# longer. The delay is random, so that two workers do not keep colliding on one job.
_LONGEST_PAUSE_SECONDS = 4
_OFTEN, _LONGEST_PAUSE_SECONDS_OF_OFTEN = 10, 60
# Without the database, jobs cannot be put back, and the worker must restart without a long wait.
_CONNECTION_SECONDS = 10.0
# pg_temp is last, because a user may create any temporary table.
_SEARCH_PATH = {"search_path": "pgclarify_queue,pg_catalog,pg_temp"}
# A batch is queued in one statement. Until the statistics include it, the planner would sort the whole batch for each
# job.
SESSION_SETTINGS = {"enable_sort": "off"}
# Connections of the pool that fetches jobs and marks them as done. One more connection listens.
_MOST_CONNECTIONS = 4
# A worker carries out this many more runs than a batch may use. They are reserved for runs with a waiting caller.
_LEAST_KEPT, _KEPT_SHARE = 2, 4
# The tables are read at most once in this time, for any number of notifications.
_WAKE_SECONDS = 0.05
# A server that refuses at once must not fill the log.
_LISTEN_AGAIN_SECONDS = 1.0

# procrastinate logs every job twice at INFO.
logging.getLogger("procrastinate").setLevel(logging.WARNING)


# Reasons to put back a job that need no traceback in the log.
_EXPECTED = (asyncio.CancelledError, ServerUnavailable, DatabaseBusy, RunPostponed)


class CarryOut(Protocol):
    """Carries out a run."""

    async def __call__(self, run_id: int, *, is_waited_for: bool, is_of_batch: bool) -> None:
        """Carry out a run.

        Args:
            run_id: Its id.
            is_waited_for: Whether a caller waits for its answer.
            is_of_batch: Whether it was asked together with others.
        """


class _WhenUnfinished(procrastinate.BaseRetryStrategy):
    """Puts back a job whose run is not over. All replies that it paid for are stored."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> procrastinate.RetryDecision | None:
        if isinstance(exception, RunLost):
            return None
        if isinstance(exception, asyncio.CancelledError | ServerUnavailable | RunPostponed):
            pause = 0
        else:
            # A job that failed would wait until this worker has ended, because the run is running and its worker lives.
            is_often = job.attempts >= _OFTEN
            pause = 1 + secrets.randbelow(_LONGEST_PAUSE_SECONDS_OF_OFTEN if is_often else _LONGEST_PAUSE_SECONDS)
        _logger.warning(
            "job %s is put back: %s",
            job.id,
            exception or "it was cut off",
            exc_info=None if isinstance(exception, _EXPECTED) else exception,
        )
        return procrastinate.RetryDecision(retry_in={"seconds": pause}) if pause else procrastinate.RetryDecision()


class _OwnJobs(JobManager):
    """Ends jobs and puts them back only while this worker has them. A worker that was suspended may have lost them.

    It takes only some jobs without a waiting caller at once, so that a batch leaves room for calls that wait.

    It does not trust notifications, because every role that can connect may send any. A notification only wakes the
    worker, which then reads the tables.

    Args:
        connector: The connector of procrastinate.
        connect: Opens the connection that listens, in autocommit.
        most_in_background: Most jobs without a waiting caller that it has at once.
        may_take: Returns whether the worker may take a job now.
    """

    def __init__(
        self,
        connector: BaseConnector,
        connect: Callable[[], AbstractAsyncContextManager[psycopg.AsyncConnection[Any]]],
        *,
        most_in_background: int,
        may_take: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(connector)
        self._connect = connect
        self._may_take = may_take
        self._heard = asyncio.Event()
        self._most_in_background = most_in_background
        self._in_background: set[int | None] = set()
        self._waited_for: set[int | None] = set()
        self._unsettled: list[dict[str, Any]] = []

    def is_waited_for(self, job: Job) -> bool:
        """Return whether a caller waits for a job that this worker has taken."""
        return job.id in self._waited_for

    def wake(self) -> None:
        """Make the worker read the tables, like a notification."""
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
            # The worker takes the next job of the table. It ignores this id.
            await on_notification(channel="", notification=JobInserted(type="job_inserted", job_id=0))
            await asyncio.sleep(_WAKE_SECONDS)

    async def _listen(self, channels: list[str]) -> None:
        while True:
            try:
                async with self._connect() as connection:
                    for channel in channels:
                        await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
                    # Earlier notifications were missed.
                    self.wake()
                    while True:
                        await _readable(connection)
                        async for _ in connection.notifies(timeout=0):
                            self.wake()
            except Exception as error:  # whatever it is: without a listener, jobs would wait to be polled
                _logger.warning("no notifications of the queue, listening again: %s", error)
            await asyncio.sleep(_LISTEN_AGAIN_SECONDS)

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        # due_work wakes the worker again while jobs are due.
        if not self._may_take():
            return None
        try:
            with _translated_queue():
                rows = await self.connector.execute_query_all_async(
                    query=queries["take_job"],
                    worker_id=worker_id,
                    only_waited_for=len(self._in_background) >= self._most_in_background,
                )
        except DatabaseBusy as busy:
            # With an error, the worker would stop.
            _logger.warning("a worker takes its next run later: %s", busy.message)
            return None
        if not rows:
            return None
        job = Job.from_row(rows[0])
        (self._waited_for if rows[0]["is_waited_for"] else self._in_background).add(job.id)
        return job

    def _let_go(self, job: Job) -> None:
        self._waited_for.discard(job.id)
        if job.id in self._in_background:
            self._in_background.remove(job.id)
            # The worker may have stopped reading before the last job, and no notification will come for the rest.
            if len(self._in_background) == self._most_in_background - 1:
                self.wake()

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        await self._leave(job, {"query": queries["end_own_job"], "status": status.value, "delete_job": delete_job})

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        # The database compares with its own clock, and this machine's clock may differ.
        pause = retry_at and max(0.0, (retry_at - datetime.now(UTC)).total_seconds())
        await self._leave(job, {"query": queries["retry_own_job"], "pause_seconds": pause})

    async def _leave(self, job: Job, statement: dict[str, Any]) -> None:
        """End a job, or put it back. If the database refuses, settle() tries again."""
        self._let_go(job)
        statement |= {"job_id": job.id, "worker_id": job.worker_id, "attempts": job.attempts}
        try:
            with _translated_queue():
                await self.connector.execute_query_async(**statement)
        except DatabaseError as error:
            # Otherwise the job would stay taken until this worker has ended.
            self._unsettled.append(statement)
            _logger.warning("job %s cannot be ended or put back, trying again: %s", job.id, error.message)

    async def settle(self) -> None:
        """Try again to end jobs, or to put them back.

        Raises:
            DatabaseError: If the database still refuses.
        """
        while self._unsettled:
            with _translated_queue():
                await self.connector.execute_query_async(**self._unsettled[0])
            del self._unsettled[0]


@contextmanager
def _translated_queue() -> Iterator[None]:
    """Raise our own exceptions instead of the queue's.

    Raises:
        ServerUnavailable: If the connection broke, or could not be opened.
        DatabaseError: For any other error of the server.
    """
    with translated():
        try:
            yield
        except ConnectorException as error:
            # The queue wraps every database error in an error of its own.
            if isinstance(error.__cause__, psycopg.Error):
                raise error.__cause__ from None
            raise


async def _readable(connection: psycopg.AsyncConnection[Any]) -> None:
    """Wait until the server sends something or closes; psycopg itself would check ten times a second."""
    loop, sent = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection.fileno(), sent.set)
    try:
        await sent.wait()
    finally:
        loop.remove_reader(connection.fileno())


class Queue:
    """The jobs of a worker. Each job carries out one run.

    Args:
        app: The open app of procrastinate.
        wake: Makes the worker read the tables.
        settle: Tries again to end jobs that the database has refused to end.
        concurrency: Most runs at once, including runs with a waiting caller.
        grace: Seconds in which current runs may finish when the queue is stopped.
    """

    def __init__(
        self,
        app: procrastinate.App,
        wake: Callable[[], None],
        settle: Callable[[], Awaitable[None]],
        *,
        concurrency: int,
        grace: float,
    ) -> None:
        self._wake = wake
        self._settle = settle
        self._grace = grace
        self._worker = Worker(
            app,
            queues=[_QUEUE],
            concurrency=concurrency,
            fetch_job_polling_interval=_POLL_SECONDS,
            update_heartbeat_interval=_HEARTBEAT_SECONDS,
            stalled_worker_timeout=_FORGOTTEN_SECONDS,
            # A worker whose queue failed starts over at once. stop() gives the current runs their time.
            shutdown_graceful_timeout=0,
            # The table run has the result of a run. A job that remains in the queue is a bug of ours.
            delete_jobs="successful",
            install_signal_handlers=False,
        )

    @property
    def worker_id(self) -> int | None:
        """Return the queue's id of this worker; None before and after it serves."""
        return self._worker.worker_id

    async def wake(self) -> None:
        """Take jobs soon, because some are due."""
        self._wake()

    async def settle(self) -> None:
        """Try again to end jobs, or to put them back, where the database has refused it.

        Raises:
            DatabaseError: If the database still refuses.
        """
        await self._settle()

    async def serve(self) -> None:
        """Take jobs until stopped.

        Raises:
            ServerUnavailable: If the connection breaks.
        """
        with _translated_queue():
            await self._worker.run()

    def stop(self) -> None:
        """Take no more jobs. Current jobs may finish within the grace time."""
        self._worker.shutdown_graceful_timeout = self._grace
        self._worker.stop()


@asynccontextmanager
async def open_queue(
    dsn: str,
    carry_out: CarryOut,
    connections: Connections,
    *,
    concurrency: int,
    grace: float,
    may_take: Callable[[], bool] = lambda: True,
) -> AsyncIterator[Queue]:
    """Open the queue.

    Args:
        dsn: Connection string without a pooler, because notifications do not pass a pooler in transaction mode.
        carry_out: Carries out the run of an id. It must be safe to repeat: it is repeated soon after a shutdown, a
            ServerUnavailable, a RunPostponed or, with a pause, any other exception but RunLost. After RunLost, it is
            repeated when no worker carries out the run.
        connections: Keeps the connections of the queue, so that they can be cut.
        concurrency: Most runs without a waiting caller at once. Some more runs are possible if a caller waits for them.
        grace: Seconds in which current runs may finish when the queue is stopped.
        may_take: Returns whether the worker may take a run now.

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
            # Each call is one statement. BEGIN and COMMIT would make it three.
            kwargs={"autocommit": True},
        )
    )

    @asynccontextmanager
    async def connect() -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connections.prepare(connection)
            yield connection

    app.job_manager = own_jobs = _OwnJobs(app.connector, connect, most_in_background=concurrency, may_take=may_take)

    @app.task(name=_TASK, queue=_QUEUE, retry=_WhenUnfinished(), pass_context=True)
    async def carry_out_run(context: procrastinate.JobContext, run_id: int) -> None:
        # Jobs of a batch have priority 0.
        await carry_out(
            run_id, is_waited_for=own_jobs.is_waited_for(context.job), is_of_batch=context.job.priority == 0
        )

    with _translated_queue():
        await app.open_async()
    try:
        kept = max(_LEAST_KEPT, concurrency // _KEPT_SHARE)
        yield Queue(app, own_jobs.wake, own_jobs.settle, concurrency=concurrency + kept, grace=grace)
    finally:
        await app.close_async()
