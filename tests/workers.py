"""Real worker processes for tests: one with a small corpus, shared by a module, and others that tests may kill."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded
from pgclarify.database import presence
from pgclarify.install.installer import install
from tests.openai_server import MODEL, Server, by_rules, serve, shared_words
from tests.servers import command, folder_of_servers
from tests.sessions import scalar

T = TypeVar("T")

API_KEY = "sk-what-nobody-may-see"
CORPUS = "rental"
# Ids are numbers, so that citations can be joined back to a table with an integer key.
DOCUMENTS = {
    101: ("Coverage", "Rental reimbursement pays for thirty days while your own car is repaired after an accident."),
    102: ("Deductible", "A deductible of four hundred dollars applies to every rental car that is damaged by hail."),
    103: ("Age", "Drivers under twenty-five pay a surcharge of nineteen dollars for each day of the rental."),
    104: ("Fuel", "The rental car must be returned with a full tank or a refueling fee of ninety dollars is due."),
    105: ("Abroad", "Rental cars may be driven into Canada but not into Mexico under the standard agreement."),
    106: ("Roadside", "Roadside assistance tows a rental car up to one hundred miles to the nearest repair shop."),
    107: ("Tolls", "Tolls are charged to the renter with an administrative fee of six dollars for each day of use."),
    108: ("Cleaning", "A cleaning fee of two hundred dollars is charged when somebody has smoked in the rental car."),
    109: ("Cancellation", "A rental can be cancelled free of charge until forty-eight hours before the pick-up."),
    110: ("Mileage", "Unlimited mileage is included in every weekly rental that begins on a Monday morning."),
    111: ("Loyalty", "Members of the loyalty program receive a free upgrade of their rental car on their birthday."),
    112: ("Insurance", "The collision damage waiver costs twenty-eight dollars for each day that the car is rented."),
}


def until(what: Callable[[], T], seconds: float = 300.0) -> T:
    """Call a function again and again until its result is true, and return that."""
    deadline = time.monotonic() + seconds
    while not (answer := what()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)
    return answer


@contextmanager
def model_server(**options: Any) -> Iterator[Server]:
    """A model server in a thread: its latency and behavior can be changed, and its counters read, from the test."""
    loop = asyncio.new_event_loop()
    started = threading.Event()
    servers: list[Server] = []

    async def run(stop: asyncio.Event) -> None:
        async with serve(keep_bodies=False, **options) as server:
            servers.append(server)
            started.set()
            await stop.wait()

    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(run(stop)))
    thread.start()
    try:
        assert started.wait(120)
        yield servers[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(120)
        loop.close()


@dataclass(frozen=True)
class Worker:
    """A process `pgclarify worker`."""

    process: ForkServerProcess
    log: Path

    def kill(self) -> None:
        """Kill it by SIGKILL."""
        self.process.kill()
        self._wait()

    def stop(self) -> int:
        """Stop it by SIGTERM, and return its exit code."""
        self.process.terminate()
        return self._wait()

    def _wait(self) -> int:
        self.process.join(180)
        assert self.process.exitcode is not None, "the worker is still there"
        return self.process.exitcode


StartWorker = Callable[..., Worker]


def environment(dsn: str, base_url: str | None, *, concurrency: int = 8) -> dict[str, str]:
    """The environment of a worker: ours without settings, the database, and perhaps a model."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PGCLARIFY_", "OPENAI_"))}
    chosen = {
        "PGCLARIFY_DATABASE_URL": dsn,
        "PGCLARIFY_LLM_CONCURRENCY": str(concurrency),
        # Few threads, because all tests share few cores.
        "OMP_NUM_THREADS": "1",
    }
    if base_url is None:
        return inherited | chosen | {"PGCLARIFY_LLM_PROVIDER": "extractive"}
    model = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": API_KEY, "PGCLARIFY_LLM_MODEL": MODEL}
    return inherited | chosen | model | {"PGCLARIFY_LLM_PROVIDER": "openai"}


def living_workers(dsn: str) -> int:
    """How many workers serve a database."""
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        row = connection.execute("select count(*) from pgclarify.worker_status where is_alive").fetchone()
        assert row is not None
        return int(row[0])


def serves(connection: psycopg.Connection[Any], process_id: int) -> bool:
    """Whether that process is a worker that serves the database."""
    served = "select exists (select from pgclarify_private.serving_workers() where process_id = %s)"
    return bool(scalar(connection, served, process_id))


