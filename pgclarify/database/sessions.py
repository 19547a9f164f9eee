"""Checks whether each connection has its own session. Behind a pooler such as PgBouncer it does not."""

from __future__ import annotations

from contextlib import ExitStack

import psycopg

from pgclarify.database.errors import translated
from pgclarify.database.queries import queries
from pgclarify.errors import ConfigurationError

# Poolers keep free sessions on a stack or in a ring. Two connections that alternate in this order get the same session
# in both cases. If others use the pool at the same time, this can fail once, but not every time.
_TURNS = (0, 1, 1, 0) * 3


def require_own_sessions(dsn: str) -> None:
    """Refuse a pooler in transaction mode: settings, locks and notifications would be lost, or affect other clients.

    Two connections show whether transactions of different connections share a session. The sessions are left unchanged.

    Args:
        dsn: Connection string of the database.

    Raises:
        ConfigurationError: If there is such a pooler.
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If there are too few.
    """
    seen: list[set[int]] = [set(), set()]
    with translated(), ExitStack() as stack:
        connections = [
            # Prepared statements are not the connection's own behind a pooler, either.
            stack.enter_context(
                psycopg.connect(dsn, autocommit=True, prepare_threshold=None, application_name="pgclarify")
            )
            for _ in seen
        ]
        for place in _TURNS:
            ((process_id,),) = connections[place].execute(queries["get_session"])
            seen[place].add(process_id)
    if max(map(len, seen)) > 1 or seen[0] & seen[1]:
        raise ConfigurationError(
            "the database is reached through a connection pooler",
            detail="Transactions of one connection are carried out in sessions that others use as well.",
            hint="Set PGCLARIFY_DATABASE_URL to the server itself. Clients that only ask may use the pooler.",
        )
