"""The commands ask and investigate without a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psycopg
import pytest

import pgclarify
from pgclarify.cli.main import main
from tests.integration.by_hand import Hire, scalar
from tests.workers import until

QUESTION = "Who made the bridge over the Ure?"
# The caller learns the id of its run only with the answer.
IS_WAITING = """
    select
        exists (select from pgclarify.run)
        and not exists (
            select from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and query ~ 'pgclarify.submit'
        )
"""


@pytest.fixture
def corpus(database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    with pgclarify.connect(database) as client:
        client.create_corpus("bridges")
    return database


def investigate(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["investigate", QUESTION, *arguments])
    return int(caught.value.code or 0)


def status(dsn: str) -> str:
    with psycopg.connect(dsn) as connection:
        return str(scalar(connection, "select status from pgclarify.run"))


def test_without_a_worker_it_gives_up(corpus: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert investigate() == 1
    assert "No worker is running" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["ask", "investigate"])
def test_interrupted_it_cancels_and_says_so(corpus: str, hire: Hire, command: str) -> None:
    hire()
    arguments = [sys.executable, "-m", "pgclarify.cli", command, QUESTION]
    with (
        subprocess.Popen(arguments, env={**os.environ}, stderr=subprocess.PIPE, text=True) as process,
        psycopg.connect(corpus, autocommit=True) as connection,
    ):
        until(lambda: connection.execute(IS_WAITING).fetchone() == (True,))
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert "Cancelled" in told
    assert "what was paid for is kept." in told
    assert status(corpus) == "cancelled"


def test_when_the_time_is_up_the_run_goes_on(corpus: str, hire: Hire, capsys: pytest.CaptureFixture[str]) -> None:
    hire()
    assert investigate("--timeout", "0.2") == 1
    assert "did not come within" in capsys.readouterr().err
    assert status(corpus) == "queued"
