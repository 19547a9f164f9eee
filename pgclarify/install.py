"""Install, upgrade and remove the schema: extensions, roles, migrations, functions, policies and views.

Everything happens in one transaction under one advisory lock, so that two installs at once do no harm and one that
fails leaves nothing behind.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg import sql

from pgclarify.errors import ConfigurationError, SchemaMismatch, ServerUnavailable
from pgclarify.schema import SCHEMA

OLDEST_SERVER = 150000
OLDEST_VECTOR = (0, 8)
ROLES = {
    "pgclarify_owner": "nologin",
    "pgclarify_reader": "nologin",
    "pgclarify_user": "nologin",
    "pgclarify_worker": "nologin",
    # The waiting call's second connection. The limit leaves room for the callers themselves.
    "pgclarify_loopback": "login connection limit 20",
}
# pg_advisory_xact_lock(1885823084, 0): the first key is ours, workers take their ids as the second.
INSTALL_LOCK = (1885823084, 0)
# What alembic works on is one global of the process; threads may be installing into several databases.
_alembic_lock = threading.Lock()


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
        previous = _revision(connection)
        _create_extensions(cursor)
        _create_roles(cursor)
        _create_schemas(cursor)
        cursor.execute("set local role pgclarify_owner")
        _run_alembic(command.upgrade, connection, "head")
        _apply_sql(cursor)
        cursor.execute("reset role")
        _grant_extensions(cursor)
        _write_keys(cursor, loopback_host, loopback_port)
        return Installation(previous, _known_revisions()[0], _extension_schema(cursor, "dblink") is not None)


def uninstall(dsn: str) -> None:
    """Remove the schema with everything in it. Roles stay: other databases of the server may use them.

    Raises:
        ServerUnavailable: If there is no connection.
    """
    with _transaction(dsn) as connection:
        cursor = _cursor(connection)
        if _revision(connection) is not None:
            drop_routines(cursor)
            _run_alembic(command.downgrade, connection, "base")
        for schema in (SCHEMA, "pgclarify_queue"):
            cursor.execute(sql.SQL("drop schema if exists {} cascade").format(sql.Identifier(schema)))


def migrate(dsn: str, revision: str) -> None:
    """Move the tables to a revision ("base", "+1", "-1", "head"), without functions and views: for tests and rescue.

    Raises:
        ServerUnavailable: If there is no connection.
    """
    with _transaction(dsn) as connection:
        cursor = _cursor(connection)
        _create_extensions(cursor)
        _create_roles(cursor)
        _create_schemas(cursor)
        drop_routines(cursor)
        cursor.execute("set local role pgclarify_owner")
        current = _revision(connection)
        is_older = current is not None and revision.isdigit() and revision < current
        if revision == "base" or revision.startswith("-") or is_older:
            _run_alembic(command.downgrade, connection, revision)
        else:
            _run_alembic(command.upgrade, connection, revision)


def check_schema(connection: psycopg.Connection[Any]) -> None:
    """Check that the schema in the database is the one that this version works with.

    Raises:
        SchemaMismatch: If it is missing, older or newer; the hint names the command that mends it.
    """
    is_there = connection.execute(
        """
        select from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = 'pgclarify' and c.relname = 'schema_version'
            and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
        """
    ).fetchone()
    found = None
    if is_there is not None:
        version = connection.execute("select version_num from pgclarify.schema_version").fetchone()
        found = None if version is None else str(version[0])
    _compare(found)


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


def _run_alembic(action: Callable[[Config, str], None], connection: sqlalchemy.Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(_shipped("migrations")))
    config.attributes["connection"] = connection
    with _alembic_lock:
        action(config, revision)


def _shipped(name: str) -> Path:
    """A folder that travels inside the wheel as _name, and lies beside the package in a checkout."""
    package = Path(str(files("pgclarify")))
    installed = package / f"_{name}"
    return installed if installed.is_dir() else package.parent / name


def _revision(connection: sqlalchemy.Connection) -> str | None:
    if connection.exec_driver_sql("select to_regclass('pgclarify.schema_version')").scalar() is None:
        return None
    context = MigrationContext.configure(
        connection, opts={"version_table": "schema_version", "version_table_schema": SCHEMA}
    )
    current = context.get_current_revision()
    if current is not None and current not in _known_revisions():
        _compare(current)
    return current


def _known_revisions() -> list[str]:
    """Revisions that this version ships, newest first."""
    config = Config()
    config.set_main_option("script_location", str(_shipped("migrations")))
    return [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]


def _compare(found: str | None) -> None:
    known = _known_revisions()
    if found == known[0]:
        return
    if found is None:
        raise SchemaMismatch(
            "pgclarify is not installed in this database",
            detail="There is no schema pgclarify, or you may not look into it.",
            hint="Run: pgclarify init",
        )
    if found in known:
        raise SchemaMismatch(
            "the schema in the database is older than this version of pgclarify",
            detail=f"It is at revision {found}; this version works with {known[0]}.",
            hint="Run: pgclarify init",
        )
    raise SchemaMismatch(
        "the schema in the database is newer than this version of pgclarify",
        detail=f"It is at revision {found}; this version works with {known[0]}.",
        hint="Run: pip install --upgrade pgclarify",
    )


def _create_extensions(cursor: psycopg.Cursor[Any]) -> None:
    version = cursor.connection.info.server_version
    if version < OLDEST_SERVER:
        raise ConfigurationError(
            "this PostgreSQL is too old",
            detail=f"It is version {version // 10000}.",
            hint="pgclarify needs PostgreSQL 15 or newer, with pgvector 0.8 or newer.",
        )
    _create_extension(cursor, "vector", None)
    cursor.execute("select extversion from pg_extension where extname = 'vector'")
    row = cursor.fetchone()
    if row is None:
        raise ConfigurationError(
            "this PostgreSQL has no pgvector",
            detail="The extension vector is neither installed in this database nor available on the server.",
            hint="Install pgvector 0.8 or newer on the server, or leave PGCLARIFY_DATABASE_URL unset for the embedded"
            " one.",
        )
    if tuple(int(part) for part in re.findall(r"\d+", row[0])[:2]) < OLDEST_VECTOR:
        raise ConfigurationError(
            "this pgvector is too old",
            detail=f"It is version {row[0]}.",
            hint="Install pgvector 0.8 or newer, then run: alter extension vector update.",
        )
    # In a schema of its own that nobody may look into: where everyone may call dblink, everyone may open connections.
    _create_extension(cursor, "dblink", "pgclarify_dblink")


def _create_extension(cursor: psycopg.Cursor[Any], name: str, schema: str | None) -> None:
    """Create an extension if it is available and missing."""
    if _extension_schema(cursor, name) is not None:
        return
    cursor.execute("select from pg_available_extensions where name = %s", (name,))
    if cursor.fetchone() is None:
        return
    if schema is not None:
        cursor.execute(sql.SQL("create schema if not exists {}").format(sql.Identifier(schema)))
        cursor.execute(
            sql.SQL("comment on schema {} is {}").format(
                sql.Identifier(schema), f"The extension {name}, out of everyone's reach but pgclarify's."
            )
        )
    try:
        with cursor.connection.transaction():
            cursor.execute(
                sql.SQL("create extension if not exists {} schema {}").format(
                    sql.Identifier(name), sql.Identifier(schema or "public")
                )
            )
    except psycopg.errors.InsufficientPrivilege as error:
        if name == "dblink":
            return
        raise ConfigurationError(
            f"the extension {name} is missing and you may not create it",
            detail=str(error.diag.message_primary),
            hint=f"Have a superuser run: create extension {name};",
        ) from None


def _extension_schema(cursor: psycopg.Cursor[Any], name: str) -> str | None:
    cursor.execute(
        "select n.nspname from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace where e.extname = %s",
        (name,),
    )
    row = cursor.fetchone()
    return None if row is None else str(row[0])


def _create_roles(cursor: psycopg.Cursor[Any]) -> None:
    """Create our roles. They belong to the whole server, so another database may be making them at this moment."""
    for role, attributes in ROLES.items():
        cursor.execute("select from pg_roles where rolname = %s", (role,))
        if cursor.fetchone() is not None:
            continue
        try:
            with cursor.connection.transaction():
                cursor.execute(sql.SQL(f"create role {{}} {attributes}").format(sql.Identifier(role)))
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            continue
    # Who may ask may also look; who works may enter what a worker needs; the installer acts as the owner.
    for granted, member in (("pgclarify_reader", "pgclarify_user"), ("pgclarify_owner", None)):
        cursor.execute(
            "select pg_has_role(coalesce(%s, current_user::text), %s, 'member')",
            (member, granted),
        )
        row = cursor.fetchone()
        if row is not None and not row[0]:
            cursor.execute(
                sql.SQL("grant {} to {}").format(
                    sql.Identifier(granted), sql.Identifier(member) if member else sql.SQL("current_user")
                )
            )


def _create_schemas(cursor: psycopg.Cursor[Any]) -> None:
    for schema, comment in (
        (SCHEMA, "pgclarify: the readings of a vague question that documents really answer."),
        ("pgclarify_queue", "The task queue of pgclarify: procrastinate's tables."),
    ):
        cursor.execute(
            sql.SQL("create schema if not exists {} authorization pgclarify_owner").format(sql.Identifier(schema))
        )
        cursor.execute("select pg_get_userbyid(nspowner) from pg_namespace where nspname = %s", (schema,))
        row = cursor.fetchone()
        if row is None or row[0] != "pgclarify_owner":
            # Whoever owns a schema may drop what is in it.
            raise ConfigurationError(
                f"there is a schema {schema} already, and it is not ours",
                detail=f"It belongs to {row and row[0]}.",
                hint=f"Rename it: alter schema {schema} rename to …; then run pgclarify init again.",
            )
        cursor.execute(sql.SQL("comment on schema {} is {}").format(sql.Identifier(schema), comment))
    cursor.execute(
        "grant usage on schema pgclarify to pgclarify_reader, pgclarify_user, pgclarify_worker, pgclarify_loopback"
    )


def _apply_sql(cursor: psycopg.Cursor[Any]) -> None:
    """Apply sql/*.sql in the order of their names.

    `@extschema:name@` stands for an extension's schema, as in scripts of PostgreSQL extensions.
    """
    schemas = {
        # Without dblink the functions are there all the same, and say what is missing when they are called.
        "dblink": _extension_schema(cursor, "dblink") or "pgclarify_dblink",
        "vector": _extension_schema(cursor, "vector"),
    }
    # pgvector's settings are known once its library is loaded; unknown ones only a superuser may put into a function.
    cursor.execute(
        sql.SQL("select {0}.vector_dims('[1]'::{0}.vector)").format(sql.Identifier(schemas["vector"] or "public"))
    )
    # Bodies may name functions of a later file.
    cursor.execute("set local check_function_bodies = off")
    for path in sorted(_shipped("sql").glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(
            r"@extschema:(\w+)@",
            lambda match: sql.Identifier(schemas[match[1]] or "").as_string(cursor),
            text,
        )
        cursor.execute(text.encode())


def _grant_extensions(cursor: psycopg.Cursor[Any]) -> None:
    """Let the owner's functions use the extensions."""
    vector = _extension_schema(cursor, "vector")
    dblink = _extension_schema(cursor, "dblink")
    for schema in {vector, dblink} - {None, "public"}:
        cursor.execute(sql.SQL("grant usage on schema {} to pgclarify_owner").format(sql.Identifier(schema or "")))
    cursor.execute("select rolsuper from pg_roles where rolname = current_user")
    row = cursor.fetchone()
    if dblink is not None and row is not None and row[0]:
        # A role that is no superuser may otherwise connect only where the server asks for a password.
        cursor.execute(
            sql.SQL("grant execute on function {0}.dblink_connect_u(text, text) to pgclarify_owner").format(
                sql.Identifier(dblink)
            )
        )


def _write_keys(cursor: psycopg.Cursor[Any], host: str | None, port: int | None) -> None:
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
