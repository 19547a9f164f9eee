"""A filled database on PostgreSQL 17, and after pg_upgrade to 18: nothing is lost, and nothing is paid again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from pgclarify import embedded
from pgclarify.embedded.programs import server_account
from pgclarify.install.installer import install
from tests.openai_server import Server
from tests.servers import OLDER, ROOT_OF_17, folder_of_servers, start
from tests.sessions import scalar
from tests.workers import Worker, load, own_model, run_worker, wait_until_linked, wait_until_searchable

__all__ = ["own_model", "run_worker"]

pytestmark = pytest.mark.slow

ANSWERS = "select interpretation, answer, citations from pgclarify.clarify(%s, corpus => 'rental')"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for clusters that PostgreSQL 17 sees."""
    folder = folder_of_servers("17") / f"upgraded-{uuid4().hex[:8]}"
    yield folder
    shutil.rmtree(folder)


class Upgraded:
    """PostgreSQL 18 beside 17, in the same root, because pg_upgrade starts both."""

    def __init__(self, folder: Path) -> None:
        package = embedded.binary("postgres").parents[2]
        libraries = package.with_name(f"{package.name}.libs")
        for part in (package, libraries):
            shutil.copytree(part, ROOT_OF_17 / "opt" / part.name, dirs_exist_ok=True)
        # Programs cannot find the folder beside their own, because the root has no /proc.
        self._libraries = f"/opt/{libraries.name}"
        self._programs = Path("/opt") / package.name / "pginstall" / "bin"
        self._folder = Path("/") / folder.relative_to(ROOT_OF_17)
        account = server_account(folder / "cluster")
        assert account is not None
        user = f"--userspec={account.uid}:{account.gid}"
        there = 'cd "$1" && shift && exec "$@"'
        self._in_folder = ("chroot", user, ROOT_OF_17, "/bin/sh", "-c", there, "sh", self._folder)

    def run(self, name: str, *arguments: str) -> None:
        """Run a program of PostgreSQL 18 in the folder of the clusters."""
        subprocess.run(
            [*self._in_folder, self._programs / name, *arguments],
            env={"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": self._libraries},
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=300,
        )

    def start(self) -> None:
        """Start the new cluster at the address of the old one."""
        settings = f"-c listen_addresses= -c unix_socket_directories={self._folder} -c fsync=off"
        self.run("pg_ctl", "start", "-w", "-D", "new", "-l", "log", "-o", settings)


def ask(connection: psycopg.Connection[Any], question: str) -> list[tuple[Any, ...]]:
    return connection.execute(ANSWERS, [question]).fetchall()


def everything(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """The rows of all our tables."""
    tables = connection.execute(
        "select oid::regclass::text from pg_class"
        " where relkind = 'r' and relnamespace::regnamespace::text ~ '^pgclarify'"
    ).fetchall()
    return {
        table: scalar(connection, f"select jsonb_agg(to_jsonb(t) order by to_jsonb(t)) from {table} as t")  # noqa: S608
        for (table,) in tables
    }


def test_pg_upgrade_from_17(folder: Path, run_worker: Callable[..., Worker], own_model: Server) -> None:
    dsn = start("17", folder)
    try:
        install(dsn)
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:
            load(connection)
            worker = run_worker(dsn, own_model.base_url)
            wait_until_searchable(connection)
            wait_until_linked(connection)
            answer = ask(connection, "car deductible")
            worker.kill()
            before = everything(connection)
            # 17.12 notes a version for each column, which pg_upgrade of 18.6 copies, and 18.6 refuses.
            connection.execute("update pg_attribute set attoptions = null where attoptions::text ~ 'pg_attver'")
    finally:
        OLDER["17"](folder, "pg_ctl", "stop", "-w", "-m", "fast")
    calls = own_model.calls
    new = Upgraded(folder)
    new.run("initdb", "-D", "new", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-data-checksums")
    new.run("pg_upgrade", "-b", "/usr/lib/postgresql/17/bin", "-d", "cluster", "-D", "new", "-U", "postgres")
    new.start()
    try:
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:
            assert connection.info.server_version // 10000 == 18
            assert everything(connection) == before

            run_worker(dsn, own_model.base_url)
            assert ask(connection, "car deductible") == answer
            assert own_model.calls == calls
            assert ask(connection, "hail damage")
    finally:
        new.run("pg_ctl", "stop", "-w", "-D", "new", "-m", "immediate")
