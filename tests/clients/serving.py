"""The service for tests of clients: a server that listens on TCP and asks for passwords, a worker and a corpus."""

from __future__ import annotations

import os
import random
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded
from pgclarify.install.installer import install
from tests.conftest import hurry, trust_everybody
from tests.servers import folder_of_servers, in_database
from tests.workers import DOCUMENTS, Service, load, model_server, wait_until_searchable, worker

DATABASE = "pgclarify"
# The name of the corpus in docs/clients.md.
CORPUS = "insurance"
PASSWORD = "what the clients' roles know"  # noqa: S105
ROLES = {"asker": "pgclarify_user", "dashboard": "pgclarify_reader"}
# Values of statement_timeout. If a statement is cut off before it has started its run, the next value is tried.
STATEMENT_TIMEOUTS = ("300ms", "3s", "30s")
# A user's own table with the same documents, for joins with citations.
ARTICLES = "create table article (id bigint primary key, title text not null, body text not null)"


@dataclass(frozen=True)
class ClientService(Service):
    """A service that can also be reached through TCP."""

    data_dir: Path
    address: embedded.Address

    def url(self, role: str = "asker") -> str:
        """The URL of a role, through TCP and with its password."""
        return f"postgresql://{role}:{quote(PASSWORD)}@{self.address}/{DATABASE}"

    def jdbc_url(self, **properties: str) -> str:
        """The same for JDBC, which gets role and password separately."""
        return f"jdbc:postgresql://{self.address}/{DATABASE}?{urlencode(properties)}"


def free_port() -> int:
    """A port of this machine that is free, and that the system does not give to other programs."""
    while True:
        # Linux gives ports from 32768 on to programs that ask for any port, such as other tests.
        port = random.randint(10_000, 32_000)  # noqa: S311 - no secret
        with suppress(OSError), closing(socket.create_server(("127.0.0.1", port))):
            return port


def program(name: str) -> str:
    """The path of a program of the system."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.fail(f"there is no {name}: run make system, or install it with your system's packages")
    return found


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClientService]:
    """A service on its own server, which all tests of clients share."""
    # Not tmp_path: pytest closes its parent folder to other users, so the server's user could not read its files.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as folder, ExitStack() as stack:
        data_dir = Path(folder) / "data"
        address = embedded.Address("127.0.0.1", free_port())
        embedded.listen(data_dir, address)
        stack.callback(embedded.stop, data_dir)
        dsn = embedded.start(data_dir)
        hurry(dsn)
        trust_everybody(dsn)
        install(dsn)
        model = stack.enter_context(model_server())
        running = stack.enter_context(worker(dsn, model.base_url, tmp_path_factory.mktemp("worker")))
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:
            for role, membership in ROLES.items():
                connection.execute(
                    sql.SQL("create role {} login password {} in role {}").format(
                        sql.Identifier(role), sql.Literal(PASSWORD), sql.Identifier(membership)
                    )
                )
            connection.execute(ARTICLES.encode())
            with connection.cursor() as cursor:
                rows = [(document_id, *text) for document_id, text in DOCUMENTS.items()]
                cursor.executemany("insert into article values (%s, %s, %s)", rows)
            connection.execute("grant select on article to public")
            connection.execute("grant create on schema public to asker")
            connection.execute(
                sql.SQL("alter database {} set pgclarify.corpus = {}").format(
                    sql.Identifier(DATABASE), sql.Literal(CORPUS)
                )
            )
            load(connection, CORPUS)
            wait_until_searchable(connection, CORPUS)
        yield ClientService(in_database(dsn, DATABASE), model, running, "asker", data_dir, address)


def jdbc_driver() -> str:
    """The path of PostgreSQL's driver for JDBC, which is no program and not on PATH."""
    path = Path("/usr/share/java/postgresql.jar")
    if not path.exists():
        pytest.fail(f"there is no {path}: run make system, or install libpostgresql-jdbc-java there")
    return str(path)
