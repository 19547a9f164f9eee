"""Connections that notice when the network is gone, and that can be cut when it does not let them notice."""

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

# A peer that is silent for some 20 seconds is gone: as long as a worker's lease.
_KEEPALIVES = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


def with_keepalives(dsn: str) -> str:
    """A connection string by which TCP notices soon that the server is gone; what it says itself stays."""
    given = conninfo_to_dict(dsn)
    return make_conninfo(dsn, **{name: value for name, value in _KEEPALIVES.items() if name not in given})


def cut(connection: _AnyConnection) -> None:
    """End a connection so that whoever waits for an answer on it gets an error at once."""
    with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


class Connections:
    """Those of a worker, which are cut together when it does not count as alive any more."""

    def __init__(self) -> None:
        self._open: WeakSet[psycopg.AsyncConnection[Any]] = WeakSet()

    async def prepare(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Set a new connection up, and remember it.

        Raises:
            psycopg.Error: If the server refuses.
        """
        self._open.add(connection)
        await connection.execute(queries["prepare_session"])
        if not connection.autocommit:
            await connection.commit()

    def cut(self) -> None:
        """Cut all that are open: a statement to which the network brings no answer, nor a cancellation, ends too."""
        for connection in list(self._open):
            cut(connection)
