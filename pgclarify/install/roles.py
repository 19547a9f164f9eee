"""Roles, which belong to the whole server, and the schemas that they own."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from pgclarify.errors import ConfigurationError
from pgclarify.schema_names import PRIVATE_SCHEMA, SCHEMA

# The schema of the role that runs trigger functions, and of its name.
CAPTURE_SCHEMA = "pgclarify_capture"
ROLES = {
    "pgclarify_owner": "nologin",
    # Owns what people read. It may read our tables, and their policies apply to it.
    "pgclarify_views": "nologin",
    # Triggers on users' tables run as this role, so it must have no other rights.
    "pgclarify_capture": "nologin",
    # Creates the roles that read attached tables, one for each owner.
    "pgclarify_role_maker": "nologin createrole",
    "pgclarify_reader": "nologin",
    "pgclarify_user": "nologin",
    "pgclarify_worker": "nologin",
    # The second connection of waiting calls. The limit leaves connections for the callers.
    "pgclarify_loopback": "login connection limit 20",
}
# Which role is a member of which other one, and the rights that it needs.
MEMBERSHIPS = (
    # Roles that may ask may also read.
    ("pgclarify_reader", "pgclarify_user", ("usage",)),
    # The owner gives them functions and views, and replaces those.
    ("pgclarify_capture", "pgclarify_owner", ("usage", "set")),
    ("pgclarify_views", "pgclarify_owner", ("usage", "set")),
)
# What existing roles lack, as statements.
LACKING = """
    select format('alter role %I %s', rolname, lacking) as statement
    from pg_roles
    cross join lateral (
        values
            (case when rolname = 'pgclarify_loopback' and not rolcanlogin then 'login' end),
            (case when rolname = 'pgclarify_role_maker' and not rolcreaterole then 'createrole' end)
    ) as needed (lacking)
    where lacking is not null
    order by rolname
"""
SCHEMAS = {
    SCHEMA: "pgclarify: the readings of a vague question that documents really answer.",
    PRIVATE_SCHEMA: "What pgclarify itself uses. It may change with every version.",
    CAPTURE_SCHEMA: "All that the triggers of attached tables know of pgclarify.",
}
# Only a role that may create objects in a schema can be given one there.
SCHEMA_GRANTS = (
    *(
        ("usage", schema, role)
        for role in ("pgclarify_reader", "pgclarify_user", "pgclarify_views", "pgclarify_worker", "pgclarify_loopback")
        for schema in (SCHEMA, PRIVATE_SCHEMA)
    ),
    ("usage", CAPTURE_SCHEMA, "pgclarify_capture"),
    ("create", CAPTURE_SCHEMA, "pgclarify_capture"),
    ("create", SCHEMA, "pgclarify_views"),
    ("create", PRIVATE_SCHEMA, "pgclarify_views"),
)


def create_roles(cursor: psycopg.Cursor[Any]) -> frozenset[str]:
    """Create our roles. They belong to the whole server, so another database may be creating them at the same time.

    Returns:
        The created roles.
    """
    made: set[str] = set()
    for role, attributes in ROLES.items():
        cursor.execute("select from pg_roles where rolname = %s", (role,))
        if cursor.fetchone() is not None:
            continue
        try:
            with cursor.connection.transaction():
                cursor.execute(sql.SQL(f"create role {{}} {attributes}").format(sql.Identifier(role)))
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            continue
        made.add(role)
    for granted, member, rights in MEMBERSHIPS:
        grant_role(cursor, granted, member, rights)
    cursor.execute("select current_user")
    ((installer,),) = cursor.fetchall()
    # The installer acts as the owner, and grants what the owner has.
    grant_role(cursor, "pgclarify_owner", installer, ("usage", "set"))
    return frozenset(made)


def mend_roles(cursor: psycopg.Cursor[Any]) -> tuple[str, ...]:
    """Give existing roles the rights and options that new ones would have.

    Returns:
        The statements that were needed.

    Raises:
        ConfigurationError: If we may not run one of them.
    """
    cursor.execute(LACKING)
    statements = tuple(statement for (statement,) in cursor.fetchall())
    for statement in statements:
        try:
            with cursor.connection.transaction():
                cursor.execute(statement.encode())
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                "an existing role of pgclarify lacks what it needs",
                detail=f"You may not run: {statement}.",
                hint=f"Have a superuser run: {'; '.join(statements)}; then run pgclarify init again.",
                sqlstate=error.sqlstate,
            ) from None
    return statements


def grant_role(cursor: psycopg.Cursor[Any], granted: str, member: str, rights: tuple[str, ...]) -> None:
    """Make a role a member of another, unless it already has the rights.

    The creator of a role is a member that may grant the membership, but can neither SET ROLE to it nor inherit its
    rights.
    """
    cursor.execute(
        "select bool_and(pg_has_role(%s::name, %s::name, needed)) from unnest(%s::text[]) as needed",
        (member, granted, list(rights)),
    )
    if cursor.fetchall() != [(True,)]:
        cursor.execute(
            sql.SQL("grant {} to {} with inherit true, set true").format(
                sql.Identifier(granted), sql.Identifier(member)
            )
        )


def create_schemas(cursor: psycopg.Cursor[Any]) -> None:
    """Create the schemas, owned by pgclarify_owner."""
    for schema, comment in SCHEMAS.items():
        name = sql.Identifier(schema)
        cursor.execute("select to_regnamespace(%s) is null", (schema,))
        if cursor.fetchone() == (True,):
            cursor.execute(sql.SQL("create schema {} authorization pgclarify_owner").format(name))
        cursor.execute(sql.SQL("comment on schema {} is {}").format(name, comment))
    for right, schema, role in SCHEMA_GRANTS:
        cursor.execute("select has_schema_privilege(%s::name, %s, %s)", (role, schema, right))
        # Even a grant without effect conflicts with simultaneous grants on the schema.
        if cursor.fetchone() != (True,):
            cursor.execute(
                sql.SQL(f"grant {right} on schema {{}} to {{}}").format(sql.Identifier(schema), sql.Identifier(role))
            )
