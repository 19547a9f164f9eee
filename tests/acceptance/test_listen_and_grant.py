"""A server that listens on TCP: a role that was granted a corpus asks, with its password."""

from __future__ import annotations

import psycopg

from tests.acceptance.conftest import House
from tests.clients.serving import free_port

SESAME = "open sesame"
ASK = "select answer from pgclarify.clarify('what is the refueling fee', corpus => 'fuel')"


def test_a_role_asks_where_the_doctor_says_that_the_server_listens(house: House) -> None:
    address = f"127.0.0.1:{free_port()}"
    (house.folder / "fuel.txt").write_text("The refueling fee for an empty tank is ninety dollars.\n")
    house.done("load", "fuel", "fuel.txt")
    house.done("up", "--detach", "--listen", address)
    with psycopg.connect(house.done("dsn").strip(), autocommit=True) as superuser:
        superuser.execute(f"create role uma login password '{SESAME}' in role pgclarify_user".encode())
        superuser.execute("select pgclarify.grant_access('fuel', 'uma')")

    # The call waits, through the Unix socket, for the worker. The worker has survived the server's restart.
    with psycopg.connect(f"postgresql://{address}/pgclarify", user="uma", password=SESAME) as uma:
        assert uma.execute(ASK).fetchall()
    assert f"listens on {address}" in house.run("doctor").stdout
