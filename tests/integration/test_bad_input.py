"""Bad input to a server and a worker: the error, and that other users are not affected."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from pgclarify.cli.main import explain, main
from tests.integration.by_hand import Connection
from tests.workers import Worker, scalar, until


@pytest.mark.parametrize("sqlstate", ["53100", "57P01", "57P03", "42P01"])
def test_errors_of_the_server_have_its_words_and_a_hint(connection: Connection, sqlstate: str) -> None:
    statement = "do $$ begin raise exception 'could not raise pgclarify' using errcode = '{}', hint = 'h'; end $$"
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(statement.format(sqlstate).encode())
    message, _, hint = explain(caught.value)
    assert message == "could not raise pgclarify"
    assert hint


def test_a_database_without_the_schema_is_told_how_to_get_it(
    make_database: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", make_database())
    for command in (["ask", "what"], ["worker"]):
        with pytest.raises(SystemExit) as caught:
            main(command)
        assert caught.value.code == 1
        error = capsys.readouterr().err
        assert "Hint: " in error
        assert "pgclarify init" in error


def test_a_model_that_does_not_exist_is_told_and_its_documents_wait(
    database: str, connection: Connection, run_worker: Callable[..., Worker]
) -> None:
    connection.execute("select pgclarify.create_corpus('first', '/no/such/model')")
    connection.execute("select pgclarify.add_document('first', 'd', 'waits')")
    run_worker(database)
    error = until(lambda: scalar(connection, "select error from pgclarify.corpus"))
    assert "/no/such/model" in error
    run_id = scalar(connection, "select pgclarify.submit('clarify', 'what waits', 'first')")
    outcome = connection.execute("select status, error from pgclarify.wait(%s)", [[run_id]]).fetchone()
    assert outcome == ("failed", f"the corpus cannot be searched: {error}")
    assert scalar(connection, "select pending from pgclarify.corpus") == 1
