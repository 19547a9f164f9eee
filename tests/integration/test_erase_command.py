"""The command erase, on a database of its own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from pgclarify.cli.main import main
from tests.integration.by_hand import Connection, scalar

Run = Callable[..., int]
DOCUMENTS = "select count(*) from pgclarify.document"


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def run(database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command on the test's database, which has one document: its exit code."""
    connection.execute("select pgclarify.create_corpus('handbook')")
    connection.execute("select pgclarify.add_document('handbook', 'memo', 'Settle at once.')")
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as caught:
            main(["corpus", "erase", *arguments])
        return int(caught.value.code or 0)

    return run


def test_a_script_says_yes(run: Run, connection: Connection) -> None:
    assert run("handbook", "memo") == 1
    assert scalar(connection, DOCUMENTS) == 1

    assert run("handbook", "memo", "--yes") == 0
    assert scalar(connection, DOCUMENTS) == 0
    # Again changes nothing.
    assert run("handbook", "memo", "--yes") == 0
    assert run("no such", "memo", "--yes") == 1


@pytest.mark.parametrize("is_sure", [True, False])
def test_a_person_is_asked(run: Run, connection: Connection, monkeypatch: pytest.MonkeyPatch, is_sure: bool) -> None:
    asked: list[str] = []

    def confirm(text: str, **_: object) -> bool:
        asked.append(text)
        return is_sure

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(typer, "confirm", confirm)

    assert run("handbook", "memo") == (0 if is_sure else 1)
    assert len(asked) == 1
    assert scalar(connection, DOCUMENTS) == (0 if is_sure else 1)
