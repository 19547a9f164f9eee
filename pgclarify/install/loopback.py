"""The key that signs callers, and the second connection of a waiting call."""

from __future__ import annotations

import secrets
from typing import Any

import psycopg
from psycopg import sql


def write_keys(cursor: psycopg.Cursor[Any], password: str | None, *, is_role_new: bool) -> bool:
    """Create the callers' key once, and store how the loopback connects to the server.

    Args:
        cursor: Of the installer's transaction, in its own role.
        password: Of pgclarify_loopback; None keeps the stored one, or creates one.
        is_role_new: True if this transaction created pgclarify_loopback.

    Returns:
        True if this database has the loopback's password.
    """
    key = secrets.token_bytes(64)
    cursor.execute(
        "insert into pgclarify_private.caller_key (inner_pad, outer_pad) values (%s, %s) on conflict do nothing",
        (bytes(byte ^ 0x36 for byte in key), bytes(byte ^ 0x5C for byte in key)),
    )
    cursor.execute("insert into pgclarify_private.loopback default values on conflict do nothing")
    _note_socket(cursor)
    return _keep_password(cursor, password, is_role_new)


def _note_socket(cursor: psycopg.Cursor[Any]) -> None:
    """Store the path of this server's Unix socket, because functions of the owner cannot read the setting.

    An installer with few rights cannot read it either, but knows the socket of its own connection. If it uses another
    connection, the stored path is kept.
    """
    cursor.execute(
        """
        select
            (select split_part(setting, ',', 1) from pg_settings where name = 'unix_socket_directories'),
            inet_server_addr() is null
        """
    )
    ((socket_dir, is_by_socket),) = cursor.fetchall()
    if socket_dir is None and not is_by_socket:
        return
    if socket_dir is None:
        socket_dir = cursor.connection.info.host
    cursor.execute(
        "update pgclarify_private.loopback set socket_dir = %(found)s where socket_dir is distinct from %(found)s",
        {"found": socket_dir.strip() or None},
    )


def _keep_password(cursor: psycopg.Cursor[Any], given: str | None, is_role_new: bool) -> bool:
    """Give pgclarify_loopback a password, for servers that ask for one.

    All databases of the server share the role, and each stores its password. A second database needs the password of
    the first one. A role that may have a password keeps it, because other databases would lose their connection.
    """
    cursor.execute("select password from pgclarify_private.loopback")
    ((stored,),) = cursor.fetchall()
    has_none = is_role_new or _has_no_password(cursor)
    if given is None and not has_none:
        return stored is not None
    # A restored database has a password that the server may not know.
    password = given or stored or secrets.token_urlsafe(32)
    if has_none:
        if given is None and stored is None:
            # Each waiting call connects. More iterations cost it milliseconds, and protect only passwords of people.
            cursor.execute("select set_config(name, '1', true) from pg_settings where name = 'scram_iterations'")
        cursor.execute(sql.SQL("alter role pgclarify_loopback password {}").format(sql.Literal(password)))
    cursor.execute("update pgclarify_private.loopback set password = %s", (password,))
    return True


def _has_no_password(cursor: psycopg.Cursor[Any]) -> bool:
    """Whether the role certainly has no password: only a superuser can see that."""
    try:
        with cursor.connection.transaction():
            # Locked, because another database of the server may be installing, too, and give it one.
            cursor.execute("select rolpassword is null from pg_authid where rolname = 'pgclarify_loopback' for update")
            return cursor.fetchone() == (True,)
    except psycopg.errors.InsufficientPrivilege:
        return False
