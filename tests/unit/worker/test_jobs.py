"""Notifications only wake the worker, with any content, in any number, and after any end of the listening."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

import procrastinate
import psycopg
import pytest
from procrastinate.connector import BaseConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Notification, Status
from procrastinate.manager import JobManager
from procrastinate.testing import InMemoryConnector
from psycopg import Notify

from pgclarify.errors import DatabaseBusy, DatabaseError, RunLost, RunPostponed, ServerUnavailable
from pgclarify.worker import jobs

CHANNEL = "procrastinate_queue_v1#runs"
ABORT = '{"type": "abort_job_requested", "job_id": 1}'


class Sender:
    """A fake server: connection after connection, each with the notifications or the exception that a test sets."""

    def __init__(self) -> None:
        self.opened = 0
        self.listened: list[str] = []
        self.batch: list[str] | Exception = []
        self._sent, self._sending = os.pipe()

    def send(self, batch: list[str] | Exception) -> None:
        self.batch = batch
        os.write(self._sending, b"x")

    def fileno(self) -> int:
        return self._sent

    def close(self) -> None:
        os.close(self._sent)
        os.close(self._sending)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        self.opened += 1
        yield cast("psycopg.AsyncConnection[Any]", self)

    async def execute(self, statement: psycopg.sql.Composed) -> None:
        self.listened.append(statement.as_string())

    async def notifies(self, *, timeout: float) -> AsyncIterator[Notify]:  # noqa: ASYNC109 - psycopg's
        assert (timeout, os.read(self._sent, 2)) == (0, b"x"), "it waits until a notification has come"
        if isinstance(self.batch, Exception):
            raise self.batch
        for payload in self.batch:
            yield Notify(CHANNEL, payload, 1)


class Woken:
    """The notifications that the worker got, and an event for the next one."""

    def __init__(self) -> None:
        self.notifications: list[Notification] = []
        self.again: asyncio.Queue[None] = asyncio.Queue()

    async def __call__(self, *, channel: str, notification: Notification) -> None:
        self.notifications.append(notification)
        self.again.put_nowait(None)

    async def once_more(self) -> None:
        async with asyncio.timeout(60):
            await self.again.get()


@pytest.fixture
def sender() -> Iterator[Sender]:
    sender = Sender()
    yield sender
    sender.close()


@pytest.fixture
async def woken(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Woken]:
    """The wake-ups of a worker that listens. It has polled the tables once, when it started to listen."""
    monkeypatch.setattr(jobs, "_LISTEN_AGAIN_SECONDS", 0.0)
    woken = Woken()
    manager = jobs._OwnJobs(BaseConnector(), sender.connect, most_in_background=1)
    listening = asyncio.create_task(manager.listen_for_jobs(on_notification=woken, queues=["runs"]))
    await woken.once_more()
    yield woken
    assert not listening.done()
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


@pytest.mark.parametrize("payload", [ABORT, "x", "", "7", "null", "{}"])
async def test_nothing_in_a_notification_is_believed(sender: Sender, woken: Woken, payload: str) -> None:
    sender.send([payload])
    await woken.once_more()
    assert [notification["type"] for notification in woken.notifications] == ["job_inserted"] * 2
    assert (sender.opened, sender.listened) == (1, [f'listen "{CHANNEL}"'])


async def test_a_flood_wakes_once(sender: Sender, woken: Woken) -> None:
    sender.send([ABORT] * 10_000)
    await woken.once_more()
    sender.send([ABORT])
    await woken.once_more()
    assert len(woken.notifications) == 3


@pytest.mark.parametrize(
    "error", [psycopg.OperationalError("gone"), UnicodeDecodeError("ascii", b"\xff", 0, 1, "no"), OSError("gone")]
)
async def test_listening_starts_again_after_any_error_and_logs_it(
    sender: Sender, woken: Woken, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    sender.send(error)
    # A notification may have come meanwhile.
    await woken.once_more()
    assert sender.opened == 2
    assert [record.name for record in caplog.records if record.levelname == "WARNING"] == ["pgclarify.worker.jobs"]


def test_a_server_that_goes_is_unavailable_also_where_the_queue_says_it_otherwise() -> None:
    """This error restarts the worker; any other error would end it."""
    with pytest.raises(ServerUnavailable), jobs._translated_queue():
        raise ConnectorException from psycopg.OperationalError("server closed the connection unexpectedly")


class Table(BaseConnector):
    """A fake table of jobs. A job with a waiting caller comes when the test says so. All other jobs never end."""

    def __init__(self) -> None:
        self.has_waited_for = False
        self.taken = 0
        self.sent: list[dict[str, Any]] = []

    async def execute_query_all_async(self, query: str, **arguments: Any) -> list[dict[str, Any]]:
        if arguments["only_waited_for"] and not self.has_waited_for:
            return []
        self.taken += 1
        job = dict.fromkeys(("lock", "queueing_lock", "scheduled_at"))
        job |= {"id": self.taken, "status": "doing", "priority": 0, "task_name": "", "args": {}, "queue_name": "runs"}
        return [job | {"attempts": 0, "is_waited_for": self.has_waited_for}]

    async def execute_query_async(self, query: str, **arguments: Any) -> None:
        """End a job, or put it back."""
        self.sent.append(arguments)


@pytest.mark.parametrize("how", ["finish", "retry"])
async def test_a_batch_leaves_room_for_what_is_waited_for(sender: Sender, how: str) -> None:
    table = Table()
    manager = jobs._OwnJobs(table, sender.connect, most_in_background=2)

    async def take() -> Job | None:
        return await manager.fetch_job(["runs"], 1)

    first, second = await take(), await take()
    assert first is not None
    assert second is not None
    assert await take() is None, "there are more jobs, but without a waiting caller"
    table.has_waited_for = True
    person = await take()
    assert person is not None
    assert [manager.is_waited_for(job) for job in (first, person)] == [False, True]

    assert not manager._heard.is_set()
    if how == "finish":
        await manager.finish_job(first, Status.SUCCEEDED, True)
    else:
        await manager.retry_job(first)
    assert manager._heard.is_set(), "no notification will come for the remaining jobs"
    table.has_waited_for = False
    assert await take() is not None


async def test_a_fetch_that_fails_for_the_moment_finds_no_job(sender: Sender) -> None:
    class Locked(BaseConnector):
        async def execute_query_all_async(self, query: str, **arguments: Any) -> list[dict[str, Any]]:
            raise ConnectorException from psycopg.errors.LockNotAvailable("canceling statement due to lock timeout")

    manager = jobs._OwnJobs(Locked(), sender.connect, most_in_background=1)
    assert await manager.fetch_job(["runs"], 1) is None


async def test_a_worker_that_may_take_no_job_reads_none(sender: Sender) -> None:
    table = Table()
    manager = jobs._OwnJobs(table, sender.connect, most_in_background=1, may_take=lambda: False)
    assert await manager.fetch_job(["runs"], 1) is None
    assert table.taken == 0


@pytest.mark.parametrize(
    ("error", "pause"),
    [
        (asyncio.CancelledError(), None),
        (ServerUnavailable("it is gone"), None),
        (RunPostponed("another run is carried out alone"), None),
        (DatabaseBusy("a deadlock"), (0, 1 + jobs._LONGEST_PAUSE_SECONDS)),
        (DatabaseError("the end of the run was refused"), (0, 1 + jobs._LONGEST_PAUSE_SECONDS)),
    ],
)
async def test_how_long_a_job_that_is_put_back_waits(
    sender: Sender, error: BaseException, pause: tuple[int, int] | None
) -> None:
    table = Table()
    manager = jobs._OwnJobs(table, sender.connect, most_in_background=1)
    job = await manager.fetch_job(["runs"], 1)
    assert job is not None
    decision = jobs._WhenUnfinished().get_retry_decision(exception=error, job=job)
    assert decision is not None
    await manager.retry_job(job, decision.retry_at)
    (sent,) = table.sent
    if pause is None:
        assert sent["pause_seconds"] is None
    else:
        assert pause[0] < sent["pause_seconds"] <= pause[1]


async def test_a_job_of_a_run_that_another_worker_has_is_not_put_back(sender: Sender) -> None:
    manager = jobs._OwnJobs(Table(), sender.connect, most_in_background=1)
    job = await manager.fetch_job(["runs"], 1)
    assert job is not None
    assert jobs._WhenUnfinished().get_retry_decision(exception=RunLost("taken over"), job=job) is None


@pytest.mark.parametrize("error", [psycopg.errors.DeadlockDetected(), psycopg.OperationalError("closed")])
async def test_a_job_that_cannot_be_put_back_is_put_back_later(sender: Sender, error: psycopg.Error) -> None:
    """Otherwise it would stay taken until the worker has ended."""

    class Refusing(Table):
        refuses = True

        async def execute_query_async(self, query: str, **arguments: Any) -> None:
            if self.refuses:
                raise ConnectorException from error
            await super().execute_query_async(query, **arguments)

    table = Refusing()
    manager = jobs._OwnJobs(table, sender.connect, most_in_background=1)
    job = await manager.fetch_job(["runs"], 1)
    assert job is not None
    await manager.retry_job(job)
    with pytest.raises(DatabaseError):
        await manager.settle()
    table.refuses = False
    for _ in range(2):
        await manager.settle()
    assert [sent["job_id"] for sent in table.sent] == [job.id]


async def test_a_queue_that_fails_ends_without_the_grace_time() -> None:
    """Meanwhile the worker would take no runs."""
    started = asyncio.Event()
    app = procrastinate.App(connector=InMemoryConnector())

    @app.task(name="endless", queue="runs")
    async def endless() -> None:
        started.set()
        await asyncio.Event().wait()

    class Failing(JobManager):
        async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
            if started.is_set():
                raise ConnectorException from psycopg.OperationalError("server closed the connection unexpectedly")
            return await super().fetch_job(queues, worker_id)

    app.job_manager = Failing(app.connector)

    async def settle() -> None:
        """Nothing is left."""

    queue = jobs.Queue(app, lambda: None, settle, concurrency=2, grace=120.0)
    async with app.open_async():
        await endless.defer_async()
        async with asyncio.timeout(60):
            with pytest.raises(ServerUnavailable):
                serving = asyncio.create_task(queue.serve())
                await started.wait()
                queue._worker._new_job_event.set()
                await serving
