"""Reads values in PostgreSQL's binary format.

The texts of values depend on settings such as DateStyle and extra_float_digits, which a session, a role or a database
may change. A client leaves the settings of its session alone, because the session may be an application's, or a
pooler's.
"""

from __future__ import annotations

from struct import pack, unpack
from typing import Any, TypeVar

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

_Cursor = TypeVar("_Cursor", bound=psycopg.Cursor[Any] | psycopg.AsyncCursor[Any])


class _RealLoader(Loader):
    """Reads a real as the shortest number that means it, as PostgreSQL writes it: 0.87, not 0.8700000047683716."""

    format = Format.BINARY

    def load(self, data: Buffer) -> float:
        sent = bytes(data)
        exact: float = unpack("!f", sent)[0]
        for digits in range(6, 9):
            short = float(f"{exact:.{digits}g}")
            if pack("!f", short) == sent:
                return short
        return float(f"{exact:.9g}")


def reading_binary(cursor: _Cursor) -> _Cursor:
    """Let a cursor read all results in binary; return it."""
    cursor.format = Format.BINARY
    cursor.adapters.register_loader("float4", _RealLoader)
    return cursor
