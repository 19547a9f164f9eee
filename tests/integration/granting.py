"""Grants, and what tests of access look at."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from psycopg import sql

from tests.integration.by_hand import Connection, scalar, state_of

INVALID_PARAMETER = "22023"
UNDEFINED_OBJECT = "42704"
INSUFFICIENT_PRIVILEGE = "42501"

GRANT = "select pgclarify.grant_access(%s, %s, %s)"
REVOKE = "select pgclarify.revoke_access(%s, %s, %s)"
OPEN = "select pgclarify.grant_access(%s, %s)"
CLOSE = "select pgclarify.revoke_access(%s, %s)"


@pytest.fixture
def corpus(connection: Connection, admin: Connection) -> Iterator[str]:
    """A new corpus. Roles belong to the whole server, so the groups named after it are dropped."""
    name = f"corpus {uuid4().hex[:12]}"
    connection.execute("select pgclarify.create_corpus(%s)", [name])
    connection.execute("select pgclarify.add_document(%s, '1', 'Cars.')", [name])
    yield name
    for (role,) in admin.execute("select rolname from pg_roles where rolname ~ %s", [slug(name)]).fetchall():
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def slug(corpus: str) -> str:
    return corpus.replace(" ", "_")


def statements(connection: Connection, query: str, *parameters: str) -> list[str]:
    return [row[0] for row in connection.execute(query.encode(), parameters)]


def named(connection: Connection, corpus: str) -> tuple[str | None, str | None]:
    """The reader and the analyst of a corpus."""
    row = connection.execute("select reader, analyst from pgclarify.corpus where corpus = %s", [corpus]).fetchone()
    assert row is not None
    return row[0], row[1]


def marked(connection: Connection, corpus: str, kind: str) -> str:
    """The notice of grant_access about a group that it creates."""
    number = scalar(connection, "select corpus_id from pgclarify.corpus where corpus = %s", corpus)
    group = f"{kind}s_of_{slug(corpus)}"
    return f"comment on role {group} is 'pgclarify: {kind}s of corpus {number} in database {connection.info.dbname}'"


def documents(connection: Connection) -> int:
    return int(scalar(connection, "select count(*) from pgclarify.document"))


def asks(connection: Connection, corpus: str) -> str | None:
    return state_of(connection, "select pgclarify.submit('clarify', 'cars', %s)", [corpus])
