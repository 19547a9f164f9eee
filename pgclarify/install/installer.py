"""Install, upgrade and remove the schema: extensions, roles, migrations, functions, policies and views.

Everything happens in one transaction under one advisory lock, so that two installs at once do no harm and one that
fails leaves nothing behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import psycopg
import sqlalchemy
from alembic import command
from psycopg import sql

from pgclarify.errors import ServerUnavailable
from pgclarify.install.extensions import DBLINK_SCHEMA, create_extensions, extension_schema, grant_extensions
from pgclarify.install.loopback import write_keys
from pgclarify.install.revisions import current_revision, known_revisions, run_alembic, shipped
from pgclarify.install.roles import create_roles, create_schemas
from pgclarify.schema import SCHEMA

# pg_advisory_xact_lock(1885823084, 0): the first key is ours, workers take their ids as the second.
INSTALL_LOCK = (1885823084, 0)


@dataclass(frozen=True, slots=True)
class Installation:
    """What an install found and did.

    Attributes:
        previous: Revision of the schema before; None if there was none.
        current: Revision of the schema now.
        has_dblink: False if calls that wait will not work on this server.
    """

    previous: str | None
    current: str
    has_dblink: bool


def install(dsn: str, *, loopback_host: str | None = None, loopback_port: int | None = None) -> Installation:
    """Install the schema, or bring it up to date. Safe to run again, and by two at once.

    Args:
        dsn: Connection string of a role that may create extensions and roles.
        loopback_host: Where waiting calls find the primary, if standbys are to serve them; None: this server.
        loopback_port: Its port.

    Raises:
        ServerUnavailable: If there is no connection.
        ConfigurationError: If the server is too old, or has no pgvector.
        SchemaMismatch: If the schema in the database is newer than this version of pgclarify.
    """
    with _transaction(dsn) as connection:
        cursor = _cursor(connection)
        previous = current_revision(connection)
        create_extensions(cursor)
        create_roles(cursor)
        create_schemas(cursor)
        cursor.execute("set local role pgclarify_owner")
        run_alembic(command.upgrade, connection, "head")
        _apply_sql(cursor)
        cursor.execute("reset role")
        grant_extensions(cursor)
        write_keys(cursor, loopback_host, loopback_port)
        return Installation(previous, known_revisions()[0], extension_schema(cursor, "dblink") is not None)


def uninstall(dsn: str) -> None:
    """Remove the schema with everything in it. Roles stay: other databases of the server may use them.

    Raises:
        ServerUnavailable: If there is no connection.
    """
    with _transaction(dsn) as connection:
        cursor = _cursor(connection)
        if current_revision(connection) is not None:
            drop_routines(cursor)
            run_alembic(command.downgrade, connection, "base")
        for schema in (SCHEMA, "pgclarify_queue"):
            cursor.execute(sql.SQL("drop schema if exists {} cascade").format(sql.Identifier(schema)))
        if extension_schema(cursor, "dblink") == DBLINK_SCHEMA:
            # Nobody but us could look into it.
            cursor.execute(sql.SQL("drop schema {} cascade").format(sql.Identifier(DBLINK_SCHEMA)))


def migrate(dsn: str, revision: str) -> None:
    """Move the tables to a revision ("base", "+1", "-1", "head"), without functions and views: for tests and rescue.

    Raises:
        ServerUnavailable: If there is no connection.
    """
    with _transaction(dsn) as connection:
        cursor = _cursor(connection)
        create_extensions(cursor)
        create_roles(cursor)
        create_schemas(cursor)
        drop_routines(cursor)
        cursor.execute("set local role pgclarify_owner")
        current = current_revision(connection)
        is_older = current is not None and revision.isdigit() and revision < current
        if revision == "base" or revision.startswith("-") or is_older:
            run_alembic(command.downgrade, connection, revision)
        else:
            run_alembic(command.upgrade, connection, revision)


def drop_routines(cursor: psycopg.Cursor[Any]) -> None:
    """Drop our views and functions: everything that sql/ makes, and nothing that holds data."""
    cursor.execute(
        """
        select format('drop view if exists %I.%I cascade', n.nspname, c.relname)
        from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = 'pgclarify' and c.relkind = 'v'
        union all
        select format('drop policy if exists %I on %I.%I', policyname, schemaname, tablename)
        from pg_policies where schemaname = 'pgclarify'
        union all
        select format('drop routine if exists %s cascade', p.oid::regprocedure)
        from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = 'pgclarify'
        """
    )
    for (statement,) in cursor.fetchall():
        cursor.execute(statement)


@contextmanager
def _transaction(dsn: str) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: _connect(dsn), poolclass=sqlalchemy.NullPool
    )
    with engine.connect() as connection, connection.begin():
        connection.exec_driver_sql("select pg_advisory_xact_lock(%s, %s)", INSTALL_LOCK)
        # Whatever the caller's role or database sets, names mean what they say here.
        connection.exec_driver_sql("set local search_path = pg_catalog, pg_temp")
        yield connection
    engine.dispose()


def _cursor(connection: sqlalchemy.Connection) -> psycopg.Cursor[Any]:
    """A cursor of the driver's, in the same transaction."""
    return cast("psycopg.Cursor[Any]", connection.connection.cursor())


def _connect(dsn: str) -> psycopg.Connection[Any]:
    try:
        return psycopg.connect(dsn, application_name="pgclarify init")
    except psycopg.OperationalError as error:
        raise ServerUnavailable(
            "no connection to PostgreSQL",
            detail=str(error).strip().splitlines()[-1],
            hint="Check PGCLARIFY_DATABASE_URL and that the server is running.",
        ) from None


def _apply_sql(cursor: psycopg.Cursor[Any]) -> None:
    """Apply sql/*.sql in the order of their names.

    `@extschema:name@` stands for an extension's schema, as in scripts of PostgreSQL extensions.
    """
    schemas = {
        # Without dblink the functions are there all the same, and say what is missing when they are called.
        "dblink": extension_schema(cursor, "dblink") or DBLINK_SCHEMA,
        "vector": extension_schema(cursor, "vector"),
    }
    # pgvector's settings are known once its library is loaded; unknown ones only a superuser may put into a function.
    cursor.execute(
        sql.SQL("select {0}.vector_dims('[1]'::{0}.vector)").format(sql.Identifier(schemas["vector"] or "public"))
    )
    # Bodies may name functions of a later file.
    cursor.execute("set local check_function_bodies = off")
    for path in sorted(shipped("sql").glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(
            r"@extschema:(\w+)@",
            lambda match: sql.Identifier(schemas[match[1]] or "").as_string(cursor),
            text,
        )
        cursor.execute(text.encode())
