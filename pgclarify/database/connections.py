"""Connections that detect a lost network, and that can be closed from outside."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import Any, TypeAlias
from weakref import WeakSet

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgclarify.database.queries import queries

_AnyConnection: TypeAlias = psycopg.Connection[Any] | psycopg.AsyncConnection[Any]

# A peer that is silent for about 20 seconds, the length of a worker's lease, is gone.
_KEEPALIVES = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


def with_keepalives(dsn: str) -> str:
    """Add keepalives to a connection string, so that TCP detects a lost server soon; its own settings win."""
    given = conninfo_to_dict(dsn)
    return make_conninfo(dsn, **{name: value for name, value in _KEEPALIVES.items() if name not in given})


def cut(connection: _AnyConnection) -> None:
    """Close a connection at once, so that code waiting on it gets an error."""
    with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


class Connections:
    """The connections of a worker. They are closed together when the worker counts as dead."""

    def __init__(self) -> None:
        self._open: WeakSet[psycopg.AsyncConnection[Any]] = WeakSet()

    async def prepare(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Set up a new connection, and remember it.

        Raises:
            psycopg.Error: If the server refuses.
        """
        self._open.add(connection)
        await connection.execute(queries["pin_session"])
        await connection.execute(queries["prepare_session"])
        if not connection.autocommit:
            await connection.commit()

    def cut(self) -> None:
        """Close all connections.

        A statement then ends even if the network delivers neither its answer nor a cancellation.
        """
        for connection in list(self._open):
            cut(connection)
