"""Grants, and what tests of access look at."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.sessions import Connection, scalar, sqlstate_of

INVALID_PARAMETER = "22023"
UNDEFINED_OBJECT = "42704"
INSUFFICIENT_PRIVILEGE = "42501"

GRANT = "select pgclarify.grant_access(%s, %s, %s)"
REVOKE = "select pgclarify.revoke_access(%s, %s, %s)"
OPEN = "select pgclarify.grant_access(%s, %s)"
CLOSE = "select pgclarify.revoke_access(%s, %s)"


@pytest.fixture
def corpus(connection: Connection) -> str:
    """A new corpus."""
    name = f"corpus {uuid4().hex[:12]}"
    connection.execute("select pgclarify.create_corpus(%s)", [name])
    connection.execute("select pgclarify.add_document(%s, '1', 'Cars.')", [name])
    return name


def named(connection: Connection, corpus: str) -> tuple[list[str], list[str]]:
    """The readers and the analysts of a corpus."""
    row = connection.execute("select readers, analysts from pgclarify.corpus where corpus = %s", [corpus]).fetchone()
    assert row is not None
    return row[0], row[1]


def documents(connection: Connection) -> int:
    return int(scalar(connection, "select count(*) from pgclarify.document"))


def asks(connection: Connection, corpus: str) -> str | None:
    return sqlstate_of(connection, "select pgclarify.submit('clarify', 'cars', %s)", [corpus])
