"""What a command says of the notices of a call."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgclarify.cli import asking, connection


class Calls:
    """The client of a server that sends one notice with each call."""

    def __init__(self, **notice: Any) -> None:
        known = {"sqlstate": "01000", "message_primary": "it is so", "message_hint": None, "table_name": None}
        self._notice = SimpleNamespace(**(known | notice))
        self._handler: Callable[[Any], None] = lambda _: None

    def add_notice_handler(self, handler: Callable[[Any], None]) -> None:
        self._handler = handler

    def remove_notice_handler(self, _: object) -> None: ...

    def send(self) -> None:
        self._handler(self._notice)


@pytest.mark.parametrize(("table", "is_said"), [(None, True), ("run", False)])
def test_a_notice_of_the_run_is_left_to_its_end(
    table: str | None, *, is_said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = Calls(table_name=table)
    with asking._waiting(cast("connection.Database", calls), "Reading"):
        calls.send()
    assert ("it is so" in capsys.readouterr().err.lower()) is is_said
