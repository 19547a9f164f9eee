"""One PostgreSQL server for a test run, and a copy of its template for each test."""

from __future__ import annotations

import difflib
import gc
import os
import shutil
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from tests import servers
from tests.servers import cluster, copy_database, drop_database, in_database, rolled_back
from tests.servers.templates import copied_clusters, installed, loaded, locked, template

__all__ = ["copied_clusters", "installed", "loaded", "template"]

# Imports and tests stay until the end. Garbage collections that visit all of them would take a third of the time until
# the first test.
gc.disable()

# One process of pytest-xdist runs all of each: clients share a server and a worker, and PyTorch is imported in 5 s.
TOGETHER = (
    ("tests/clients/",),
    (
        "tests/integration/test_models_on_disk.py",
        "tests/unit/embedding/",
        "tests/unit/worker/test_language_models.py",
    ),
)
# Files that take most of a minute. They run first, so that no process ends with one of them while the others are idle.
LONG = ("tests/dbt/test_builds.py", "tests/dbt/test_example.py", "tests/acceptance/test_wheel.py")


class FilesAndFolder(LoadFileScheduling):  # type: ignore[misc]
    """Gives each process of pytest-xdist one file at a time. What belongs together counts as one file."""

    def _split_scope(self, nodeid: str) -> str:
        together = next((paths for paths in TOGETHER if nodeid.startswith(paths)), None)
        return together[0] if together else super()._split_scope(nodeid)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for writing snapshots (`make snapshots`) and for choosing a server (`make test`)."""
    parser.addoption("--update-snapshots", action="store_true", help="write snapshots instead of comparing")
    parser.addoption(
        "--server",
        choices=("18", "17", "16", "managed", "upgraded", "cluster"),
        default="18",
        help="PostgreSQL 18 (default); 17, from Debian; 16, without dblink; 18 with an installing role that is not"
        " superuser; 18 with the schema of the oldest release, restored from its dump and upgraded; or the Citus"
        " cluster of PGCLARIFY_TEST_CLUSTER_URL, in one process, with every corpus distributed",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Replace the usual scheduler for `--dist loadfile`."""
    return FilesAndFolder(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long files first. On a cluster, skip the tests of tests/servers/not_on_a_cluster.toml, with the reason."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
    if config.getoption("server") == "cluster":
        cluster.skip_some(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect garbage after this, except among the objects that exist by then."""
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def heard_interrupts() -> None:
    """SIGINT as a terminal sends it. Processes in the background often ignore it, and so do the processes that they
    start.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def no_settings_of_the_shell() -> Iterator[None]:
    """Remove settings of endpoints and tests from the environment, so that no test depends on them or spends money.

    Processes and sessions are not in UTC, so that no test passes only there.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kathmandu")
        patch.setenv("PGTZ", "Asia/Kathmandu")
        time.tzset()
        for name in [*os.environ]:
            if name.startswith(("OPENAI_", "PGCLARIFY_LLM_", "PGCLARIFY_TEST_")):
                patch.delenv(name)
        yield


@pytest.fixture
def check_snapshot(pytestconfig: pytest.Config) -> Callable[[Path, str], None]:
    """Compare a text with a committed file, or write the file: `check_snapshot(path, text)`."""

    def check(path: Path, text: str) -> None:
        if pytestconfig.getoption("update_snapshots"):
            path.write_text(text, encoding="utf-8")
            return
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if text != before:
            diff = difflib.unified_diff(before.splitlines(), text.splitlines(), path.name, "now", lineterm="", n=2)
            pytest.fail(
                f"{path.name} does not show what the code does now. If that is on purpose, run `make snapshots`, read"
                " the difference, and list it in the commit message.\n\n" + "\n".join(diff),
                pytrace=False,
            )

    return check


@pytest.fixture(scope="session")
def shared_dir(testrun_uid: str, kind_of_server: str) -> Path:
    """A folder that only the workers of this run share. The next runs would clean up pytest's own folders."""
    return servers.folder_of_servers(kind_of_server) / f"pgclarify-tests-{testrun_uid[:8]}"


@pytest.fixture(scope="session")
def kind_of_server(pytestconfig: pytest.Config) -> str:
    """The kind of server from --server."""
    return str(pytestconfig.getoption("server"))


@pytest.fixture(scope="session")
def server(shared_dir: Path, kind_of_server: str) -> Iterator[str]:
    """A server that all workers of pytest-xdist share, as the URL of a superuser in database "postgres".

    It listens only on a Unix socket, and asks no role for a password, so a test chooses its role by `user=`. The last
    worker that ends stops the server and removes its data.
    """
    if kind_of_server == "cluster":
        yield cluster.servers()[0]
        return
    data_dir = shared_dir / "server"
    visitors = shared_dir / "visitors"
    visitor = visitors / str(os.getpid())
    with locked(shared_dir):
        visitors.mkdir(exist_ok=True)
        dsn = in_database(servers.start(kind_of_server, data_dir), "postgres")
        if _set_connections(dsn):
            servers.stop(kind_of_server, data_dir)
            servers.start(kind_of_server, data_dir)
        hurry(dsn)
        if kind_of_server not in servers.OLDER:
            trust_everybody(dsn, but_the_loopback=kind_of_server == "managed")
        # Plans must depend on the statistics that a test makes, not on the time of an automatic ANALYZE.
        _set_off(dsn, "autovacuum")
        visitor.touch()
    yield dsn
    with locked(shared_dir):
        visitor.unlink()
        # A killed worker has not removed its file.
        if not any(_is_alive(int(other.name)) for other in visitors.iterdir()):
            servers.stop(kind_of_server, data_dir)
            # Rename it first: a worker that starts meanwhile makes a new folder of this name.
            shutil.rmtree(shared_dir.rename(f"{shared_dir}-{os.getpid()}"))


@pytest.fixture(scope="session")
def admin(server: str) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection to database "postgres", where databases and roles are made."""
    with closing(psycopg.connect(server, autocommit=True)) as connection:
        yield connection


@pytest.fixture(scope="session")
def admins(admin: psycopg.Connection[Any], kind_of_server: str) -> Iterator[list[psycopg.Connection[Any]]]:
    """Connections like `admin` to all servers of the tests: three or more for a cluster."""
    nodes = cluster.servers()[1:] if kind_of_server == "cluster" else []
    with ExitStack() as opened:
        yield [admin, *(opened.enter_context(closing(psycopg.connect(node, autocommit=True))) for node in nodes)]


@pytest.fixture
def make_role(admins: Sequence[psycopg.Connection[Any]]) -> Iterator[Callable[..., str]]:
    """Make roles that may log in and are members of given roles: `alice = make_role("pgclarify_user")`.

    Roles belong to the whole server, so their names are unique. They are dropped after the test's databases.
    """
    made: list[str] = []

    def make(*memberships: str, name: str = "role") -> str:
        role = f"{name}_{uuid4().hex[:12]}"
        made.append(role)
        for admin in admins:
            admin.execute(sql.SQL("create role {} login").format(sql.Identifier(role)))
        for membership in memberships:
            admins[0].execute(sql.SQL("grant {} to {}").format(sql.Identifier(membership), sql.Identifier(role)))
        return role

    yield make
    for role in reversed(made):
        for admin in admins:
            admin.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(role)))


@pytest.fixture
def make_database(
    server: str, admins: Sequence[psycopg.Connection[Any]], template: str, make_role: Callable[..., str]
) -> Iterator[Callable[..., str]]:
    """Make databases, as copies of a template or empty, and return their URLs. They are dropped with their sessions.

    It needs make_role, so that roles outlive the databases in which they own objects. It needs the template, so that
    our own roles exist.
    """
    made: list[str] = []

    def make(template: str = "template1") -> str:
        made.append(copy_database(admins, template))
        return in_database(server, made[-1])

    yield make
    for database in made:
        for admin in admins:
            drop_database(admin, database)


@pytest.fixture
def database(
    request: pytest.FixtureRequest,
    installed: Callable[[], AbstractContextManager[str]],
    make_role: Callable[..., str],
) -> Iterator[str]:
    """URL of a database with the schema, for this test alone, and with a corpus if it has the mark `loaded`.

    The test's roles outlive what they own in it.
    """
    assert not is_rolled_back(request.node), "a test that needs its own database must be marked as committed"
    is_loaded = request.node.get_closest_marker("loaded") is not None
    lend = request.getfixturevalue("loaded") if is_loaded else installed
    with lend() as dsn:
        yield dsn


@pytest.fixture(scope="module")
def stage(installed: Callable[[], AbstractContextManager[str]]) -> Iterator[rolled_back.Stage]:
    """The session of a module that rolls its tests back."""
    with installed() as dsn, closing(psycopg.connect(dsn, autocommit=True)) as session:
        yield rolled_back.Stage(session)


@pytest.fixture
def connection(connect: Callable[..., psycopg.Connection[Any]]) -> psycopg.Connection[Any]:
    """A superuser's connection to the test's database, in autocommit."""
    return connect()


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., psycopg.Connection[Any]]]:
    """Open connections to the test's database, in autocommit: `connect(alice)` as a role, `connect()` as superuser."""
    if is_rolled_back(request.node):
        # A role can only be dropped when it owns nothing.
        request.getfixturevalue("make_role")
        with request.getfixturevalue("stage").play() as act:
            yield act
        return
    database = request.getfixturevalue("database")
    is_on_cluster = request.config.getoption("server") == "cluster"
    with ExitStack() as opened:

        def connect_to(user: str | None = None) -> psycopg.Connection[Any]:
            kind = cluster.Superuser if is_on_cluster and user is None else psycopg.Connection
            return opened.enter_context(closing(kind.connect(database, user=user, autocommit=True)))

        yield connect_to


def is_rolled_back(test: pytest.Item) -> bool:
    """Whether a test shares a database and is rolled back: see tests/servers/rolled_back.py.

    None is on a cluster: to distribute a corpus locks all roles until the transaction ends, and tests make roles.
    """
    marks = {mark.name for mark in test.iter_markers()}
    is_on_cluster = test.config.getoption("server") == "cluster"
    return "rolled_back" in marks and "committed" not in marks and not is_on_cluster


def hurry(dsn: str) -> None:
    """Tests need not survive a crash of the machine."""
    _set_off(dsn, "fsync", "full_page_writes", "synchronous_commit")


def trust_everybody(dsn: str, *, but_the_loopback: bool = False) -> None:
    """Let a server ask no role for a password on its socket until the next start.

    dblink admits a role that is not superuser only if the server asked for a password.
    """
    role = f"probe_{uuid4().hex[:12]}"
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        row = connection.execute("show hba_file").fetchone()
        assert row is not None
        rules = Path(row[0])
        first = "local all pgclarify_loopback scram-sha-256\n" if but_the_loopback else ""
        rules.write_text(f"{first}local all,replication all trust\n{rules.read_text()}")
        connection.execute(sql.SQL("create role {} login").format(sql.Identifier(role)))
        connection.execute("select pg_reload_conf()")
        # The postmaster makes sessions, and reads the file some time later.
        while not _may_come(dsn, role):
            time.sleep(0.01)
        connection.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def _may_come(dsn: str, user: str) -> bool:
    with suppress(psycopg.OperationalError):
        psycopg.connect(dsn, user=user).close()
        return True
    return False


def _set_connections(dsn: str) -> bool:
    """Allow connections of several pytest-xdist processes. Returns whether the server has to restart."""
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        row = connection.execute("select current_setting('max_connections')::integer").fetchone()
        if row == (servers.CONNECTIONS,):
            return False
        connection.execute(sql.SQL("alter system set max_connections = {}").format(servers.CONNECTIONS))
        return True


def _set_off(dsn: str, *settings: str) -> None:
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        for setting in settings:
            connection.execute(sql.SQL("alter system set {} = off").format(sql.Identifier(setting)))
        connection.execute("select pg_reload_conf()")


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True