@cache
def _forking() -> ForkServerContext:
    """Forks processes from one that has the workers' imports loaded, which saves ten seconds for each process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.servers.preloaded"])
    # One thread: tests share few cores, and a process with threads should not be forked.
    with pytest.MonkeyPatch.context() as environs:
        environs.setenv("OMP_NUM_THREADS", "1")
        forkserver.ensure_running()
    return context


def run_command(*arguments: str, variables: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `pgclarify` without standard input, in a process that has its imports already.

    Args:
        arguments: Without the program's name.
        variables: Its environment.
        folder: Where it runs.
    """
    with tempfile.TemporaryDirectory() as outputs:
        out, err = Path(outputs, "out"), Path(outputs, "err")
        process = _forking().Process(
            target=command.run, args=(arguments, variables, folder, (out, err), presence.LEASE)
        )
        process.start()
        process.join(300)
        if process.exitcode is None:
            process.kill()
            raise AssertionError(f"{arguments} takes longer than five minutes")
        return subprocess.CompletedProcess(arguments, process.exitcode, out.read_text(), err.read_text())


@contextmanager
def worker(
    dsn: str,
    base_url: str | None,
    folder: Path,
    *,
    user: str | None = None,
    concurrency: int = 8,
    lease: timedelta = presence.LEASE,
    settings: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    tries_model: bool = False,
) -> Iterator[Worker]:
    """Run a worker. It is ready when this yields, and is stopped at the end if it still runs.

    Args:
        dsn: The database, as a superuser.
        base_url: The model server's; None runs the extractive provider.
        folder: Where its log goes.
        user: Role that the worker connects as; None means the superuser.
        concurrency: Most calls in flight.
        lease: Seconds that it counts as alive after a heartbeat.
        settings: More variables of its environment.
        arguments: Options of the command.
        tries_model: Whether it makes a trial of its model.
    """
    log = folder / f"worker-{uuid4().hex[:8]}.log"
    log.touch()
    variables = environment(as_role(dsn, user), base_url, concurrency=concurrency) | dict(settings or {})
    # A separate folder, so that it reads no .env file.
    process = _forking().Process(
        target=command.run,
        args=(["worker", *arguments], variables, folder, (log, log), lease),
        kwargs={"tries_model": tries_model},
    )
    process.start()
    running = Worker(process, log)
    try:
        # One session for all checks: a new session for each would use more CPU than the worker.
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:

            def is_ready() -> bool:
                assert process.is_alive(), log.read_text()
                # Do not count workers: the server may not know yet that one of them was killed.
                return process.pid is not None and serves(connection, process.pid)

            until(is_ready)
        yield running
    finally:
        running.kill()


def as_role(dsn: str, user: str | None) -> str:
    """The URL of the same database for another role."""
    return dsn if user is None else psycopg.conninfo.make_conninfo(dsn, user=user)


def load(connection: psycopg.Connection[Any], corpus: str = CORPUS, documents: int = len(DOCUMENTS)) -> None:
    """Create a corpus of the documents above. A running worker makes it searchable."""
    # Add them in one statement, so that their embeddings do not depend on the worker's batches.
    with connection.transaction():
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
        connection.execute("select pgclarify.grant_access(%s, 'pgclarify_reader')", [corpus])
        for document_id, (title, content) in list(DOCUMENTS.items())[:documents]:
            connection.execute(
                "select pgclarify.add_document(%s, %s, %s, title => %s)", [corpus, str(document_id), content, title]
            )


def wait_until_searchable(connection: psycopg.Connection[Any], corpus: str = CORPUS) -> None:
    """Wait until no document of a corpus is pending."""
    status = "select pending = 0 and passages > 0 from pgclarify.corpus where corpus = %s"
    until(lambda: scalar(connection, status, corpus))


def wait_until_linked(connection: psycopg.Connection[Any], corpus: str = CORPUS) -> None:
    """Wait until all passages of a corpus have neighbors. A distributed corpus has no graph (`--server cluster`)."""
    status = (
        "select pgclarify_private.is_distributed(corpus_id) or linked = passages and passages > 0"
        " from pgclarify.corpus where corpus = %s"
    )
    until(lambda: scalar(connection, status, corpus), 120)


def submit_many(
    connection: psycopg.Connection[Any], count: int, question: str = "question", top_k: int = 6
) -> list[int]:
    """Submit a number of questions, and return the ids of their runs."""
    questions = [f"{question} {number}" for number in range(count)]
    return list(
        scalar(
            connection,
            "select pgclarify.submit_many('clarify', %s, options => jsonb_build_object('top_k', %s::integer))",
            questions,
            top_k,
        )
    )


