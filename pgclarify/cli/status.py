"""The command status."""

from __future__ import annotations

from pgclarify.cli import connection, listening, terminal
from pgclarify.cli.options import AsOneObject

# Enough to see the latest runs, on a screen that also shows the rest.
_MOST_RUNS = 5
_MOST_ERRORS = 5

STATUS_EXAMPLES = terminal.examples(
    "pgclarify status",
    "pgclarify status --json | jq '.corpora[] | select(.failed > 0)'",
    "pgclarify status --json | jq .recent_errors",
)


def status(
    as_json: AsOneObject = False,
) -> None:
    """Show the server, workers, queue, corpora, attached tables, tight budgets, the last runs, and what went wrong."""
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        (server,) = connection.fetch(database, "cli_get_server")
        workers = connection.fetch(database, "client_list_workers")
        (queue,) = connection.fetch(database, "cli_get_queue")
        corpora = connection.fetch(database, "client_list_corpora")
        sources = connection.fetch(database, "cli_list_sources")
        budgets = connection.fetch(database, "cli_list_tight_budgets")
        runs = connection.fetch(database, "cli_list_recent_runs", most=_MOST_RUNS)
        errors = connection.fetch(database, "cli_list_recent_errors", most=_MOST_ERRORS)
    address = listening.address_of(settings)
    if as_json:
        terminal.print_json(
            {
                "server": server | {"listens_on": None if address is None else str(address)},
                "workers": workers,
                "queue": queue,
                "corpora": corpora,
                "sources": sources,
                "tight_budgets": budgets,
                "recent_runs": runs,
                "recent_errors": errors,
            }
        )
        return
    from pgclarify.cli import overview

    described = f"PostgreSQL {server['version']}, database {server['database']}"
    place = "from PGCLARIFY_DATABASE_URL" if settings.database_url else f"embedded, in {settings.data_dir}"
    if address is not None:
        place += f", listens on {address}"
    terminal.results().print(overview.status(described, place, workers, queue, corpora, sources, runs, errors, budgets))
