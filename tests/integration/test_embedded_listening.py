"""The embedded server on TCP: which connections it accepts, and what does not change."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from pgclarify import embedded
from pgclarify.cli.doctor.check import Level
from pgclarify.cli.doctor.server import check_superusers
from pgclarify.database.queries import queries
from pgclarify.embedded import server
from pgclarify.errors import ServerUnavailable
from tests.servers import folder_of_servers

SESAME = "open sesame"
# Before the schema is installed there are none of our roles.
ROLES = """
    create role pgclarify_owner;
    create role pgclarify_reader;
    create role pgclarify_user in role pgclarify_reader;
    create role pgclarify_worker;
    create role pgclarify_loopback login;
    create role ann login in role pgclarify_user;
    create role wanda login in role pgclarify_worker;
    create role stranger login;
    create role boss login in role pgclarify_owner, pgclarify_user;
    create role root superuser login in role pgclarify_user;
    create role chief superuser login in role pgclarify_worker, pgclarify_owner;
    create role mighty superuser login;
    grant pgclarify_user to postgres;
"""

PEOPLE = ("postgres", "ann", "wanda", "stranger", "boss", "pgclarify_loopback", "root", "chief", "mighty")


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    # Not pytest's folder: it closes the one above all of them to other users, and so to our server.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as name:
        folder = Path(name) / "data"
        with psycopg.connect(embedded.start(folder)) as connection:
            connection.execute(ROLES)
            for role in PEOPLE:
                verifier = connection.pgconn.encrypt_password(SESAME.encode(), role.encode(), b"scram-sha-256")
                connection.execute(
                    psycopg.sql.SQL("alter role {} password {}").format(
                        psycopg.sql.Identifier(role), psycopg.sql.Literal(verifier.decode())
                    )
                )
        yield folder
        embedded.stop(folder)


@pytest.fixture
def address() -> Iterator[embedded.Address]:
    """A free port. It stays bound, so the system gives it to no other process. SO_REUSEADDR lets a server use it."""
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        yield embedded.Address("127.0.0.1", reserved.getsockname()[1])


def may_enter(address: embedded.Address, user: str, sesame: str = SESAME, database: str = "pgclarify") -> bool:
    with suppress(psycopg.OperationalError):
        psycopg.connect(
            host=address.host, port=address.port, user=user, password=sesame, dbname=database, connect_timeout=60
        ).close()
        return True
    return False


def test_tcp_is_open_to_members_of_our_roles_with_their_passwords(data_dir: Path, address: embedded.Address) -> None:
    dsn = embedded.start(data_dir)
    assert embedded.listen(data_dir, address)
    # Already so.
    assert not embedded.listen(data_dir, address)

    assert embedded.listens_on(data_dir) == address
    assert [user for user in ("ann", "wanda") if may_enter(address, user)] == ["ann", "wanda"]
    assert not may_enter(address, "ann", sesame="")
    assert not may_enter(address, "ann", sesame="wrong")
    assert not may_enter(address, "ann", database="postgres")
    # Members of the owner and the server's superuser are rejected, also as members of other roles.
    for user in ("postgres", "boss", "stranger", "pgclarify_loopback"):
        assert not may_enter(address, user)

    # Other superusers may connect like any member: the doctor reports them.
    with closing(psycopg.connect(dsn)) as connection:
        found = connection.execute(queries["client_list_open_superusers"]).fetchall()
    assert [user for user in ("postgres", "root", "chief", "mighty") if may_enter(address, user)] == ["root"]
    assert found == [("root",)]
    assert check_superusers(["root"]).level is Level.WARNING
    assert check_superusers([]).level is Level.OK

    # The connection string of the socket is unchanged, although PostgreSQL now names it by the TCP port. It needs no
    # password.
    assert embedded.running_dsn(data_dir) == dsn
    with closing(psycopg.connect(dsn)) as connection:
        assert connection.execute("show port").fetchone() == (str(address.port),)


def test_the_tcp_address_stays_open_over_restarts_until_it_is_closed(data_dir: Path, address: embedded.Address) -> None:
    embedded.listen(data_dir, address)
    dsn = embedded.start(data_dir)
    assert embedded.stop(data_dir)
    assert embedded.listens_on(data_dir) is None
    assert embedded.start(data_dir) == dsn
    assert embedded.listens_on(data_dir) == address

    assert embedded.listen(data_dir, None)
    assert embedded.listens_on(data_dir) is None
    assert not may_enter(address, "ann")
    assert embedded.running_dsn(data_dir) == dsn
    with closing(psycopg.connect(dsn)) as connection:
        assert connection.execute("select 1").fetchone() == (1,)

    # A server that does not run is not started, but uses the address from its next start on.
    embedded.stop(data_dir)
    assert not embedded.listen(data_dir, address)
    assert embedded.running_dsn(data_dir) is None
    embedded.start(data_dir)
    assert may_enter(address, "ann")


@pytest.fixture
def neighbor(address: embedded.Address) -> Iterator[None]:
    """A port with the same number at another address of this machine, used by another program."""
    with socket.create_server(("127.0.0.2", address.port)):
        yield


@pytest.mark.usefixtures("neighbor")
def test_a_server_that_cannot_start_there_goes_on_as_it_was(data_dir: Path, address: embedded.Address) -> None:
    dsn = embedded.start(data_dir)
    embedded.listen(data_dir, address)
    with pytest.raises(ServerUnavailable):
        embedded.listen(data_dir, embedded.Address("0.0.0.0", address.port))  # noqa: S104
    assert embedded.running_dsn(data_dir) == dsn
    assert embedded.listens_on(data_dir) == address
    assert may_enter(address, "ann")


def test_a_start_says_that_somebody_has_taken_the_port(data_dir: Path, address: embedded.Address) -> None:
    embedded.start(data_dir)
    embedded.listen(data_dir, address)
    embedded.stop(data_dir)
    with socket.create_server((address.host, address.port)), pytest.raises(ServerUnavailable) as refused:
        embedded.start(data_dir)
    assert str(address) in refused.value.message
    embedded.listen(data_dir, None)


def test_closed_is_closed_whatever_the_servers_own_settings_say(data_dir: Path) -> None:
    embedded.start(data_dir)
    embedded.listen(data_dir, None)
    embedded.stop(data_dir)
    settings = data_dir / "postgres" / "postgresql.conf"
    before = settings.read_text()
    settings.write_text(f"{before}\nlisten_addresses = '127.0.0.1'\n")
    with closing(psycopg.connect(embedded.start(data_dir))) as connection:
        assert embedded.listens_on(data_dir) is None
        assert not embedded.listen(data_dir, None)
        assert connection.execute("show listen_addresses").fetchone() == ("",)
    settings.write_text(before)


def test_a_socket_that_is_elsewhere_stays_there(address: embedded.Address) -> None:
    """Workers connect again by the URL that they were started with."""
    with tempfile.TemporaryDirectory(prefix="pgclarify test ", dir=folder_of_servers()) as name:
        folder = Path(name)
        dsn = embedded.start(folder)
        try:
            for place in (address, None):
                assert embedded.listen(folder, place)
                assert embedded.running_dsn(folder) == dsn
                with closing(psycopg.connect(dsn)) as connection:
                    assert connection.execute("select 1").fetchone() == (1,)
        finally:
            embedded.stop(folder)


def test_a_server_that_does_not_stop_in_time_says_so(
    data_dir: Path, address: embedded.Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = embedded.start(data_dir)
    embedded.listen(data_dir, None)
    monkeypatch.setattr(server, "_STOP_SECONDS", 1)
    with closing(psycopg.connect(dsn)) as held:
        os.kill(held.info.backend_pid, signal.SIGSTOP)
        try:
            with pytest.raises(ServerUnavailable) as refused:
                embedded.listen(data_dir, address)
        finally:
            os.kill(held.info.backend_pid, signal.SIGCONT)
    assert refused.value.hint
    deadline = time.monotonic() + 120
    while (data_dir / "postgres" / "postmaster.pid").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert embedded.start(data_dir) == dsn
    assert embedded.listens_on(data_dir) is None
