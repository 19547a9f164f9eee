"""A command that is interrupted while it starts a run: either there is no run, or the command knows its id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pgclarify.cli import asking

STATEMENT = {"operation": "investigate", "arguments": '{"question": "Who?"}'}


class Database:
    """A fake connection whose user presses Ctrl-C once. It records what was committed, and the statements."""

    def __init__(self, pressed: str) -> None:
        self.pressed = pressed
        self.committed: list[dict[str, Any]] = []
        self.ran: list[dict[str, Any]] = []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield
        self.committed += self.ran
        if self.pressed == "after the commit":
            raise KeyboardInterrupt

    def execute(self, _: str, parameters: dict[str, Any]) -> Database:
        self.ran.append(parameters)
        if self.pressed == "before the reply":
            self.pressed = ""
            raise KeyboardInterrupt
        return self

    def fetchall(self) -> list[dict[str, Any]]:
        return [{"run_id": 42}]


def test_a_run_whose_commit_is_interrupted_is_cancelled(capsys: pytest.CaptureFixture[str]) -> None:
    database = Database("after the commit")
    with pytest.raises(KeyboardInterrupt):
        asking.started(database, "investigate", question="Who?")  # type: ignore[arg-type]
    assert database.committed == [STATEMENT]
    assert database.ran == [STATEMENT, {"run_ids": [42]}]
    assert "Cancelled run 42" in capsys.readouterr().err


def test_a_run_whose_number_is_not_known_is_not_committed() -> None:
    database = Database("before the reply")
    with pytest.raises(KeyboardInterrupt):
        asking.started(database, "investigate", question="Who?")  # type: ignore[arg-type]
    assert (database.committed, database.ran) == ([], [STATEMENT])
