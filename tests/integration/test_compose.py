"""A server set up as in docker-compose.yml: each role needs a password, also the loopback."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded
from pgclarify.install.installer import install
from tests.clients.serving import free_port
from tests.servers import folder_of_servers
from tests.sessions import scalar
from tests.unit.compose import dockerfile, variables
from tests.workers import Worker, living_workers, load, until, wait_until_searchable

PASSWORD = "correct horse@battery/staple"  # noqa: S105 - of a server that lives as long as its test


def run_as_server(program: str, *arguments: str, folder: Path) -> None:
    """Run a program of the server, not as root, which it refuses."""
    subprocess.run(
        [embedded.binary(program), *arguments],
        user=folder.stat().st_uid if os.geteuid() == 0 else None,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        # The server outlives pg_ctl, and would keep a pipe open.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=60,
    )


def start(cluster: Path, folder: Path) -> int:
    """Start the server, and return its port."""
    port = free_port()
    settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    run_as_server("pg_ctl", "start", "-w", "-D", str(cluster), "-l", str(folder / "log"), "-o", settings, folder=folder)
    return port


@pytest.fixture
def dsn(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """URL of a server that always asks for a password. The password is in the environment, as in a container.

    It needs the shared server, which creates the system user for servers when the tests run as root.
    """
    options = variables("database")
    # Not tmp_path: the server's user may not read its parent folders.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "pgclarify", pwd.getpwnam("pgclarify").pw_gid)
        cluster = folder / "data"
        password_file = folder / "password"
        password_file.write_text(PASSWORD)
        password_file.chmod(0o644)
        # What the image does with these variables.
        initdb = [f"--pgdata={cluster}", "--username=postgres", f"--pwfile={password_file}", "--no-sync"]
        run_as_server("initdb", *initdb, *shlex.split(options["POSTGRES_INITDB_ARGS"] or ""), folder=folder)
        with (cluster / "pg_hba.conf").open("a") as rules:
            rules.write(f"\nhost all all all {options['POSTGRES_HOST_AUTH_METHOD']}\n")
        port = start(cluster, folder)
        try:
            monkeypatch.setenv("PGPASSWORD", PASSWORD)
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            run_as_server("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(cluster), folder=folder)


def test_a_question_where_everyone_needs_a_password(
    dsn: str, run_worker: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(psycopg.connect(dsn, autocommit=True)) as superuser:
        methods = superuser.execute("select distinct auth_method from pg_hba_file_rules").fetchall()
        assert methods == [("scram-sha-256",)]
        assert install(dsn).has_dblink
        alice = sql.SQL("create role alice login password {} in role pgclarify_user")
        superuser.execute(alice.format(PASSWORD))
        worker = run_worker(dsn)
        load(superuser, documents=2)
        wait_until_searchable(superuser)

        assert is_healthy(dsn)
        with closing(psycopg.connect(dsn, user="alice", autocommit=True)) as asker:
            # Only the owner's functions know the loopback's password.
            quotes = scalar(asker, "select string_agg(citations::text, '') from pgclarify.clarify('car deductible')")
        assert "four hundred dollars" in quotes
        worker.stop()
        # The server notices the end of the worker a moment later.
        until(lambda: living_workers(dsn) == 0)
        assert not is_healthy(dsn)

    for wrong in ("", "guess"):
        monkeypatch.setenv("PGPASSWORD", wrong)
        for user in ("postgres", "alice", "pgclarify_loopback"):
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(dsn, user=user)


def is_healthy(dsn: str) -> bool:
    """The exit code of the image's health check, in a shell as the engine runs it."""
    check = next(line.value for line in dockerfile() if line.name == "HEALTHCHECK").partition("CMD ")[2]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "PGCLARIFY_DATABASE_URL": dsn}
    return subprocess.run(["sh", "-c", check], env=environment, check=False, timeout=60).returncode == 0
