"""Dashboards and applications over TCP: roles with passwords, and the rights of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.acceptance.conftest import House
from tests.clients.serving import free_port

SESAME = "open sesame"
ACCESSES = {
    "rita": ("pgclarify_reader", "reader"),
    "uma": ("pgclarify_user", "reader"),
    "Ann O'Neil": ("pgclarify_reader", "analyst"),
}


@pytest.fixture(scope="module")
def address(house: House) -> str:
    """The port of the house's server, with a corpus and a role for each kind of access. The server keeps listening."""
    address = f"127.0.0.1:{free_port()}"
    (house.folder / "fuel.txt").write_text("The refueling fee for an empty tank is ninety dollars.\n")
    house.done("load", "fuel", "fuel.txt")
    house.done("up", "--detach", "--listen", address)
    with psycopg.connect(house.done("dsn").strip(), autocommit=True) as superuser:
        for role, (group, access) in ACCESSES.items():
            make = sql.SQL("create role {} login password {} in role {}")
            superuser.execute(make.format(sql.Identifier(role), SESAME, sql.Identifier(group)))
            superuser.execute("select pgclarify.grant_access('fuel', %s, %s)", [role, access])
    return address


@pytest.fixture(scope="module")
def sessions(house: House, address: str) -> Iterator[dict[str, psycopg.Connection[Any]]]:
    """A connection for each role, by the URL that the command up prints."""
    opened = {
        role: psycopg.connect(f"postgresql://{address}/pgclarify", user=role, password=SESAME, autocommit=True)
        for role in ACCESSES
    }
    yield opened
    for session in opened.values():
        session.close()


ASK = "select answer from pgclarify.clarify('what is the refueling fee', corpus => 'fuel')"
# The queries of a dashboard: each role sees the rows that it may see.
DASHBOARD = "select requested_by, operation from pgclarify.run where corpus = 'fuel'"


def test_each_sees_and_does_what_it_may(sessions: dict[str, psycopg.Connection[Any]]) -> None:
    rita, uma, ann = (sessions[role] for role in ACCESSES)

    # The call waits, through the Unix socket, for the worker. The worker has survived the server's restart.
    assert uma.execute(ASK).fetchall()
    assert [session.execute(DASHBOARD).fetchall() for session in (rita, uma, ann)] == [
        [],
        [("uma", "clarify")],
        [("uma", "clarify")],
    ]


def test_where_it_listens_is_told(house: House, address: str) -> None:
    assert f"listens on {address}" in house.run("doctor").stdout
