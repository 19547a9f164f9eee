"""A PgBouncer in front of the server, with the settings of docs/operations.md."""

from __future__ import annotations

import configparser
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from tests.clients.serving import DATABASE, PASSWORD, ROLES, ClientService, free_port, program
from tests.pages import CHECKOUT, blocks
from tests.workers import until

OPERATIONS_PAGE = CHECKOUT / "docs" / "operations.md"
# Further pools, by name, with their settings.
POOLS = {"single": "pool_size=1", "sessions": "pool_size=10 pool_mode=session"}


@dataclass(frozen=True)
class Bouncer:
    """A running PgBouncer."""

    port: int
    log: Path

    def url(self, pool: str = DATABASE, role: str = "asker") -> str:
        """The URL of a role through one of the pools. The pool with the name of the database is that of the page."""
        return f"postgresql://{role}:{quote(PASSWORD)}@127.0.0.1:{self.port}/{pool}"


def configuration(service: ClientService, folder: Path, port: int) -> configparser.ConfigParser:
    """The configuration of the page, with the server of the test and further pools."""
    (shown,) = blocks(OPERATIONS_PAGE, "ini")
    read = configparser.ConfigParser(interpolation=None)
    read.read_string(shown.code)
    server = f"host={service.address.host} port={service.address.port} dbname={DATABASE}"
    read["databases"] = {DATABASE: server} | {name: f"{server} {settings}" for name, settings in POOLS.items()}
    read["pgbouncer"].update(
        listen_port=str(port),
        # The default is a folder that all programs of this machine share.
        unix_socket_dir="",
        auth_file=str(folder / "userlist.txt"),
        logfile=str(folder / "log"),
    )
    return read


@pytest.fixture(scope="module")
def bouncer(service: ClientService) -> Iterator[Bouncer]:
    """A PgBouncer that logs in with passwords on both sides."""
    port = free_port()
    # PgBouncer does not start as root, so it runs as the owner of the server's files.
    owner = (service.data_dir / "postgres").stat()
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-") as name:
        folder = Path(name)
        with (folder / "pgbouncer.ini").open("w") as file:
            configuration(service, folder, port).write(file)
        (folder / "userlist.txt").write_text("".join(f'"{role}" "{PASSWORD}"\n' for role in ROLES))
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner.st_uid, owner.st_gid)
        is_root = os.geteuid() == 0
        process = subprocess.Popen(
            [program("pgbouncer"), "--quiet", folder / "pgbouncer.ini"],
            stdin=subprocess.DEVNULL,
            user=owner.st_uid if is_root else None,
            group=owner.st_gid if is_root else None,
            extra_groups=[] if is_root else None,
        )
        bouncer = Bouncer(port, folder / "log")
        try:
            until(lambda: _answers(bouncer, process))
            yield bouncer
        finally:
            process.terminate()
            process.wait(120)


def _answers(bouncer: Bouncer, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, bouncer.log.read_text() if bouncer.log.exists() else "it left no log"
    try:
        with psycopg.connect(bouncer.url(), prepare_threshold=None) as connection:
            connection.execute("select 1")
    except psycopg.OperationalError:
        return False
    return True
