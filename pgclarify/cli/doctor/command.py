"""The command doctor: the checks, their order, and what each needs from earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Any

import psycopg
import typer

from pgclarify import __version__
from pgclarify.cli import connection, listening, overview, progress, terminal
from pgclarify.cli.client import CommandClient
from pgclarify.cli.doctor import endpoint, server, service
from pgclarify.cli.doctor.check import Check, Level, ok, problem, warning
from pgclarify.cli.doctor.trials import check_trials
from pgclarify.cli.doctor.variables import check_variables
from pgclarify.cli.rendering import Row
from pgclarify.config import Settings
from pgclarify.data.counting import counted
from pgclarify.embedded import Address
from pgclarify.errors import PgclarifyError
from pgclarify.install.roles import ROLES

# Enough to see the latest runs, on a screen that also shows the rest.
_MOST_RUNS = 5
# Among how many runs errors are looked for. An older error is over, or a later run repeats it.
_RUNS_SEARCHED = 200
_RECENT = timedelta(days=1)

DOCTOR_EXAMPLES = terminal.examples(
    "pgclarify doctor",
    "PGCLARIFY_DATABASE_URL=postgresql://app@db.example/app pgclarify doctor",
    "pgclarify doctor --json | jq -r '.checks[] | select(.level != \"ok\") | .remedy'",
)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="One JSON object with all checks.")] = False,
) -> None:
    """Show the installation, check it, and say how to fix what is missing or wrong; the exit code is then 1.

    First come the server, workers, queue, corpora, attached tables, the last runs and their errors; then the checks.

    Nothing is changed or paid for. A warning is about something that works, but could work better.
    """
    settings = connection.load_settings()
    console = terminal.results()
    state = _look(settings)
    if state is not None and not as_json:
        console.print(overview.status(state))
        console.print()
    checks = []
    with progress.waiting("Looking"):
        for check in examine(settings):
            checks.append(check)
            if not as_json:
                console.print(check.line(), soft_wrap=True)
    problems = sum(check.level is Level.PROBLEM for check in checks)
    warnings = sum(check.level is Level.WARNING for check in checks)
    if as_json:
        found = {"problems": problems, "warnings": warnings, "checks": [asdict(check) for check in checks]}
        terminal.print_json({**(state or {}), **found})
    else:
        style = "green"
        if problems:
            style = "bold red"
        elif warnings:
            style = "yellow"
        console.print(f"{counted(problems, 'problem')} and {counted(warnings, 'warning')}.", style=style)
    if problems:
        raise typer.Exit(1)


def _look(settings: Settings) -> dict[str, Any] | None:
    """Return what the installation has and does; None if that cannot be read, which a check explains."""
    address = listening.address_of(settings)
    try:
        with connection.connect(connection.running_dsn(settings)) as database:
            client = connection.client_of(database)
            runs = client.runs(limit=_RUNS_SEARCHED)
            return {
                "server": {
                    "database": database.info.dbname,
                    "user": database.info.user,
                    "version": database.info.parameter_status("server_version"),
                    "place": "from PGCLARIFY_DATABASE_URL"
                    if settings.database_url
                    else f"embedded, in {settings.data_dir}",
                    "listens_on": None if address is None else str(address),
                },
                "workers": client.rows("client_list_workers"),
                "queue": client.rows("client_get_queue")[0],
                "corpora": [asdict(corpus) for corpus in client.corpora()],
                "sources": client.rows("client_list_attached_tables"),
                "recent_runs": runs[:_MOST_RUNS],
                "recent_errors": recent_errors(runs, datetime.now(UTC)),
            }
    except (psycopg.Error, PgclarifyError):
        return None


def recent_errors(runs: Sequence[Row], now: datetime) -> list[Row]:
    """Return the latest of the runs that failed within a day, or could not judge all passages."""
    failed = (run for run in runs if run["status"] in ("failed", "partial") and run["finished_at"] > now - _RECENT)
    return list(islice(failed, _MOST_RUNS))


def examine(settings: Settings) -> Iterator[Check]:
    """Make all checks; slow ones come last."""
    yield from check_variables()
    has_workers = False
    for check in _examine_database(settings):
        has_workers = has_workers or (check.name == "workers" and check.level == "ok")
        yield check
    yield from endpoint.check_endpoints(settings, has_workers=has_workers)


def _examine_database(settings: Settings) -> Iterator[Check]:
    try:
        # The check of the schema says more than an error of the connection.
        database = connection.connect_to_any(connection.running_dsn(settings))
    except PgclarifyError as error:
        detail = " ".join((error.detail or "").split()).rstrip(".")
        yield problem("connection", f"{error.message} ({detail})" if detail else error.message, error.hint)
        return
    with database:
        client = connection.client_of(database)
        yield ok("connection", f"database {database.info.dbname} as role {database.info.user}")
        if settings.database_url is None:
            yield from _examine_listening(client, listening.address_of(settings))
        roles = client.rows("client_list_roles", roles=list(ROLES))
        if roles:
            yield server.check_memberships(database.info.user, {row["role"] for row in roles if row["has_usage"]})
        revision = server.check_revision(database)
        yield revision
        # The following checks use objects of the schema, which may differ in another revision.
        if revision.level is not Level.OK:
            return
        yield server.check_loopback(database)
        workers = client.rows("client_list_workers")
        yield from service.check_workers(workers, version=__version__, expected=endpoint.expected_worker(settings))
        yield from check_trials(client.rows("client_list_model_trials"))
        try:
            yield from service.check_findings(client.rows("client_list_findings"))
            yield from service.check_files(client.call("unread_kinds"))
        except PgclarifyError as error:
            yield warning("findings", f"could not be checked: {error.message}")


def _examine_listening(client: CommandClient, address: Address | None) -> Iterator[Check]:
    """Check the connections to the embedded server."""
    yield server.check_listening(address)
    if address is not None:
        yield server.check_superusers([row["role"] for row in client.rows("client_list_open_superusers")])
