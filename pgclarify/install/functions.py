"""Applies sql/: functions, views, policies and grants. Everything is applied, or nothing if nothing has changed.

Replacing a view or a policy waits for every transaction that uses it, and new calls wait behind that. So an install
without changes must not try.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import psycopg

from pgclarify.errors import DatabaseError
from pgclarify.install.create_extension.files import part
from pgclarify.install.extensions import DBLINK_SCHEMA, extension_schema
from pgclarify.install.shipped import shipped_hash, sql_files

# The present state of what sql/ creates: a restored dump may lack grants, and a person may have dropped a view.
_STATE = """
    select md5(string_agg(made.line, e'\\n' order by made.line collate "C"))
    from (
        select concat_ws(' ', pg_get_userbyid(p.proowner), p.proacl::text, pg_get_functiondef(p.oid)) as line
        from pg_proc as p
        where p.pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
            and p.prokind in ('f', 'p')
            -- These come and go with attached tables.
            and p.proname !~ '^(capture_[0-9]+|read_[0-9]+_[0-9a-f]{8})$'
        union all
        select concat_ws(
            ' ', c.oid::regclass, pg_get_userbyid(c.relowner), c.relacl::text, c.relrowsecurity, c.reloptions::text,
            case when c.relkind = 'v' then pg_get_viewdef(c.oid) end
        )
        from pg_class as c
        -- Partitions come and go with corpora.
        where c.relnamespace in (
                'pgclarify'::regnamespace, 'pgclarify_private'::regnamespace, 'pgclarify_capture'::regnamespace
            )
            and c.relkind in ('r', 'p', 'v') and not c.relispartition
            -- Those of a distributed corpus have no parent.
            and c.relname !~ '^(passage|passage_embedding)_[0-9]+$'
        union all
        select concat_ws(' ', tablename, policyname, roles::text, cmd, qual)
        from pg_policies
        where schemaname in ('pgclarify', 'pgclarify_private')
    ) as made
