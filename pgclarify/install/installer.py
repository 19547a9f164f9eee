"""Installs and upgrades the schema: extensions, roles, migrations, functions, policies and views.

Everything happens in one transaction under one advisory lock. So two installs at the same time are safe, and one that
fails changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString, cast

import psycopg
import sqlalchemy

from pgclarify.database.queries import queries
from pgclarify.errors import ConfigurationError, DatabaseError, PermissionDenied, ServerUnavailable
from pgclarify.install.citus import keep_on_coordinator
from pgclarify.install.create_extension.files import part
from pgclarify.install.create_extension.update import update_extension
from pgclarify.install.extensions import (
    check_encoding,
    create_extensions,
    extension_schema,
    grant_extensions,
    has_dblink,
)
from pgclarify.install.functions import apply_sql, renew_source_functions
from pgclarify.install.loopback import write_keys
from pgclarify.install.ownership import check_schemas
from pgclarify.install.revisions import current_revision, known_revisions, upgrade
from pgclarify.install.roles import SCHEMAS, create_roles, create_schemas, mend_roles
from pgclarify.install.table_readers import make_role_maker, make_table_readers
from pgclarify.schema_names import PRIVATE_SCHEMA, SCHEMA

# pg_advisory_xact_lock(1885823084, 0): the first key is ours; workers use their ids as the second one.
INSTALL_LOCK = (1885823084, 0)
LOCK_TIMEOUT = "10s"
INSTALL_LOCK_TIMEOUT = "10min"
# How long an install waits for its lock before it says which process holds it.
SILENT_WAIT = "2s"
_APPLICATION = "pgclarify init"

_logger = logging.getLogger(__name__)
OnWait = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Installation:
    """What an install found and did.

    Attributes:
        previous: Revision of the schema before; None if there was none.
        current: Revision of the schema now.
        has_dblink: False if calls that wait will not work on this server.
        has_loopback_password: False if only another database of the server has the password of pgclarify_loopback. Then
            calls that wait fail if the server asks for it.
        mended: Statements that gave existing roles what they lacked.
        given_back: How many objects of ours, restored without owners, belonged to the installer or a superuser.
    """

    previous: str | None
    current: str
    has_dblink: bool
    has_loopback_password: bool
    mended: tuple[str, ...] = ()
    given_back: int = 0


def install(
    dsn: str,
    *,
    loopback_password: str | None = None,
    on_wait: OnWait = _logger.warning,
) -> Installation:
    """Install the schema, or upgrade it. It can be repeated, and two can run at the same time.

    An install without changes takes no lock that a call would wait for. An install waits for another one for ten
    minutes at most. Where CREATE EXTENSION pgclarify was run, this only updates the extension, and does what concerns
    roles and keys.

    Args:
        dsn: Connection string of a role that may create extensions and roles.
        loopback_password: Password of pgclarify_loopback, if another database of the server has set one. None keeps the
            stored one, or creates one for a role without password.
        on_wait: Called after some seconds, with a sentence, if other sessions hold a lock that is needed.

    Raises:
        ServerUnavailable: If there is no connection.
        ConfigurationError: If the server is too old or has no pgvector, the database is not in UTF8, or an existing
            role lacks what it needs.
        PermissionDenied: If the role lacks another right.
        SchemaMismatch: If the schema in the database is newer than this version of pgclarify.
        DatabaseError: If another session holds the lock of installs, running calls block the change of the schema, or
            objects of users need a column that the upgrade removes.
        psycopg.Error: If anything else fails, such as the connection. Then nothing has changed.
    """
    with _transaction(dsn, on_wait) as connection:
        cursor = _cursor(connection)
        given_back = check_schemas(cursor, list(SCHEMAS))
        previous = current_revision(connection)
        newest = known_revisions()[0]
        keep_on_coordinator(cursor)
        create_extensions(cursor)
        new_roles = create_roles(cursor)
        mended = mend_roles(cursor)
        for statement in given_back:
            cursor.execute(statement.encode())
        if extension_schema(cursor, "pgclarify") is not None:
            update_extension(cursor)
            grant_extensions(cursor)
            cursor.execute("set local role pgclarify_owner")
            if given_back:
                renew_source_functions(cursor)
        else:
            create_schemas(cursor)
            grant_extensions(cursor)
            make_role_maker(cursor)
            cursor.execute("set local role pgclarify_owner")
            if previous not in (None, newest):
                cursor.execute(part("lock_tables").encode())
            if previous != newest:
                upgrade(connection, is_new=previous is None)
            apply_sql(cursor, are_tables_new=previous != newest)
        cursor.execute("reset role")
        make_table_readers(cursor)
        has_password = write_keys(cursor, loopback_password, is_role_new="pgclarify_loopback" in new_roles)
        return Installation(previous, newest, has_dblink(cursor), has_password, mended, len(given_back))


# A statement that waits for running calls, and one of them for us, is a deadlock.
_BLOCKED = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)


@contextmanager
def _transaction(dsn: str, on_wait: OnWait) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: _connect(dsn), poolclass=sqlalchemy.NullPool
    )
    try:
        with engine.connect() as connection, connection.begin():
            # Independent of the settings of the caller's role and database.
            connection.exec_driver_sql("set local statement_timeout = 0")
            _take_install_lock(connection, on_wait)
            # While a change waits for running calls, new calls wait behind it.
            connection.exec_driver_sql(f"set local lock_timeout = '{LOCK_TIMEOUT}'")
            _cursor(connection).connection.add_notice_handler(lambda notice: _pass_on(notice, dsn, on_wait))
            yield connection
    except (psycopg.Error, sqlalchemy.exc.DBAPIError) as error:
        cause = error.orig if isinstance(error, sqlalchemy.exc.DBAPIError) else error
        if isinstance(cause, psycopg.errors.InsufficientPrivilege):
            raise PermissionDenied(
                "you may not install pgclarify here, or upgrade it",
                detail=f"PostgreSQL says: {cause.diag.message_primary}.",
                hint="Run pgclarify init as the role that ran it first, or as a superuser.",
            ) from None
        if isinstance(cause, psycopg.errors.DependentObjectsStillExist):
            raise DatabaseError(
                str(cause.diag.message_primary),
                detail=cause.diag.message_detail,
                hint=cause.diag.message_hint,
                sqlstate=cause.sqlstate,
            ) from None
        if not isinstance(cause, _BLOCKED):
            # Not SQLAlchemy's error, which commands cannot explain.
            raise cause or error from None
        raise DatabaseError(
            "other sessions block the change of the schema",
            detail=f"A lock did not come in {LOCK_TIMEOUT}: {_users(dsn)}.",
            hint="Wait until they are over, or end them with pg_terminate_backend. Then try again.",
            sqlstate=cause.sqlstate,
        ) from None
    finally:
        engine.dispose()


def _pass_on(notice: psycopg.errors.Diagnostic, dsn: str, on_wait: OnWait) -> None:
    """Say what lock_tables.sql waits for; no other statement of an install gives an INFO."""
    if notice.severity_nonlocalized == "INFO":
        on_wait(f"{notice.message_primary}, {LOCK_TIMEOUT} at most: {_users(dsn)}")


def _users(dsn: str) -> str:
    """Name the sessions that use our relations. The installing role sees more of them than the tables' owner."""
    ours = """
        l.relation in (select oid from pg_class where relnamespace::regnamespace::text in (%s, %s))
        and a.application_name is distinct from %s
    """
    with closing(_connect(dsn)) as other:
        return _holders(other.cursor(), ours, (SCHEMA, PRIVATE_SCHEMA, _APPLICATION))


