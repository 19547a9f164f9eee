"""What doctor reads of a server that may have no schema."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from pgclarify.database.queries import queries


def existing_roles(connection: psycopg.Connection[Any], names: Collection[str]) -> dict[str, bool]:
    """Return which of these roles exist, and whether the caller has their rights."""
    return dict(_rows(connection, "install_list_roles", roles=list(names)))


def open_superusers(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the superusers that can connect to the embedded server over TCP, because of their memberships."""
    return [role for (role,) in _rows(connection, "install_list_open_superusers")]


def _rows(connection: psycopg.Connection[Any], name: str, **parameters: object) -> list[tuple[Any, ...]]:
    with connection.cursor(row_factory=tuple_row) as cursor:
        return cursor.execute(queries[name], parameters).fetchall()
