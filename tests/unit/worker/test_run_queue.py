"""The queue takes runs while there is room. Notifications only wake it, with any content and in any number."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

import psycopg
import pytest
from psycopg import Notify

from pgclarify.data.runs import Run
from pgclarify.database.runs import Runs, TakenRun
from pgclarify.errors import DatabaseBusy, ServerUnavailable
from pgclarify.worker import run_queue
from pgclarify.worker.run_queue import RunQueue

CHANNEL = "pgclarify_runs"


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

    async def execute(self, statement: str) -> None:
        self.listened.append(statement)

    async def notifies(self, *, timeout: float) -> AsyncIterator[Notify]:  # noqa: ASYNC109 - psycopg's
        assert (timeout, os.read(self._sent, 2)) == (0, b"x"), "it waits until a notification has come"
        if isinstance(self.batch, Exception):
            raise self.batch
        for payload in self.batch:
            yield Notify(CHANNEL, payload, 1)


class Table(Runs):
    """Stands for the table of runs: so many runs without a waiting caller, and so many with one."""

    def __init__(self, in_background: int = 0, with_caller: int = 0) -> None:
        self.in_background, self.with_caller = in_background, with_caller
        self.looks: asyncio.Queue[None] = asyncio.Queue()
        self.error: Exception | None = None
        self.knows_last = False
        self._taken = 0

    async def take(self, *, only_waited_for: bool) -> TakenRun | None:
        self.looks.put_nowait(None)
        if self.error is not None:
            raise self.error
        is_waited_for = self.with_caller > 0
        if is_waited_for:
            self.with_caller -= 1
        elif only_waited_for or not self.in_background:
            return None
        else:
            self.in_background -= 1
        self._taken += 1
        run = Run(self._taken, 1, "clarify", "rental cars", {}, 1, "all-MiniLM-L6-v2", 384)
        is_last = self.knows_last and not self.in_background and not self.with_caller
        return TakenRun(self._taken, run, is_waited_for, is_of_batch=False, is_last=is_last)

    async def look(self) -> None:
        async with asyncio.timeout(60):
            await self.looks.get()


class Hands:
    """Carries out runs until a test ends them.

    Attributes:
        under_way: Whether a caller waits, by run.
        cut_off: The runs that were cancelled.
    """

    def __init__(self) -> None:
        self.under_way: dict[int, bool] = {}
        self.cut_off: list[int] = []
        self._ends: dict[int, asyncio.Event] = {}

    async def carry_out(self, taken: TakenRun) -> None:
        self.under_way[taken.run_id] = taken.is_waited_for
        self._ends[taken.run_id] = asyncio.Event()
        try:
            await self._ends[taken.run_id].wait()
        except asyncio.CancelledError:
            self.cut_off.append(taken.run_id)
        finally:
            del self.under_way[taken.run_id]

    def end(self, run_id: int) -> None:
        self._ends[run_id].set()


@pytest.fixture
def sender() -> Iterator[Sender]:
    sender = Sender()
    yield sender
    sender.close()


@asynccontextmanager
async def serving(
    sender: Sender,
    table: Table,
    hands: Hands,
    *,
    concurrency: int = 2,
    grace: float = 0.0,
    may_take: Callable[[], bool] = lambda: True,
) -> AsyncIterator[tuple[RunQueue, asyncio.Task[None]]]:
    """Serve, and end it after the block."""
    queue = RunQueue(table, sender.connect, hands.carry_out, concurrency=concurrency, grace=grace, may_take=may_take)
    task = asyncio.create_task(queue.serve())
    yield queue, task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.parametrize("payload", ['{"type": "abort_job_requested", "job_id": 1}', "x", "", "7", "null", "{}"])
async def test_a_notification_of_any_content_makes_the_queue_look(sender: Sender, payload: str) -> None:
    table = Table()
    async with serving(sender, table, Hands()) as (_, task):
        await table.look()
        sender.send([payload])
        await table.look()
        assert (sender.opened, sender.listened) == (1, [f"listen {CHANNEL}"])
        assert not task.done()


@pytest.mark.parametrize(
    "error", [psycopg.OperationalError("gone"), UnicodeDecodeError("ascii", b"\xff", 0, 1, "no"), OSError("gone")]
)
async def test_listening_starts_again_after_any_error_and_logs_it(
    sender: Sender, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    monkeypatch.setattr(run_queue, "_LISTEN_AGAIN_SECONDS", 0.0)
    table = Table()
    async with serving(sender, table, Hands()):
        await table.look()
        sender.send(error)
        # A notification may have come meanwhile.
        await table.look()
        assert sender.opened == 2
    warned = [record.name for record in caplog.records if record.levelname == "WARNING"]
    assert warned == ["pgclarify.worker.run_queue"]


async def test_after_the_last_run_the_queue_looks_when_it_is_woken(sender: Sender) -> None:
    table, hands = Table(with_caller=2), Hands()
    table.knows_last = True
    async with serving(sender, table, hands):
        await settle()
        looks = table.looks.qsize()
        hands.end(1)
        await settle()
        assert table.looks.qsize() == looks
        table.with_caller = 1
        sender.send([""])
        await settle()
        assert list(hands.under_way) == [2, 3]


async def test_a_batch_leaves_room_for_what_is_waited_for(sender: Sender) -> None:
    table, hands = Table(in_background=100), Hands()
    async with serving(sender, table, hands, concurrency=8) as (queue, _):
        await settle()
        assert list(hands.under_way.values()) == [False] * 8
        table.with_caller = 100
        await queue.wake()
        await settle()
        assert sum(hands.under_way.values()) == 2, "it has room for ten runs"


@pytest.mark.parametrize("is_waited_for", [False, True])
async def test_the_next_run_is_taken_when_one_ends(sender: Sender, is_waited_for: bool) -> None:
    table, hands = Table(in_background=100, with_caller=2), Hands()
    async with serving(sender, table, hands):
        await settle()
        assert hands.under_way == {1: True, 2: True, 3: False, 4: False}
        hands.end(1 if is_waited_for else 3)
        table.with_caller = int(is_waited_for)
        await settle()
        # No notification came.
        assert hands.under_way.pop(5) is is_waited_for
        assert len(hands.under_way) == 3


async def test_a_worker_with_nothing_left_to_take_does_not_look_after_a_run(sender: Sender) -> None:
    table, hands = Table(in_background=1), Hands()
    async with serving(sender, table, hands):
        await settle()
        looks = table.looks.qsize()
        hands.end(1)
        await settle()
        assert not hands.under_way
        assert table.looks.qsize() == looks


async def test_no_run_is_taken_beside_one_that_is_carried_out_alone(sender: Sender) -> None:
    """Otherwise that run could be blamed for a crash."""
    table, hands = Table(in_background=3), Hands()
    async with serving(sender, table, hands, may_take=lambda: not hands.under_way):
        await settle()
        assert list(hands.under_way) == [1]
        hands.end(1)
        await settle()
        assert list(hands.under_way) == [2]


async def test_runs_are_taken_at_the_same_time_because_the_server_may_be_far(sender: Sender) -> None:
    class Far(Table):
        waiting, most = 0, 0

        async def take(self, *, only_waited_for: bool) -> TakenRun | None:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            await asyncio.sleep(0)
            self.waiting -= 1
            return await super().take(only_waited_for=only_waited_for)

    table, hands = Far(in_background=100), Hands()
    async with serving(sender, table, hands, concurrency=9):
        await settle()
        assert (len(hands.under_way), table.most) == (9, 4)


async def test_runs_that_were_taken_beside_an_error_or_a_suspect_begin_first(sender: Sender) -> None:
    class Mixed(Table):
        """The second look takes a run that must be carried out alone, and the fourth fails."""

        async def take(self, *, only_waited_for: bool) -> TakenRun | None:
            taken = await super().take(only_waited_for=only_waited_for)
            if taken is not None and taken.run_id == 2:
                return TakenRun(2, None, is_waited_for=False, is_of_batch=False)
            if taken is not None and taken.run_id == 4:
                raise DatabaseBusy("canceling statement due to lock timeout")
            return taken

    hands = Hands()
    async with serving(sender, Mixed(in_background=100), hands, concurrency=20):
        await settle()
        assert list(hands.under_way) == [1, 3, 2, 5, 6, 7]


async def test_a_look_that_fails_for_the_moment_finds_no_run(sender: Sender) -> None:
    table, hands = Table(in_background=1), Hands()
    table.error = DatabaseBusy("canceling statement due to lock timeout")
    async with serving(sender, table, hands) as (queue, task):
        await settle()
        assert not task.done()
        table.error = None
        await queue.wake()
        await settle()
        assert list(hands.under_way) == [1]


async def test_a_run_that_cannot_be_started_now_is_left_for_the_next(
    sender: Sender, caplog: pytest.LogCaptureFixture
) -> None:
    class Refusing(Table):
        async def take(self, *, only_waited_for: bool) -> TakenRun | None:
            if self.looks.empty():
                self.looks.put_nowait(None)
                return TakenRun(7, None, is_waited_for=False, is_of_batch=False, refusal="it needs a language model")
            return await super().take(only_waited_for=only_waited_for)

    hands = Hands()
    async with serving(sender, Refusing(in_background=1), hands):
        await settle()
        assert list(hands.under_way) == [1]
    assert "it needs a language model" in caplog.text


async def test_a_queue_that_stops_lets_its_runs_end_and_takes_no_other(sender: Sender) -> None:
    table, hands = Table(in_background=100), Hands()
    async with serving(sender, table, hands, grace=60) as (queue, task):
        await settle()
        queue.stop()
        hands.end(1)
        await settle()
        assert (list(hands.under_way), task.done()) == ([2], False)
        hands.end(2)
        await asyncio.wait_for(task, 60)
        assert hands.cut_off == []


async def test_runs_are_cut_off_after_the_grace_time(sender: Sender) -> None:
    hands = Hands()
    async with serving(sender, Table(in_background=1), hands, grace=0.01) as (queue, task):
        await settle()
        queue.stop()
        await asyncio.wait_for(task, 60)
        assert hands.cut_off == [1]


async def test_a_queue_that_fails_ends_without_the_grace_time(sender: Sender) -> None:
    """Meanwhile the worker would take no runs."""
    table, hands = Table(in_background=1), Hands()
    async with serving(sender, table, hands, grace=120.0) as (queue, task):
        await settle()
        table.error = ServerUnavailable("server closed the connection unexpectedly")
        await queue.wake()
        with pytest.raises(ServerUnavailable):
            await asyncio.wait_for(task, 60)
        assert hands.cut_off == [1]
