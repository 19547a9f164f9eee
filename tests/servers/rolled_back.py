"""Connections that share one session. A test is one transaction of the session, which is rolled back at its end.

A module with the mark `rolled_back` has one database, and each of its tests finds it as it was installed. A copy of the
database for each test would take longer than most tests, and so would compiling and planning in new sessions. A test
has the mark `committed` if it needs its own database: it commits, lets sessions wait for each other, or closes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

# The first words of statements that would end the shared transaction, or start none.
FORBIDDEN: Final = frozenset({"abort", "begin", "commit", "end", "release", "rollback", "savepoint", "start"})
RESET: Final = """
    select pg_advisory_unlock_all(), (
        select count(setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false))
        from pg_sequences where last_value is not null
    )
"""


class Info:
    """Properties of a connection that do not depend on having its own session."""

    def __init__(self, session: psycopg.Connection[Any], user: str) -> None:
        self.user = user
        self.dbname = session.info.dbname
        self.server_version = session.info.server_version


class Stage:
    """A session in which tests run, one after the other.

    Args:
        session: A superuser's, in autocommit.
    """

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self.session = session
        self.superuser = session.info.user
        self.is_at: Actor | None = None
        """The connection whose transaction block is open."""
        self._user = self.superuser

    @contextmanager
    def play(self) -> Iterator[Callable[..., Actor]]:
        """Run a test and roll it back. Yields `connect(role)`, as in conftest."""
        with self.session.transaction(force_rollback=True):
            # What the loopback commits would stay.
            self.session.execute("update pgclarify_private.loopback set host = '/nowhere', port = 1")
            yield lambda user=None: Actor(self, user or self.superuser)
        # The rollback also undoes the role that was set in the transaction.
        self._user = self.superuser
        self.session.execute(RESET)

    def become(self, user: str) -> None:
        """Switch to a role."""
        if user != self._user:
            self.session.execute(sql.SQL("set session authorization {}").format(sql.Identifier(user)))
            self._user = user


class Actor:
    """A connection that looks to a test like one in autocommit.

    Uncommitted changes would be visible to the other connections of the test. So an open transaction block is an error.
    """

    def __init__(self, stage: Stage, user: str) -> None:
        self.info = Info(stage.session, user)
        self.row_factory: Any = tuple_row
        self._stage = stage
        self._is_closed = False

    def execute(self, query: Any, parameters: Any = None, **options: Any) -> psycopg.Cursor[Any]:
        """As that of a connection."""
        return self.cursor().execute(query, parameters, **options)

    def cursor(self, *, row_factory: Any = None) -> Cursor:
        """As that of a connection."""
        made = Cursor(self._stage.session, row_factory=row_factory or self.row_factory)
        made.actor = self
        return made

    @contextmanager
    def transaction(self, *, force_rollback: bool = False) -> Iterator[None]:
        """As that of a connection."""
        self._enter()
        before, self._stage.is_at = self._stage.is_at, self
        try:
            with self._stage.session.transaction(force_rollback=force_rollback):
                yield
        finally:
            self._stage.is_at = before

    @contextmanager
    def statement(self) -> Iterator[None]:
        """A statement, or the data of a copy."""
        self._enter()
        if self._stage.is_at is self:
            yield
        else:
            with self._stage.session.transaction():
                yield

    def add_notice_handler(self, handler: Callable[[psycopg.errors.Diagnostic], None]) -> None:
        """As that of a connection."""
        self._stage.session.add_notice_handler(handler)

    def remove_notice_handler(self, handler: Callable[[psycopg.errors.Diagnostic], None]) -> None:
        """As that of a connection."""
        self._stage.session.remove_notice_handler(handler)

    def close(self) -> None:
        """Close the connection to callers. The session keeps its locks until the test ends."""
        self._is_closed = True

    def _enter(self) -> None:
        assert not self._is_closed, "the connection is closed"
        assert self._stage.is_at in (None, self), "another connection is in a transaction: mark the test as committed"
        self._stage.become(self.info.user)


class Cursor(psycopg.Cursor[Any]):
    """An actor's cursor."""

    actor: Actor

    def execute(self, query: Any, params: Any = None, **options: Any) -> Cursor:
        """As that of any cursor."""
        first = query.as_string(self) if isinstance(query, sql.Composable) else query
        words = (first.decode() if isinstance(first, bytes) else first).split(maxsplit=1)
        assert not words or words[0].lower().rstrip(";") not in FORBIDDEN, "mark the test as committed"
        with self.actor.statement():
            super().execute(query, params, **options)
        return self

    @contextmanager
    def copy(self, statement: Any, params: Any = None, **options: Any) -> Iterator[psycopg.Copy]:
        """As that of any cursor."""
        with self.actor.statement(), super().copy(statement, params, **options) as copied:
            yield copied
