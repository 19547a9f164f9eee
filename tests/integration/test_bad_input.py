"""What goes wrong around a server and a worker: what it says, and whom else it must not touch."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.cli.main import explain, main
from tests.workers import Worker, environment, load, scalar, until

Connection = psycopg.Connection[Any]


@pytest.mark.parametrize(
    ("sqlstate", "sentence"),
    [
        ("53100", "the disk of the database server is full"),
        ("57P01", "the database server went away"),
        ("57P03", "the database server went away"),
        ("42P01", "could not raise pgclarify"),
    ],
)
def test_errors_of_the_server_are_sentences(connection: Connection, sqlstate: str, sentence: str) -> None:
    statement = "do $$ begin raise exception 'could not raise pgclarify' using errcode = '{}', hint = 'h'; end $$"
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(statement.format(sqlstate).encode())
    message, _, hint = explain(caught.value)
    assert message == sentence
    assert hint


@pytest.mark.wording
def test_a_database_without_the_schema_is_told_how_to_get_it(
    make_database: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", make_database())
    for command in (["status"], ["ask", "what"], ["worker"]):
        with pytest.raises(SystemExit) as caught:
            main(command)
        assert caught.value.code == 1
        error = capsys.readouterr().err
        assert error.startswith("Error: pgclarify is not installed in this database")
        assert "Hint: Run: pgclarify init" in error


def test_a_model_that_is_looked_for_without_end_holds_up_no_other_corpus(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    connection.execute("select pgclarify.create_corpus('first', 'no-such/model')")
    connection.execute("select pgclarify.add_document('first', 'd', 'waits')")
    load(connection, "second", documents=2)
    # A model hub that takes connections and never answers. Where the hub is, is read when its library is imported, and
    # the other tests' workers are forked from a process that has done so.
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        hub = {
            "HF_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "HF_HUB_ETAG_TIMEOUT": "600",
            # Which pgclarify doctor sets, and another test may have run it in this process.
            "HF_HUB_OFFLINE": "0",
        }
        silent.settimeout(300)
        with subprocess.Popen(
            [sys.executable, "-m", "pgclarify.cli", "worker"],
            env=environment(database, None) | hub,
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                asked, _ = silent.accept()
                with closing(asked):
                    pending = "select pending from pgclarify.corpus_status where corpus = %s"
                    until(lambda: scalar(connection, pending, "second") == 0)
                    assert scalar(connection, pending, "first") == 1
            finally:
                process.kill()


def test_a_model_that_does_not_exist_is_told_and_its_documents_wait(
    database: str, connection: Connection, run_worker: Callable[..., Worker]
) -> None:
    connection.execute("select pgclarify.create_corpus('first', '/no/such/model')")
    connection.execute("select pgclarify.add_document('first', 'd', 'waits')")
    run_worker(database)
    error = until(lambda: scalar(connection, "select error from pgclarify.corpus_status"))
    assert "/no/such/model" in error
    run_id = scalar(connection, "select pgclarify.submit('what waits', 'first')")
    outcome = connection.execute("select status, error from pgclarify.wait(%s)", [[run_id]]).fetchone()
    assert outcome == ("failed", f"the corpus cannot be searched: {error}")
    assert scalar(connection, "select pending from pgclarify.corpus_status") == 1
