"""Several machines: a server, three workers, PgBouncer, a client and an endpoint, each in a network of its own.

Questions are asked while packets are late or lost, a worker cannot reach the server, a worker is frozen, and the server
restarts. Each run must end, no later than a lease and the time of its calls after the fault, and no reply may be paid
for twice, but those that a frozen worker was just sending. It needs root, iproute2 and PgBouncer.

Begun: runs that the worker of the fault had begun. Seconds: from the question to the end of the slowest run, and from
the start of the fault.
"""

from __future__ import annotations

import configparser
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.faults.endpoint import Endpoint
from benchmarks.faults.network import Machine, Network
from benchmarks.faults.stage import CONCURRENCY, CORPUS, TOP_K, Stage, staged
from pgclarify import embedded
from pgclarify.database.presence import LEASE
from tests import workers

_NAMES = ("server", "endpoint", "pooler", "client", "worker-1", "worker-2", "worker-3")
_PORT, _POOLER_PORT = 5432, 6432
_LATENCY = 0.5
_QUESTIONS = 60
_CUT_SECONDS = 60.0
_BOUND_SECONDS = 300.0
# How many runs each worker has begun, the one with the most first.
_BEGUN = """
    select process_id, count(*) from pgclarify_private.run inner join pgclarify_private.worker using (worker_id)
    where run_id = any(%s) and status = 'running' group by process_id order by 2 desc
"""
# A client on another machine asks one question after the other, and waits for each.
_CLIENT = """
import sys, psycopg
url, corpus, top_k, name, times = sys.argv[1:]
with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
    for number in range(int(times)):
        connection.execute(
            "select * from pgclarify.clarify(%s, corpus => %s, top_k => %s, timeout => '5min')",
            [f"{name}: waiting {number}", corpus, int(top_k)],
        )
"""


@dataclass
class Site:
    """All machines.

    Attributes:
        stage: The server, the endpoint, and how runs are asked and counted.
        network: The network.
        server: Where the server runs.
        workers: Where the workers run.
        processes: The workers.
        ask_waiting: Ask some questions from the client's machine, through PgBouncer: a name, and how many.
    """

    stage: Stage
    network: Network
    server: Machine
    workers: list[Machine]
    processes: list[subprocess.Popen[str]]
    ask_waiting: Callable[[str, int], subprocess.Popen[bytes]]


@contextmanager
def _site() -> Iterator[Site]:
    network = Network()
    with ExitStack() as stack:
        server, at_endpoint, pooler, client, *hosts = stack.enter_context(network.machines(_NAMES))
        endpoint = Endpoint(at_endpoint.address)
        with at_endpoint.inside():
            stack.enter_context(endpoint.serving())
        stage = stack.enter_context(staged(endpoint))
        password = secrets.token_hex(8)
        for role, rights in (("operator", "in role pgclarify_worker"), ("asker", "in role pgclarify_user")):
            create = sql.SQL("create role {} login password {} ").format(sql.Identifier(role), sql.Literal(password))
            stage.query(create.as_string() + rights)
        stage.query("select pgclarify.grant_access(%s, 'asker')", CORPUS)
        embedded.stop(stage.data_dir)
        embedded.listen(stage.data_dir, embedded.Address(server.address, _PORT))
        with server.inside():
            embedded.start(stage.data_dir)
        at_server = psycopg.conninfo.make_conninfo(
            stage.dsn, host=server.address, port=_PORT, user="operator", password=password
        )
        settings = workers.environment(at_server, endpoint.base_url, concurrency=CONCURRENCY)
        settings |= {"PGCLARIFY_EMBEDDING_MODEL": stage.embedding_model}
        processes = []
        for host in hosts:
            with host.inside():
                processes.append(stack.enter_context(product.running_worker(stage.dsn, settings)))
        workers.until(lambda: workers.living_workers(stage.dsn) == len(hosts))
        stack.enter_context(_pooler(pooler, server, stage, password))
        url = psycopg.conninfo.make_conninfo(
            stage.dsn, host=pooler.address, port=_POOLER_PORT, user="asker", password=password
        )

        def ask_waiting(name: str, times: int) -> subprocess.Popen[bytes]:
            with client.inside():
                return subprocess.Popen([sys.executable, "-c", _CLIENT, url, CORPUS, str(TOP_K), name, str(times)])

        yield Site(stage, network, server, hosts, processes, ask_waiting)
        for process in processes:
            process.send_signal(signal.SIGCONT)


