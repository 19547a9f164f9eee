"""Databases that tests get copies of: one with the schema, and one in which a worker has also loaded a corpus."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from pgclarify.embedded import server as embedded_server
from pgclarify.embedded.programs import Account
from pgclarify.install.installer import install
from tests import servers
from tests.migration import releases
from tests.servers import cluster, copy_database, drop_database, in_database
from tests.workers import load, wait_until_linked, wait_until_searchable, worker

TEMPLATE: Final = "pgclarify_template"
LOADED: Final = "pgclarify_loaded"

Lend = Callable[[], AbstractContextManager[str]]


@pytest.fixture(scope="session", autouse=True)
def copied_clusters() -> Iterator[None]:
    """Run initdb once in a process. Its later clusters are copies of the first, with the same system identifier."""
    create = embedded_server._create_cluster
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:

        def copy(cluster: Path, account: Account | None) -> None:
            made = Path(folder, str(account and account.uid))
            if made.exists():
                origin, target = made, cluster
            else:
                create(cluster, account)
                origin, target = cluster, made
            # Not by shutil, which copies no owners.
            subprocess.run(["cp", "-a", origin, target], check=True)

        patch.setattr(embedded_server, "_create_cluster", copy)
        yield


@pytest.fixture(scope="session")
def template(server: str, admin: psycopg.Connection[Any], shared_dir: Path, kind_of_server: str) -> Iterator[str]:
    """Name of a database with the schema. No role may connect to it."""
    if kind_of_server == "cluster":
        with cluster.template() as name:
            yield name
        return

    def fill(new: str) -> None:
        install(servers.hand_to_tenant(new) if kind_of_server == "managed" else new)
        if kind_of_server == "upgraded":
            # The roles are there now, which a dump does not make.
            dumped = releases.oldest_unused(new)
            _make_anew(admin, urlsplit(new).path.removeprefix("/"))
            releases.restore(dumped, new)
            install(new)

    with locked(shared_dir):
        _make(admin, server, TEMPLATE, "template1", fill)
    yield TEMPLATE


@pytest.fixture(scope="session")
def installed(server: str, admins: Sequence[psycopg.Connection[Any]], template: str) -> Lend:
    """Lend a database with the schema: `with installed() as dsn`."""
    return _lending(server, admins, template)


@pytest.fixture(scope="session")
def loaded(
    server: str, admins: Sequence[psycopg.Connection[Any]], template: str, shared_dir: Path, kind_of_server: str
) -> Lend:
    """Lend a database with the schema and the corpus of tests/workers.py, which is searchable and linked.

    Templates of a cluster are copied server by server, and its corpora are distributed. So the corpus is loaded there
    each time, and a worker of the test makes it searchable.
    """
    if kind_of_server == "cluster":
        return _lending(server, admins, template, _load)
    # Not the lock of the first template: those who only need that one do not wait for this one.
    with locked(shared_dir / "loaded"):
        _make(admins[0], server, LOADED, template, _index)
    return _lending(server, admins, LOADED)


def _lending(
    server: str, admins: Sequence[psycopg.Connection[Any]], template: str, fill: Callable[[str], None] | None = None
) -> Lend:
    @contextmanager
    def copied() -> Iterator[str]:
        name = copy_database(admins, template)
        try:
            dsn = in_database(server, name)
            if fill is not None:
                fill(dsn)
            yield dsn
        finally:
            for admin in admins:
                drop_database(admin, name)

    return copied


def _load(dsn: str) -> None:
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        load(connection)


def _index(dsn: str) -> None:
    _load(dsn)
    with (
        closing(psycopg.connect(dsn, autocommit=True)) as connection,
        tempfile.TemporaryDirectory() as folder,
    ):
        with worker(dsn, None, Path(folder)) as running:
            wait_until_searchable(connection)
            wait_until_linked(connection)
            assert running.stop() == 0
        # Each test has only its own workers.
        connection.execute("delete from pgclarify_private.worker")


def _make(admin: psycopg.Connection[Any], server: str, name: str, template: str, fill: Callable[[str], None]) -> None:
    """Make a database that is only copied, unless it is there."""
    if admin.execute("select from pg_database where datname = %s", [name]).fetchone() is not None:
        return
    # Rename it when it is complete, so that a failed install leaves no template.
    unfinished = f"{name}_unfinished"
    _make_anew(admin, unfinished, template)
    new = in_database(server, unfinished)
    fill(new)
    with closing(psycopg.connect(new, autocommit=True)) as connection:
        # VACUUM FULL makes each copy a third faster, because the install leaves free space in the catalog.
        connection.execute("vacuum full")
    # The first session after it writes a file with descriptions of catalogs. Copies that have it connect faster.
    psycopg.connect(new).close()
    admin.execute(sql.SQL("alter database {} rename to {}").format(sql.Identifier(unfinished), sql.Identifier(name)))
    admin.execute(sql.SQL("alter database {} with allow_connections false").format(sql.Identifier(name)))


def _make_anew(admin: psycopg.Connection[Any], name: str, template: str = "template1") -> None:
    admin.execute(sql.SQL("drop database if exists {}").format(sql.Identifier(name)))
    admin.execute(sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(template)))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder, if it is not there, and let no other process enter this while it is used."""
    with ExitStack() as stack:
        is_locked = False
        while not is_locked:
            # The last worker may have removed the folder while we waited. Then this lock protects nothing: try again.
            folder.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):
                lock = stack.enter_context((folder / "lock").open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX)
                is_locked = os.path.samestat(os.fstat(lock.fileno()), (folder / "lock").stat())
        yield
