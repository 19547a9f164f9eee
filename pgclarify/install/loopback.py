"""The key under which callers are signed, and how a waiting call reaches the server a second time."""

from __future__ import annotations

import secrets
from typing import Any

import psycopg
from psycopg import sql


def write_keys(cursor: psycopg.Cursor[Any], host: str | None, port: int | None) -> None:
    """Make the callers' key, once, and keep how the loopback reaches the server."""
    key = secrets.token_bytes(64)
    cursor.execute(
        "insert into pgclarify.caller_key (inner_pad, outer_pad) values (%s, %s) on conflict do nothing",
        (bytes(byte ^ 0x36 for byte in key), bytes(byte ^ 0x5C for byte in key)),
    )
    if host is None:
        cursor.execute("select setting from pg_settings where name = 'unix_socket_directories'")
        row = cursor.fetchone()
        host = row[0].split(",")[0].strip() or None if row is not None and row[0] else None
        port = None
    cursor.execute(
        """
        insert into pgclarify.loopback (host, port) values (%(host)s, %(port)s)
        on conflict on constraint loopback_pk do update set host = excluded.host, port = excluded.port
        """,
        {"host": host, "port": port},
    )
    _set_loopback_password(cursor)


def _set_loopback_password(cursor: psycopg.Cursor[Any]) -> None:
    """Give pgclarify_loopback a password, for servers that ask for one.

    The role is shared by all databases of the server, its password kept in each: a second database needs it from the
    first.
    """
    cursor.execute("select password from pgclarify.loopback")
    row = cursor.fetchone()
    if row is not None and row[0] is not None:
        return
    try:
        with cursor.connection.transaction():
            cursor.execute("select rolpassword is not null from pg_authid where rolname = 'pgclarify_loopback'")
            row = cursor.fetchone()
            if row is not None and row[0]:
                return
            password = secrets.token_urlsafe(32)
            cursor.execute(sql.SQL("alter role pgclarify_loopback password {}").format(sql.Literal(password)))
            cursor.execute("update pgclarify.loopback set password = %s", (password,))
    except psycopg.errors.InsufficientPrivilege:
        return