def wait(connection: psycopg.Connection[Any], run_ids: Sequence[int]) -> list[str]:
    """Wait for the end of runs, and return their states."""
    rows = connection.execute("select status from pgclarify.wait(%s::bigint[], '3min')", [list(run_ids)]).fetchall()
    return [status for (status,) in rows]


def loopbacks(superuser: psycopg.Connection[Any]) -> int:
    """Number of loopback connections of waiting calls in a database."""
    statement = (
        "select count(*) from pg_stat_activity where usename = 'pgclarify_loopback' and datname = current_database()"
    )
    return int(scalar(superuser, statement))


@dataclass(frozen=True)
class Service:
    """A database with a loaded corpus, a worker that serves it, and the model that the worker asks."""

    dsn: str
    model: Server
    worker: Worker
    asker: str
    """A role that may only ask."""

    def connect(self, user: str | None = None, **options: Any) -> psycopg.Connection[Any]:
        """Connect in autocommit, as the superuser or as a role."""
        return psycopg.connect(self.dsn, user=user, autocommit=True, **options)


@pytest.fixture(scope="module")
def service(
    loaded: Callable[[], AbstractContextManager[str]],
    admin: psycopg.Connection[Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """A service that all tests of a module share. worker and asker are roles with just these rights."""
    names = {kind: f"{kind}_{uuid4().hex[:12]}" for kind in ("worker", "asker")}
    for role, membership in (("worker", "pgclarify_worker"), ("asker", "pgclarify_user")):
        admin.execute(
            sql.SQL("create role {} login in role {}").format(sql.Identifier(names[role]), sql.Identifier(membership))
        )
    try:
        with ExitStack() as stack:
            dsn = stack.enter_context(loaded())
            with closing(psycopg.connect(dsn, autocommit=True)) as connection:
                # Some tests create more corpora.
                database = sql.Identifier(connection.info.dbname)
                connection.execute(
                    sql.SQL("alter database {} set pgclarify.corpus = {}").format(database, sql.Literal(CORPUS))
                )
            model = stack.enter_context(model_server())
            running = stack.enter_context(
                worker(dsn, model.base_url, tmp_path_factory.mktemp("worker"), user=names["worker"])
            )
            with closing(psycopg.connect(dsn, autocommit=True)) as connection:
                wait_until_searchable(connection)
            yield Service(dsn, model, running, names["asker"])
    finally:
        for role in ("worker", "asker"):
            admin.execute(sql.SQL("drop role {}").format(sql.Identifier(names[role])))


@pytest.fixture
def model(service: Service) -> Iterator[Server]:
    """The service's model. Changes are undone at the end of the test."""
    assert service.worker.process.is_alive(), service.worker.log.read_text()
    yield service.model
    service.model.latency = 0.0
    service.model.behavior = by_rules
    service.model.rerank = shared_words
    service.model.script.clear()


@pytest.fixture
def asker(service: Service) -> Iterator[psycopg.Connection[Any]]:
    """A connection, in autocommit, of a role that may only ask."""
    with closing(service.connect(service.asker)) as connection:
        yield connection


@pytest.fixture
def superuser(service: Service) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection to the service's database, in autocommit."""
    with closing(service.connect()) as connection:
        yield connection


@pytest.fixture
def run_worker(tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    """Start workers for one test: `run_worker(dsn, base_url)`. They stop at its end."""
    with ExitStack() as stack:
        yield lambda dsn, base_url=None, **options: stack.enter_context(worker(dsn, base_url, tmp_path, **options))


@pytest.fixture
def own_model() -> Iterator[Server]:
    """A model server for one test."""
    with model_server() as started:
        yield started


@dataclass(frozen=True)
class PrivateService:
    """A separate PostgreSQL server, which a module may fill and stop, with a worker and a loaded corpus."""

    dsn: str
    data_dir: Path
    model: Server
    worker: Worker

    def restart(self) -> None:
        """Shut the server down, which ends all sessions, and start it again at the same address."""
        assert embedded.stop(self.data_dir)
        assert embedded.start(self.data_dir) == self.dsn


@pytest.fixture(scope="module")
def private_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateService]:
    """A service on a server of the module's own."""
    # Not tmp_path: pytest closes its parent folder to other users, so the server could not read it.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as folder, ExitStack() as stack:
        data_dir = Path(folder) / "data"
        stack.callback(embedded.stop, data_dir)
        dsn = embedded.start(data_dir)
        install(dsn)
        model = stack.enter_context(model_server())
        running = stack.enter_context(worker(dsn, model.base_url, tmp_path_factory.mktemp("worker")))
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:
            load(connection)
            wait_until_searchable(connection)
        yield PrivateService(dsn, data_dir, model, running)