@contextmanager
def _pooler(machine: Machine, server: Machine, stage: Stage, password: str) -> Iterator[None]:
    """PgBouncer, which gives a session to each transaction."""
    owner = (stage.data_dir / "postgres").stat()
    database = psycopg.conninfo.conninfo_to_dict(stage.dsn)["dbname"]
    with tempfile.TemporaryDirectory(prefix="pgclarify-pooler-") as name:
        folder = Path(name)
        settings = configparser.ConfigParser(interpolation=None)
        settings["databases"] = {str(database): f"host={server.address} port={_PORT}"}
        settings["pgbouncer"] = {
            "listen_addr": machine.address,
            "listen_port": str(_POOLER_PORT),
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": str(folder / "users"),
            "pool_mode": "transaction",
        }
        with (folder / "pgbouncer.ini").open("w") as file:
            settings.write(file)
        (folder / "users").write_text(f'"asker" "{password}"\n')
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner.st_uid, owner.st_gid)
        program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            sys.exit("There is no pgbouncer. Run make system.")
        with (
            machine.inside(),
            subprocess.Popen(
                [program, "--quiet", folder / "pgbouncer.ini"], user=owner.st_uid, group=owner.st_gid, extra_groups=[]
            ) as process,
        ):
            try:
                yield
            finally:
                process.terminate()


@dataclass(frozen=True)
class Fault:
    """What goes wrong while questions are asked.

    Attributes:
        name: What it is, in words.
        delay: Seconds that packets take in one direction.
        loss: The share of packets that get lost.
        begin: Starts the fault; given the number of the worker that has begun most runs.
        end: Ends it; given the same.
        seconds: How long it lasts.
        most_twice: Replies that may be paid for twice: a worker that is frozen while it sends requests sends them when
            it goes on, after another worker has taken them over.
    """

    name: str
    delay: float = 0.0
    loss: float = 0.0
    begin: Callable[[Site, int], None] | None = None
    end: Callable[[Site, int], None] | None = None
    seconds: float = 0.0
    most_twice: int = 0


def _restart(site: Site, _: int) -> None:
    embedded.stop(site.stage.data_dir)
    with site.server.inside():
        embedded.start(site.stage.data_dir)


FAULTS = (
    Fault("none"),
    Fault("1 ms each way", delay=0.001),
    Fault("20 ms each way", delay=0.02),
    Fault("20 ms each way, 1 % of packets lost", delay=0.02, loss=0.01),
    Fault(
        "a worker is cut off from the server for 60 s",
        delay=0.001,
        begin=lambda site, worker: site.network.cut(site.workers[worker], site.server),
        end=lambda site, _: site.network.heal(),
        seconds=_CUT_SECONDS,
    ),
    Fault(
        "a worker is frozen for 60 s",
        delay=0.001,
        begin=lambda site, worker: site.processes[worker].send_signal(signal.SIGSTOP),
        end=lambda site, worker: site.processes[worker].send_signal(signal.SIGCONT),
        seconds=_CUT_SECONDS,
        most_twice=CONCURRENCY,
    ),
    Fault("the server restarts", delay=0.001, begin=_restart),
)


def measure() -> bool:
    """Ask questions with each fault, print what became of them, and return whether all was well."""
    table = Table(
        *("fault", "runs", "succeeded", "lost", "calls", "paid twice", "begun", "seconds", "seconds after the fault")
    )
    with _site() as site:
        site.stage.endpoint.latency = _LATENCY
        are_well = [_carry_out(site, number, fault, table) for number, fault in enumerate(FAULTS)]
    Console(width=160).print(table)
    return all(are_well)


def _carry_out(site: Site, number: int, fault: Fault, table: Table) -> bool:
    site.network.delay, site.network.loss = fault.delay, fault.loss
    stage = site.stage
    stage.begin()
    started = time.monotonic()
    run_ids = stage.ask([f"machines {number}: question {one}" for one in range(_QUESTIONS)])
    waiting = site.ask_waiting(f"machines {number}", 5)
    began, worker, held = started, 0, 0
    if fault.begin:
        workers.until(lambda: len(stage.query(_BEGUN, run_ids)) == len(site.workers))
        # Until calls are in flight, and not only connections to the endpoint.
        time.sleep(2 * _LATENCY)
        process_id, held = stage.query(_BEGUN, run_ids)[0]
        worker = [process.pid for process in site.processes].index(process_id)
        began = time.monotonic()
        fault.begin(site, worker)
    have_ended = stage.wait(run_ids, _BOUND_SECONDS)
    ended = time.monotonic()
    if fault.end:
        time.sleep(max(fault.seconds - (time.monotonic() - began), 0))
        fault.end(site, worker)
    is_restarted = fault.begin is _restart
    # Whoever waits loses the connection when the server restarts.
    was_answered = waiting.wait() == 0 or is_restarted
    workers.until(lambda: workers.living_workers(stage.dsn) == len(site.workers), 120)
    account = stage.account(run_ids)
    after = ended - began if fault.begin else 0.0
    table.add_row(
        fault.name, str(len(run_ids)), str(account.states.get("succeeded", 0)), str(account.lost), str(account.calls),
        str(account.paid_twice), str(held or ""), f"{ended - started:.1f}", f"{after:.1f}" if fault.begin else "",
    )  # fmt: skip
    for line in (*account.twice[:5], *(str(error) for error in stage.errors(run_ids))):
        print(f"    {fault.name}: {line}", flush=True)
    return (
        have_ended
        and was_answered
        and account.states.get("succeeded") == len(run_ids)
        and account.paid_twice <= fault.most_twice
        and after <= LEASE.total_seconds() + (ended - started if is_restarted else 30)
    )
