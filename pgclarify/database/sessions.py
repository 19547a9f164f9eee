"""Checks whether each connection has its own session. Behind a pooler such as PgBouncer it does not."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import psycopg

from pgclarify.database.errors import translated
from pgclarify.database.queries import queries
from pgclarify.errors import ConfigurationError

# Poolers keep free sessions on a stack or in a ring. Two connections that alternate in this order get the same session
# in both cases. If others use the pool at the same time, this can fail once, but not every time.
_TURNS = (0, 1, 1, 0) * 3
# The option of a new connection, as the queue sets its schema. This value does not occur by chance.
_OPTION = "-c lock_timeout=54321ms"


def sharing(dsn: str) -> str | None:
    """Tell, by connecting twice, whether transactions of different connections share a session.

    The sessions are left unchanged.

    Args:
        dsn: Connection string of the database.

    Returns:
        What was found, as a sentence; None if each connection has its own session.

    Raises:
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If there are too few.
    """
    seen: list[set[int]] = [set(), set()]
    with translated(), ExitStack() as stack:
        connections = [stack.enter_context(_connect(dsn)) for _ in seen]
        for place in _TURNS:
            ((process_id,),) = connections[place].execute(queries["get_session"])
            seen[place].add(process_id)
    if max(map(len, seen)) == 1 and not seen[0] & seen[1]:
        return None
    return "Transactions of one connection are carried out in sessions that others use as well."


def stripping(dsn: str) -> str | None:
    """Tell whether options of a connection are rejected or lost on the way.

    Args:
        dsn: Connection string of the database.

    Returns:
        What was found, as a sentence; None if they take effect.

    Raises:
        ServerUnavailable: If a connection without options fails, too.
        DatabaseBusy: If there are too few.
    """
    try:
        with _connect(dsn, options=_OPTION) as connection:
            ((is_set,),) = connection.execute(queries["has_session_option"])
    except psycopg.OperationalError as error:
        # A full or stopping server rejects every connection; a pooler rejects only those with options.
        with translated():
            _connect(dsn).close()
        return f"A connection with settings of its own is turned down: {str(error).strip().splitlines()[-1]}."
    return None if is_set else "Settings that come with a connection are lost on the way."


def require_own_sessions(dsn: str) -> None:
    """Refuse a pooler in transaction mode: settings of a session would be lost, and affect other clients.

    Args:
        dsn: Connection string of the database.

    Raises:
        ConfigurationError: If there is such a pooler.
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If there are too few.
    """
    _refuse(sharing(dsn))


def require_direct(dsn: str) -> None:
    """Refuse any pooler: locks, notifications and connection options of workers would be lost.

    Args:
        dsn: Connection string of the database.

    Raises:
        ConfigurationError: If there is one.
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If there are too few.
    """
    _refuse(sharing(dsn) or stripping(dsn))


def _refuse(found: str | None) -> None:
    if found is None:
        return
    raise ConfigurationError(
        "the database is reached through a connection pooler",
        detail=found,
        hint="Set PGCLARIFY_DATABASE_URL to the server itself. Clients that only ask may use the pooler.",
    )


def _connect(dsn: str, **settings: Any) -> psycopg.Connection[tuple[Any, ...]]:  # noqa: ANN401
    # Prepared statements are not the connection's own behind a pooler, either.
    return psycopg.connect(dsn, autocommit=True, prepare_threshold=None, application_name="pgclarify", **settings)
