"""Commands about the server and its workers: up, down, init, worker."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from pgclarify import __version__, embedded
from pgclarify.cli import connection, listening, processes, progress, terminal
from pgclarify.cli.client import CommandClient
from pgclarify.cli.doctor import service
from pgclarify.cli.doctor.check import Level
from pgclarify.cli.doctor.endpoint import expected_worker
from pgclarify.cli.doctor.model_servers import find_model_servers
from pgclarify.cli.doctor.variables import check_variables
from pgclarify.cli.rendering import Row
from pgclarify.config import LogFormat, Settings
from pgclarify.embedded import Address

UP_EXAMPLES = terminal.examples(
    "pgclarify up --detach",
    "pgclarify up --detach --listen 127.0.0.1:5433",
    "OPENAI_API_KEY=… PGCLARIFY_LLM_MODEL=… pgclarify up",
    "PGCLARIFY_DATABASE_URL=postgresql://… pgclarify up",
)
DOWN_EXAMPLES = terminal.examples("pgclarify down")
INIT_EXAMPLES = terminal.examples(
    "PGCLARIFY_DATABASE_URL=postgresql://owner@db.example/app pgclarify init",
)
WORKER_EXAMPLES = terminal.examples(
    "PGCLARIFY_DATABASE_URL=postgresql://… OPENAI_BASE_URL=http://…/v1 PGCLARIFY_LLM_MODEL=… pgclarify worker",
    "PGCLARIFY_LLM_PROVIDER=extractive pgclarify worker",
    "pgclarify worker --metrics 9464 --grace 60",
)


def up(
    detach: Annotated[
        bool,
        typer.Option("--detach", "-d", metavar="", help="Return when the worker is ready; it keeps running."),
    ] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Let the embedded server also listen there, with passwords, from now on; off closes it.",
        ),
    ] = None,
) -> None:
    """Start the embedded server if no URL is set, install the schema, run a worker."""
    settings = connection.load_settings()
    if listen is not None:
        listening.change(settings, listen)
    dsn = install(settings)
    address = listening.address_of(settings)
    if address is not None:
        listening.tell(address)
    say_who_reads(settings)
    tell_of_model_servers(settings)
    if detach:
        start_worker(settings, dsn)
        terminal.notices().print("Stop it with: pgclarify down")
        return
    _run_worker(settings, dsn)
    if settings.database_url is None:
        terminal.notices().print("The worker has stopped; the server goes on. Stop it with: pgclarify down")


def down() -> None:
    """Stop the detached worker and the embedded server."""
    settings = connection.load_settings()
    say = terminal.notices().print
    with progress.waiting("Stopping the worker"):
        has_stopped = processes.stop(processes.WorkerFiles.of(settings))
    say("worker stopped" if has_stopped else "no detached worker was running")
    if settings.database_url is not None:
        return
    with progress.waiting("Stopping PostgreSQL"):
        has_stopped = embedded.stop(settings.data_dir)
    say("server stopped" if has_stopped else "the embedded server was not running")


def init() -> None:
    """Install the schema, or upgrade it. Safe to repeat."""
    with connection.connect(install(connection.load_settings())) as database:
        workers = connection.client_of(database).rows("client_list_workers")
    for check in service.check_versions(workers, __version__):
        terminal.warn(check.finding, check.remedy)


def worker(
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:]PORT",
            help="Serve /metrics, /healthz and /readyz at this address over HTTP, without a password. HOST is 127.0.0.1"
            " if left out.",
        ),
    ] = None,
    grace: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=3600,
            help="Time for runs to finish after SIGTERM, before they go back into the queue; 10 if left out.",
        ),
    ] = None,
) -> None:
    """Serve jobs until interrupted; any number of workers share one queue."""
    settings = connection.load_settings()
    address = None if metrics is None else listening.parse_place(metrics, "--metrics")
    _run_worker(settings, connection.running_dsn(settings), address, grace)


def install(settings: Settings) -> str:
    """Start the embedded server if no URL is set, install or upgrade the schema, and return the connection string."""
    from pgclarify.install import installer

    console = terminal.notices()
    password = settings.loopback_password
    with progress.waiting("Starting PostgreSQL"):
        dsn = connection.running_dsn(settings) if settings.database_url else embedded.start(settings.data_dir)
    with progress.waiting("Installing or upgrading the schema"):
        installation = installer.install(
            dsn,
            loopback_password=password.get_secret_value() if password else None,
            on_wait=lambda sentence: console.print(sentence, style="yellow", markup=False, soft_wrap=True),
        )
    where = "database of PGCLARIFY_DATABASE_URL" if settings.database_url else f"embedded server in {settings.data_dir}"
    if installation.previous is None:
        done = "installed"
    elif installation.previous == installation.current:
        done = "up to date"
    else:
        done = f"upgraded from {installation.previous} to {installation.current}"
    console.print(f"schema is {done}: {where}")
    other = embedded.started_elsewhere(settings.data_dir) if settings.database_url is None else None
    if other is not None:
        terminal.warn(
            f"this server was started by another installation of pgclarify, in {other}, whose worker may answer",
            "To run it with this installation: pgclarify down, then pgclarify up --detach. For another server, which is"
            " empty, set PGCLARIFY_DATA_DIR to a new folder, such as ./data.",
        )
    if installation.given_back:
        console.print(f"given back to its roles: {installation.given_back} objects that were restored without owners")
    for statement in installation.mended:
        console.print(f"a role was there before, and lacked what it needs; done: {statement}", markup=False)
    if not installation.has_dblink:
        console.print("calls that wait will not work here: the server has no dblink; use submit, wait and result")
    elif not installation.has_loopback_password:
        console.print(
            "this database does not know the password of role pgclarify_loopback, which was there before; if calls that"
            " wait fail with PC005, set PGCLARIFY_LOOPBACK_PASSWORD and run pgclarify init again"
        )
    return dsn


def start_worker(settings: Settings, dsn: str, environment: dict[str, str] | None = None) -> None:
    """Start a detached worker unless one of this version is running, and wait until it serves the queue.

    Args:
        settings: Settings in use.
        dsn: Its database.
        environment: Additional variables of its environment.
    """
    _warn_of_variables()
    files = processes.WorkerFiles.of(settings)
    console = terminal.notices()
    loads = "" if settings.model_file is None else f", which loads {settings.model_file}"
    with connection.connect(dsn) as database, progress.waiting(f"Starting a worker{loads}"):
        client = connection.client_of(database)
        workers = client.rows("client_list_workers")
        # One of an earlier version takes no runs, and ends a minute after the upgrade.
        if _are_here_of_other_versions(workers) and processes.stop(files):
            console.print("the worker of another version is stopped")
        before = _alive_workers(client) if not processes.is_running(files) else frozenset()
        is_new = processes.start(
            files,
            lambda: bool(_alive_workers(client) - before),
            # With the Python and the packages in use here.
            command=[sys.executable, "-m", "pgclarify.cli", "worker"],
            environment=os.environ | (environment or {}),
        )
        workers = client.rows("client_list_workers")
    console.print(f"worker is {'alive' if is_new else 'alive already'}: its log is {files.log_file}")
    checks = service.check_versions(workers, __version__)
    if not is_new:
        checks += service.check_models(workers, expected_worker(settings))
    for check in checks:
        terminal.warn(check.finding, check.remedy)


def say_who_reads(settings: Settings) -> None:
    """Say who reads passages for a worker with these settings: another folder may have another file .env."""
    expected = expected_worker(settings)
    if expected is not None:
        reader = "the built-in extractive method, without a language model" if expected[1] is None else expected[1]
        terminal.notices().print(f"passages are read by {reader}", markup=False, soft_wrap=True)


def tell_of_model_servers(settings: Settings) -> bool:
    """Name the model servers on this machine that could read passages; return whether there are any."""
    servers = find_model_servers(settings)
    for server in servers:
        terminal.notices().print(
            f"A model server runs on this machine: {server.finding}. {server.remedy}", markup=False, soft_wrap=True
        )
    return bool(servers)


def _are_here_of_other_versions(workers: Sequence[Row]) -> bool:
    """Whether workers run on this machine, and none of them is of this version."""
    versions = {worker["version"] for worker in workers if worker["host"] == socket.gethostname()}
    return bool(versions) and __version__ not in versions


def _alive_workers(client: CommandClient) -> frozenset[int]:
    return frozenset(worker["worker_id"] for worker in client.rows("client_list_workers"))


def _run_worker(settings: Settings, dsn: str, metrics: Address | None = None, grace: float | None = None) -> None:
    from pgclarify.worker.serving import GRACE_SECONDS, run_worker

    _warn_of_variables()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    is_json = settings.log_format is LogFormat.JSON
    if is_json:
        from pgclarify.worker.json_log import JsonFormatter

        logging.getLogger().handlers[0].setFormatter(JsonFormatter())
    # Hide its report of every loaded model.
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
    # Hide its line for every request.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    # A worker's own error would advise to wait, as if the server had been reached before.
    connection.connect(dsn).close()
    run_worker(
        settings,
        dsn,
        # The log says so, too.
        on_ready=None if is_json else lambda: terminal.notices().print("worker is alive; stop it with Ctrl-C"),
        metrics=metrics,
        grace=GRACE_SECONDS if grace is None else grace,
    )


def _warn_of_variables() -> None:
    for check in check_variables():
        if check.level is Level.WARNING:
            terminal.warn(check.finding, check.remedy)
