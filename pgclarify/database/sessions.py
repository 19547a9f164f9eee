"""Whether connections are sessions of their own, as they are not behind a pooler such as PgBouncer."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import psycopg

from pgclarify.database.errors import translated
from pgclarify.database.queries import queries
from pgclarify.errors import ConfigurationError

# Poolers keep free sessions on a stack or in a ring: two connections that take turns like this meet in one session
# on either. While others use the pool, too, they may miss each other once, but not every time.
_TURNS = (0, 1, 1, 0) * 3
# Set as a connection begins, which is when the queue names its schema. Nobody sets it to this by chance.
_OPTION = "-c lock_timeout=54321ms"


def sharing(dsn: str) -> str | None:
    """Say whether transactions of one connection are carried out in sessions of others, by connecting twice.

    Nothing is left behind in a session.

    Args:
        dsn: Connection string of the database.

    Returns:
        What was found, in a whole sentence; None if each connection is a session of its own.

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
    """Say whether settings that come with a connection are turned down or lost on the way.

    Args:
        dsn: Connection string of the database.

    Returns:
        What was found, in a whole sentence; None if they arrive.

    Raises:
        ServerUnavailable: If there is no connection without any, either.
        DatabaseBusy: If there are too few.
    """
    try:
        with _connect(dsn, options=_OPTION) as connection:
            ((is_set,),) = connection.execute(queries["has_session_option"])
    except psycopg.OperationalError as error:
        # A server that is full or going down turns everybody away; a pooler those alone who bring settings.
        with translated():
            _connect(dsn).close()
        return f"A connection with settings of its own is turned down: {str(error).strip().splitlines()[-1]}."
    return None if is_set else "Settings that come with a connection are lost on the way."


def require_own_sessions(dsn: str) -> None:
    """Refuse a pooler in transaction mode: what a session sets would be lost, and found by others who share it.

    Args:
        dsn: Connection string of the database.

    Raises:
        ConfigurationError: If there is one.
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If there are too few.
    """
    _refuse(sharing(dsn))


def require_direct(dsn: str) -> None:
    """Refuse any pooler: what workers hold, listen to and set as they connect would be lost.

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
        hint="Set PGCLARIFY_DATABASE_URL to the server itself. Whoever only asks may go through the pooler.",
    )


def _connect(dsn: str, **settings: Any) -> psycopg.Connection[tuple[Any, ...]]:  # noqa: ANN401
    # Prepared statements are as little a pooled connection's own.
    return psycopg.connect(dsn, autocommit=True, prepare_threshold=None, application_name="pgclarify", **settings)
