"""Which connections the embedded server accepts by its rules for users, and what a role may do then."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify import embedded
from pgclarify.install.installer import install
from tests.servers import folder_of_servers
from tests.sessions import Connection, scalar, sqlstate_of

SESAME = "open sesame"
DENIED, NO_WORKER = "42501", "PC001"
# The error of dblink if a server did not ask for a password, or of a server that rejected it.
TURNED_DOWN = {"2F003", "08001"}
WHERE = "host={host} port={port} dbname=pgclarify"


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    # Not pytest's folder: it closes the one above all of them to other users, and so to our server.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as name:
        folder = Path(name) / "data"
        dsn = embedded.start(folder)
        install(dsn)
        with closing(psycopg.connect(dsn, autocommit=True)) as superuser:
            superuser.execute("create role alice login in role pgclarify_user")
            superuser.execute("create role mute login in role pgclarify_user")
            superuser.execute("create role mighty login superuser")
            superuser.execute(f"alter role alice password '{SESAME}'; alter role mighty password '{SESAME}'".encode())
        yield folder
        embedded.stop(folder)


@pytest.fixture
def dsn(data_dir: Path) -> str:
    return embedded.start(data_dir)


@pytest.fixture
def superuser(dsn: str) -> Iterator[Connection]:
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        yield connection


def come(dsn: str, user: str, password: str | None = None) -> psycopg.Connection[Any]:
    return psycopg.connect(dsn, user=user, password=password, autocommit=True, passfile="/dev/null")


def may_come(dsn: str, user: str, password: str | None = None) -> bool:
    with suppress(psycopg.OperationalError):
        come(dsn, user, password).close()
        return True
    return False


def check_rules(dsn: str) -> None:
    """The user who owns the data is the superuser. All other roles need their password."""
    assert may_come(dsn, "postgres")
    assert may_come(dsn, "alice", SESAME)
    assert may_come(dsn, "mighty", SESAME)
    for user in ("alice", "mighty", "mute", "pgclarify_loopback", "pgclarify_owner"):
        assert not may_come(dsn, user)
        assert not may_come(dsn, user, "wrong")


def test_each_role_needs_a_password_but_the_owner_of_the_data(dsn: str) -> None:
    check_rules(dsn)


def test_also_where_it_listens(data_dir: Path) -> None:
    address = embedded.Address("127.0.0.1", 54329)
    embedded.listen(data_dir, address)
    try:
        check_rules(embedded.start(data_dir))
        assert may_come(f"postgresql://{address}/pgclarify", "alice", SESAME)
        assert not may_come(f"postgresql://{address}/pgclarify", "postgres", SESAME)
    finally:
        embedded.listen(data_dir, None)


def test_a_cluster_of_an_earlier_version_gets_the_rules_at_its_next_start(data_dir: Path) -> None:
    embedded.stop(data_dir)
    cluster = data_dir / "postgres"
    before = (cluster / "pg_hba.conf").read_text()
    (cluster / "pg_hba.conf").write_text("local all all trust\nlocal replication all trust\n")
    for file in cluster.glob("pgclarify_*.conf"):
        file.unlink()

    check_rules(embedded.start(data_dir))

    (cluster / "pg_hba.conf").write_text(before)


def test_a_call_that_waits_gets_its_loopback(dsn: str) -> None:
    with closing(come(dsn, "alice", SESAME)) as alice:
        alice.execute("select pgclarify.create_corpus('kb')")
        assert sqlstate_of(alice, "select * from pgclarify.clarify('cars', 'kb')") == NO_WORKER


@pytest.fixture
def where(superuser: Connection) -> str:
    """How the server reaches itself by its socket."""
    return WHERE.format(
        host=scalar(superuser, "select socket_dir from pgclarify_private.loopback"), port=scalar(superuser, "show port")
    )


@pytest.mark.parametrize("role", ["alice", "pgclarify_owner"])
@pytest.mark.parametrize("password", ["", f" password='{SESAME}'"])
def test_no_role_connects_back_as_a_superuser(superuser: Connection, where: str, role: str, password: str) -> None:
    superuser.execute(f"set session authorization {role}".encode())
    target = f"{where} user=postgres{password}"

    assert sqlstate_of(superuser, "select pgclarify_dblink.dblink_connect_u('back', %s)", [target]) == DENIED
    assert sqlstate_of(superuser, "select pgclarify_dblink.dblink_connect('back', %s)", [target]) in TURNED_DOWN | {
        DENIED
    }
    if role == "alice":
        assert sqlstate_of(superuser, "select pgclarify_dblink.connect_loopback('back', '{}')") == DENIED


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"user": "postgres"},
        {"password": "x' user='postgres"},
        {"application_name": "x\\' user='postgres"},
        {"application_name": "x\\"},
        {"service": "other", "passfile": "/etc/passwd", "options": "-c role=pgclarify_loopback"},
    ],
)
def test_the_loopback_is_its_own_role_and_no_other(superuser: Connection, where: str, settings: dict[str, str]) -> None:
    given = psycopg.conninfo.conninfo_to_dict(where)
    given["password"] = scalar(superuser, "select password from pgclarify_private.loopback")
    superuser.execute("set session authorization pgclarify_owner")
    if "password" in settings:
        # The text is used as the password, unchanged.
        query = "select pgclarify_dblink.connect_loopback('back', %s)"
        assert sqlstate_of(superuser, query, [psycopg.types.json.Jsonb(given | settings)]) == "08001"
        return

    superuser.execute(
        "select pgclarify_dblink.connect_loopback('back', %s)", [psycopg.types.json.Jsonb(given | settings)]
    )

    assert (
        scalar(
            superuser,
            "select who from pgclarify_dblink.dblink('back', 'select session_user::text') as found (who text)",
        )
        == "pgclarify_loopback"
    )


def test_init_takes_back_what_earlier_versions_granted(dsn: str, superuser: Connection) -> None:
    may = "select has_function_privilege('pgclarify_owner', 'pgclarify_dblink.dblink_connect_u(text, text)', 'execute')"
    superuser.execute("grant execute on function pgclarify_dblink.dblink_connect_u(text, text) to pgclarify_owner")
    assert scalar(superuser, may)

    install(dsn)

    assert not scalar(superuser, may)


def test_a_role_without_its_password_gets_the_one_that_is_known(dsn: str, superuser: Connection) -> None:
    """For example, in a restored database with roles that were made by hand."""
    superuser.execute("alter role pgclarify_loopback password null")

    assert install(dsn).has_loopback_password

    with closing(come(dsn, "alice", SESAME)) as alice:
        alice.execute("select pgclarify.create_corpus('later')")
        assert sqlstate_of(alice, "select * from pgclarify.clarify('cars', 'later')") == NO_WORKER
