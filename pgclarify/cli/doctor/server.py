"""Checks of the database server: dblink, the loopback, the schema, the caller's roles.

Only `pgclarify init` checks what it refuses or mends, such as an old server; and only a worker refuses a pooler.
"""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from pgclarify.cli import connection
from pgclarify.cli.doctor.check import Check, ok, problem, warning
from pgclarify.embedded import Address
from pgclarify.errors import PermissionDenied, PgclarifyError, SchemaMismatch
from pgclarify.install.versions import check_schema


def check_listening(address: Address | None) -> Check:
    """Say from where the embedded server can be reached.

    Args:
        address: Its TCP address; None without TCP.
    """
    name = "listening"
    if address is None:
        return ok(name, "on its Unix socket alone")
    if address.is_local:
        return ok(name, f"on {address}, for this machine alone")
    return warning(
        name,
        f"on {address}, without encryption: people who can watch the network can read questions and answers",
        "In a network that you do not trust: pgclarify up -d --listen 127.0.0.1:5433, and connect through a tunnel.",
    )


def check_superusers(found: Sequence[str]) -> Check:
    """Check whether superusers can connect over TCP.

    Args:
        found: The superusers that can, because of their memberships.
    """
    name = "superusers"
    if not found:
        return ok(name, "none may come in over the network")
    return warning(
        name,
        f"with a password they may come in over the network: {', '.join(found)}",
        "Give them other logins for pgclarify; take pgclarify_reader, pgclarify_user and pgclarify_worker from these.",
    )


def check_dblink(installed: str | None, available: str | None) -> Check:
    """Check the extension dblink, which calls that wait need.

    Args:
        installed: Its version in this database; None if it is not installed.
        available: The version that the server can install; None if there is none.
    """
    without = "calls that wait do not work; submit, wait and result do"
    if installed is not None:
        return ok("extension dblink", f"version {installed}")
    if available is not None:
        return warning("extension dblink", f"not installed here, so {without}", "Run as a superuser: pgclarify init")
    return warning(
        "extension dblink",
        f"not available on this server, so {without}",
        "Install PostgreSQL's contrib package on the server, then run as a superuser: pgclarify init",
    )


def check_loopback(database: connection.Database) -> Check:
    """Check whether a waiting call gets its second connection, by opening one as any caller does.

    With an isolation level above READ COMMITTED, every look at runs uses it, even for no run at all. So nothing is
    asked or paid for.
    """
    name = "loopback"
    try:
        database.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with database.transaction():
            connection.client_of(database).wait([], timeout=5.0)
    except PermissionDenied as error:
        # dblink's own refusal looks similar, but its detail names a password.
        detail = error.detail or ""
        if "password" in detail.lower():
            return _no_loopback(database, detail)
        return warning(
            name, "could not be checked by this role, which may not ask", "Run pgclarify doctor as a role that may ask."
        )
    except PgclarifyError as error:
        return _no_loopback(database, error.detail or error.message)
    finally:
        database.isolation_level = None
    return ok(name, "a call that waits gets its second connection")


def _no_loopback(database: connection.Database, detail: str) -> Check:
    finding = f"calls that wait get no second connection: {' '.join(detail.split()).rstrip('.')}"
    return problem("loopback", finding, loopback_remedy(detail, database.info.dbname))


def loopback_remedy(detail: str, database: str) -> str:
    """Say what to do about a loopback connection that the server refuses.

    Args:
        detail: The message of the server or of libpq.
        database: Name of the database.
    """
    said = detail.lower()
    # The kind of line in pg_hba.conf depends on the connection.
    kind = "local" if "[local]" in said or "socket" in said else "host"
    address = " 127.0.0.1/32" if kind == "host" else ""
    line = f"{kind} {database} pgclarify_loopback{address} scram-sha-256"
    if "pg_hba.conf" in said or "peer authentication" in said or "ident authentication" in said:
        return f"Add this line to pg_hba.conf, above all that fit as well: {line} - then run: select pg_reload_conf();"
    if "non-superusers" in said or "does not exist" in said:
        return "Have a superuser run: pgclarify init"
    if "password" in said:
        return (
            "Let both sides know one password. As a superuser: alter role pgclarify_loopback password 'a long one';"
            " and in each database: update pgclarify_private.loopback set password = 'the same';"
        )
    statement = "update pgclarify_private.loopback set host = 'HOST', port = PORT;"
    return f"Tell pgclarify where the server reaches itself: {statement} (in pg_hba.conf: {line})."


def check_memberships(user: str, usages: set[str]) -> Check:
    """Say what the caller may do.

    Args:
        user: The role of our connection.
        usages: Roles of pgclarify whose rights it has.
    """
    name = "your rights"
    grants = f"Have an administrator run: grant pgclarify_user to {user};"
    if "pgclarify_reader" not in usages:
        return problem(name, f"role {user} may neither ask nor look", grants)
    if "pgclarify_user" not in usages:
        return warning(name, f"role {user} may look, but not ask", grants)
    works = (
        "may also run a worker"
        if "pgclarify_worker" in usages
        else "may not run a worker, which needs pgclarify_worker"
    )
    return ok(name, f"role {user} may ask, and {works}")


def check_revision(database: connection.Database) -> Check:
    """Check whether the schema is that of this version."""
    try:
        check_schema(database)
    except SchemaMismatch as error:
        return problem("schema", f"{error.message} ({(error.detail or '').rstrip('.')})", error.hint)
    return ok("schema", "as this version wants it")
