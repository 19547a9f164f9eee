"""Checks of the database server: the loopback, the schema, the caller's roles.

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


def check_loopback(database: connection.Database) -> Check:
    """Check whether a waiting call gets its second connection, by opening one as any caller does.

    With an isolation level above READ COMMITTED, every look at runs uses it, even for no run at all. So nothing is
    asked or paid for.
    """
    name = "loopback"
    client = connection.client_of(database)
    if not client.rows("client_find_extension", name="dblink"):
        return warning(
            name,
            "calls that wait do not work, because this database has no dblink",
            "Install dblink and run pgclarify init, or use submit, wait and result: docs/run-states.md#without-dblink",
        )
    try:
        database.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with database.transaction():
            client.wait([], timeout=5.0)
    except PermissionDenied:
        return warning(
            name, "could not be checked by this role, which may not ask", "Run pgclarify doctor as a role that may ask."
        )
    except PgclarifyError as error:
        detail = " ".join(f"{error.message}: {error.detail or ''}".split()).rstrip(".:")
        return problem(name, f"calls that wait get no second connection: {detail}", error.hint)
    finally:
        database.isolation_level = None
    return ok(name, "a call that waits gets its second connection")


def check_memberships(user: str, usages: set[str]) -> Check:
    """Say what the caller may do.

    Args:
        user: The role of our connection.
        usages: Roles of pgclarify whose rights it has.
    """
    name = "your rights"
    grants = f"Have an administrator run: grant pgclarify_user to {user};"
    if "pgclarify_owner" in usages:
        return ok(name, f"role {user} may ask and look: it has the rights of pgclarify_owner")
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
