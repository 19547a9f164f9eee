"""Each login may fill the queue of notifications. Runs are submitted all the same, and workers find them by polling."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify import embedded
from pgclarify.install.installer import install
from tests.conftest import hurry
from tests.openai_server import Server
from tests.sessions import scalar
from tests.workers import load, submit_many, wait, wait_until_searchable, worker


@pytest.fixture(scope="module")
def small_queue() -> Iterator[str]:
    """A server whose queue of notifications is as small as it can be, with a role that may only connect."""
    # Not tmp_path: pytest closes its parent folder to other users, so the server could not read it.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-") as folder:
        data_dir = Path(folder) / "data"
        try:
            dsn = embedded.start(data_dir)
            with closing(psycopg.connect(dsn, autocommit=True)) as connection:
                connection.execute("alter system set max_notify_queue_pages = 64")
                connection.execute("create role stranger login password 'stranger'")
            hurry(dsn)
            embedded.stop(data_dir)
            embedded.start(data_dir)
            install(dsn)
            with closing(psycopg.connect(dsn, autocommit=True)) as connection:
                load(connection, documents=4)
            yield dsn
        finally:
            embedded.stop(data_dir)


def stranger_of(dsn: str) -> psycopg.Connection[Any]:
    """A session of the role that may only connect."""
    return psycopg.connect(dsn, user="stranger", password="stranger", autocommit=True)  # noqa: S106


@contextmanager
def held_queue(dsn: str) -> Iterator[None]:
    """A stranger listens in a transaction that stays open, so that no notification leaves the queue."""
    with closing(stranger_of(dsn)) as stranger:
        stranger.execute("listen anything")
        stranger.execute("begin")
        stranger.execute("select")
        yield


def fill(dsn: str) -> None:
    """A stranger sends notifications until the queue takes no more."""
    with (
        closing(stranger_of(dsn)) as stranger,
        pytest.raises(psycopg.errors.ProgramLimitExceeded),
    ):
        for number in range(1000):
            stranger.execute("select pg_notify('anything', %s)", [str(number).ljust(7900, "x")])


def test_a_batch_hardly_fills_the_notification_queue(small_queue: str) -> None:
    with held_queue(small_queue), closing(psycopg.connect(small_queue, autocommit=True)) as connection:
        run_ids = submit_many(connection, 2000, "batch")
        assert scalar(connection, "select pg_notification_queue_usage()") < 0.1
        connection.execute("select pgclarify.cancel(%s)", [run_ids])


def test_runs_are_submitted_and_carried_out_while_the_notification_queue_is_full(
    small_queue: str, own_model: Server, tmp_path: Path
) -> None:
    with (
        worker(small_queue, own_model.base_url, tmp_path),
        closing(psycopg.connect(small_queue, autocommit=True)) as connection,
        held_queue(small_queue),
    ):
        wait_until_searchable(connection)
        fill(small_queue)
        run_ids = submit_many(connection, 3)
        run_ids += [
            scalar(connection, "select pgclarify.submit('clarify', %s)", f"alone {number}") for number in range(3)
        ]
        assert wait(connection, run_ids) == ["succeeded"] * 6