"""


def apply_sql(cursor: psycopg.Cursor[Any], *, are_tables_new: bool) -> None:
    """Apply the files of sql/ in order, unless everything they create is there already.

    `@extschema:name@` is replaced by an extension's schema, as in scripts of PostgreSQL extensions.

    Args:
        cursor: Of a transaction in which the role is pgclarify_owner.
        are_tables_new: True if a migration ran in this transaction.

    Raises:
        DatabaseError: If an object depends on an internal function that this version does not have.
    """
    schemas = _extension_schemas(cursor)
    texts = [re.sub(r"@extschema:(\w+)@", lambda match: schemas[match[1]], text) for _, text in sql_files()]
    cursor.execute("select shipped_hash, state_hash from pgclarify_private.applied_sql")
    if not are_tables_new and cursor.fetchone() == (shipped_hash(), _state_hash(cursor, texts)):
        return
    if not are_tables_new:
        cursor.execute(part("lock_tables").encode())
    # pgvector's settings are only known after its library is loaded. Unknown settings need a superuser.
    cursor.execute("select {vector}.vector_dims('[1]'::{vector}.vector)".format_map(schemas).encode())
    # A body may use functions of a later file.
    cursor.execute("set local check_function_bodies = off")
    before = _internal_routines(cursor)
    replaced = {oid for text in texts for oid in _apply_file(cursor, text)}
    left_over = [
        signature
        for oid, (version, signature) in _internal_routines(cursor).items()
        if oid in replaced or before.get(oid, ("", ""))[0] == version
    ]
    _drop_left_over(cursor, left_over)
    renew_source_functions(cursor)
    cursor.execute(
        """
        insert into pgclarify_private.applied_sql (shipped_hash, state_hash) values (%s, %s)
        on conflict on constraint applied_sql_pk
            do update set shipped_hash = excluded.shipped_hash, state_hash = excluded.state_hash
        """,
        (shipped_hash(), _state_hash(cursor, texts)),
    )


def renew_source_functions(cursor: psycopg.Cursor[Any]) -> None:
    """Create the functions of attached tables again, because the functions that create them may have changed.

    Args:
        cursor: Of a transaction in which the role is pgclarify_owner.
    """
    # The triggers that call them stay.
    cursor.execute(
        "select pgclarify_private.make_capture(source_id) from pgclarify_private.source"
        " where state not in ('detached', 'removing')"
    )
    # make_table_readers creates them again.
    cursor.execute(
        "select format('drop function %s', oid::regprocedure) from pg_proc"
        " where pronamespace = 'pgclarify_private'::regnamespace and proname ~ '^read_[0-9]+_[0-9a-f]{8}$'"
    )
    for (statement,) in cursor.fetchall():
        cursor.execute(statement)


def _extension_schemas(cursor: psycopg.Cursor[Any]) -> dict[str, str]:
    """Return the schemas of the extensions by their names, as SQL writes them."""
    # Without dblink the functions are created all the same, and report the missing extension when they are called.
    cursor.execute(
        "select quote_ident(%s), quote_ident(%s)",
        (extension_schema(cursor, "vector"), extension_schema(cursor, "dblink") or DBLINK_SCHEMA),
    )
    ((vector, dblink),) = cursor.fetchall()
    return {"vector": vector, "dblink": dblink}


def _state_hash(cursor: psycopg.Cursor[Any], texts: list[str]) -> str:
    """SHA-256, in hexadecimal, of the files and of the present state."""
    cursor.execute(_STATE)
    row = cursor.fetchone()
    return hashlib.sha256("\0".join([*texts, str(row)]).encode()).hexdigest()


def _internal_routines(cursor: psycopg.Cursor[Any]) -> dict[int, tuple[str, str]]:
    """Return our internal routines by oid: the place of the row, which changes with every update, and the signature."""
    cursor.execute(
        """
        select p.oid, p.ctid::text, p.oid::regprocedure::text
        from pg_proc as p
        where p.pronamespace = 'pgclarify_private'::regnamespace
            -- Triggers of attached tables call these, or their tables are read by them.
            and p.proname !~ '^(capture_[0-9]+|read_[0-9]+_[0-9a-f]{8})$'
            and pg_get_userbyid(p.proowner) <> 'pgclarify_role_maker'
        """
    )
    return {oid: (version, signature) for oid, version, signature in cursor.fetchall()}


def _apply_file(cursor: psycopg.Cursor[Any], text: str) -> list[int]:
    """Apply one file. If an internal function now has another result type, the old function is renamed first.

    It is not dropped, because views and policies may depend on it until later files replace them.

    Returns:
        Oids of functions that were renamed.
    """
    renamed: list[int] = []
    while True:
        try:
            with cursor.connection.transaction():
                cursor.execute(text.encode())
            return renamed
        except psycopg.errors.InvalidFunctionDefinition as error:
            # The hint has the signature in every language: Use DROP FUNCTION pgclarify_private.x(integer) first.
            in_the_way = re.search(r"pgclarify_private\.\w+\(.*\)", error.diag.message_hint or "")
            if in_the_way is None:
                raise
        cursor.execute("select %s::regprocedure::oid", (in_the_way[0],))
        ((oid,),) = cursor.fetchall()
        cursor.execute(f"alter routine {in_the_way[0]} rename to replaced_{oid}".encode())
        renamed.append(oid)


def _drop_left_over(cursor: psycopg.Cursor[Any], signatures: list[str]) -> None:
    """Drop internal routines that no file created. Public ones stay, because users' objects may depend on them."""
    if not signatures:
        return
    try:
        # In one statement, because they may depend on each other.
        cursor.execute(f"drop routine {', '.join(signatures)}".encode())
    except psycopg.errors.DependentObjectsStillExist as error:
        raise DatabaseError(
            "an object depends on an internal function that this version does not have",
            detail=error.diag.message_detail,
            hint="Drop it, or use public views and functions in it; then run pgclarify init again.",
            sqlstate=error.sqlstate,
        ) from None
