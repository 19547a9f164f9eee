"""Statements in sessions: their values and errors, one at a time or together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import psycopg

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
MakeRole = Callable[..., str]


def scalar(connection: Connection, statement: str, *parameters: object) -> Any:
    """The first column of the first row; None if there is no row."""
    row = connection.execute(statement.encode(), parameters).fetchone()
    return None if row is None else row[0]


def sqlstate_of(connection: Connection, statement: str, parameters: Sequence[Any] = ()) -> str | None:
    """The SQLSTATE that a statement ends with; None if it succeeds."""
    return _sqlstate(lambda: _execute(connection, statement, parameters))


def run_at_once(*actions: Callable[[], Any]) -> list[str | None]:
    """Start actions together, each in a thread, and return the SQLSTATE that each ends with; None if it succeeds."""
    start = Barrier(len(actions))

    def run(action: Callable[[], Any]) -> str | None:
        start.wait()
        return _sqlstate(action)

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


def _execute(connection: Connection, statement: str, parameters: Sequence[Any]) -> None:
    with connection.transaction():
        connection.execute(statement.encode(), parameters)


def _sqlstate(action: Callable[[], Any]) -> str | None:
    try:
        action()
    except psycopg.Error as error:
        return error.sqlstate
    return None