def _take_install_lock(connection: sqlalchemy.Connection, on_wait: OnWait) -> None:
    """Wait for the lock of installs, and report the session that holds it.

    Any user may take this lock, so waiting is limited. But another install may hold it for a whole migration.

    Raises:
        DatabaseError: If the time is over.
    """
    for timeout in (SILENT_WAIT, INSTALL_LOCK_TIMEOUT):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"set local lock_timeout = '{timeout}'")
                connection.exec_driver_sql("select pg_advisory_xact_lock(%s, %s)", INSTALL_LOCK)
        except sqlalchemy.exc.OperationalError as error:
            if not isinstance(error.orig, psycopg.errors.LockNotAvailable):
                raise
        else:
            return
        ours = "l.locktype = 'advisory' and (l.classid, l.objid) = (%s, %s) and l.objsubid = 2"
        holder = _holders(_cursor(connection), ours, INSTALL_LOCK)
        if timeout == SILENT_WAIT:
            on_wait(f"waiting for the lock of pgclarify init, {INSTALL_LOCK_TIMEOUT} at most: {holder}")
    raise DatabaseError(
        "another session holds the lock of pgclarify init",
        detail=f"The lock did not come in {INSTALL_LOCK_TIMEOUT}: {holder}.",
        hint="Wait until that session is over, or end it with pg_terminate_backend. Then try again.",
        sqlstate="55P03",
    )


def _holders(cursor: psycopg.Cursor[Any], which: LiteralString, parameters: Sequence[object]) -> str:
    """Name the sessions that hold some locks in this database, those of the oldest transactions first.

    PostgreSQL shows times and statements only of sessions whose role the caller may use.

    Args:
        cursor: Of any session.
        which: A condition on the lock, which is the row l of pg_locks.
        parameters: Of the condition.
    """
    cursor.execute(
        rf"""
        select
            l.pid,
            concat_ws(
                ', ', a.usename, nullif(a.application_name, ''),
                'in a transaction for ' || round(extract(epoch from clock_timestamp() - a.xact_start)) || ' s',
                left(regexp_replace(nullif(a.query, '<insufficient privilege>'), '[\s[:cntrl:]]+', ' ', 'g'), 60)
            )
        from pg_locks as l
        left join pg_stat_activity as a on a.pid = l.pid
        where l.granted
            and l.pid is distinct from pg_backend_pid()
            and l.database = (select oid from pg_database where datname = current_database())
            and {which}
        group by l.pid, a.usename, a.application_name, a.xact_start, a.query
        order by a.xact_start
        limit 5
        """,  # noqa: S608 - a condition of ours
        parameters,
    )
    named = ", ".join(
        f"{pid} ({who})" if pid else "a prepared transaction, see pg_prepared_xacts" for pid, who in cursor.fetchall()
    )
    return f"processes that hold it: {named}" if named else "its session has ended, or is of another database"


def _cursor(connection: sqlalchemy.Connection) -> psycopg.Cursor[Any]:
    """Return a cursor of the driver, in the same transaction."""
    return cast("psycopg.Cursor[Any]", connection.connection.cursor())


def _connect(dsn: str) -> psycopg.Connection[Any]:
    try:
        connection = psycopg.connect(dsn, application_name=_APPLICATION)
    except psycopg.OperationalError as error:
        raise ServerUnavailable(
            "no connection to PostgreSQL",
            detail=str(error).strip().splitlines()[-1],
            hint="Check PGCLARIFY_DATABASE_URL, and whether the server is running.",
        ) from None
    # Before any other statement, also of SQLAlchemy.
    connection.execute(queries["pin_session"])
    connection.commit()
    try:
        check_encoding(connection)
    except ConfigurationError:
        connection.close()
        raise
    return connection
