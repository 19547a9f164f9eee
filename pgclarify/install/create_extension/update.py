"""What init does where CREATE EXTENSION pgclarify has installed the schema: it updates the extension."""

from __future__ import annotations

from typing import Any

import psycopg

from pgclarify.errors import ConfigurationError, SchemaMismatch
from pgclarify.install.functions import renew_source_functions
from pgclarify.install.shipped import shipped_hash


def update_extension(cursor: psycopg.Cursor[Any]) -> None:
    """Update the extension to the version of the server's files, unless it has that version.

    The functions of attached tables are no members of the extension, so its script does not create them again.

    Raises:
        ConfigurationError: If we may not update it.
        SchemaMismatch: If the server's files, and so the schema, are not of this version of pgclarify.
    """
    cursor.execute("""
        select extension.extversion, available.default_version
        from pg_extension as extension
        left join pg_available_extensions as available on available.name = extension.extname
        where extension.extname = 'pgclarify'
    """)
    ((installed, available),) = cursor.fetchall()
    if available not in (None, installed):
        try:
            with cursor.connection.transaction():
                cursor.execute("alter extension pgclarify update")
                cursor.execute("set local role pgclarify_owner")
                renew_source_functions(cursor)
                cursor.execute("reset role")
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                "the extension pgclarify is older than the server's files, and you may not update it",
                detail=f"It has version {installed}; the files have version {available}.",
                hint="Have a superuser run: alter extension pgclarify update;",
                sqlstate=error.sqlstate,
            ) from None
        except psycopg.errors.InvalidParameterValue as error:
            raise _mismatch(str(error.diag.message_primary)) from None
    cursor.execute("select shipped_hash from pgclarify_private.applied_sql")
    if cursor.fetchone() != (shipped_hash(),):
        raise _mismatch(f"The extension has version {available or installed}, made from other files.")


def _mismatch(detail: str) -> SchemaMismatch:
    return SchemaMismatch(
        "the extension pgclarify is not of this version of pgclarify",
        detail=detail,
        hint="Run pgclarify install-extension with this version on the server's machine, then pgclarify init.",
    )
