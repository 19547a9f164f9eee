"""The command ask."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, terminal
from pgclarify.cli.options import read_options
from pgclarify.errors import InputError, NoWorker, RunTimeout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from pgclarify.cli.rendering import Row

ASK_EXAMPLES = terminal.examples(
    "pgclarify ask 'rental cars' --corpus insurance",
    "pgclarify ask 'deductible' --top-k 50 --timeout 5min",
    "pgclarify ask 'deductible' --json | jq -r .answer",
)
# Waiting inside the call needs a second connection, which the server may not have or not allow.
_NO_LOOPBACK = "PC005"


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, as vague as it comes.")],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", metavar="N", min=1, max=1000, help="How many passages are looked at.")
    ] = 20,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of pgclarify.clarify; may be repeated."),
    ] = None,
    timeout: Annotated[
        str, typer.Option(metavar="INTERVAL", help="How long to wait: 90s, 5min, or any interval.")
    ] = "60s",
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each reading.")
    ] = False,
) -> None:
    """Ask a vague question; get every reading that documents answer."""
    from pgclarify.cli import rendering

    options = read_options(option or [])
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        with terminal.notices().status("Reading passages"):
            rows = clarify(database, question, corpus, top_k=top_k, timeout=timeout, options=options)
        if as_json:
            for row in rows:
                terminal.print_json(row)
        if not as_json or not rows:
            console = terminal.notices() if as_json else terminal.results()
            console.print(answer(database, question, corpus, rows))
        if rows and not as_json:
            console.print(rendering.explain_hint(rows[0]["run_id"]))


def clarify(
    database: connection.Database,
    question: str,
    corpus: str | None,
    *,
    top_k: int = 20,
    timeout: str = "60s",
    options: Mapping[str, object] | None = None,
) -> list[Row]:
    """Ask, and wait for the rows of `pgclarify.clarify`: one for each reading.

    Raises:
        InputError: If the timeout is no interval.
        NoWorker: If nobody is there to answer.
        RunTimeout: If the answer does not come in time.
    """
    import psycopg

    asked: dict[str, object] = {
        "question": question,
        "corpus": corpus,
        "top_k": top_k,
        "options": json.dumps(options or {}),
    }
    try:
        return [*connection.fetch(database, "cli_clarify", timeout=timeout, **asked)]
    except (psycopg.errors.InvalidDatetimeFormat, psycopg.errors.DatetimeFieldOverflow) as error:
        raise no_interval(timeout) from error
    except KeyboardInterrupt:
        # The server has cancelled its run.
        terminal.notices().print("Cancelled; what was paid for is kept.")
        raise
    except psycopg.Error as error:
        if error.sqlstate != _NO_LOOPBACK:
            raise
    return _submit_and_wait(database, asked, timeout)


def _submit_and_wait(database: connection.Database, asked: dict[str, object], timeout: str) -> list[Row]:
    """The same without dblink, since no transaction of ours is open that the worker could not see into."""
    if not connection.fetch(database, "client_list_workers"):
        raise NoWorker("no worker is running", hint="Start one with: pgclarify up --detach, or pgclarify worker.")
    (run,) = connection.fetch(database, "cli_submit", **asked)
    try:
        (outcome,) = connection.fetch(database, "cli_wait", run_id=run["run_id"], timeout=timeout)
    except KeyboardInterrupt:
        cancel(database, run["run_id"])
        raise
    if outcome["status"] in ("queued", "running"):
        raise RunTimeout(
            f"the answer did not come within {timeout}",
            detail=f"Run {run['run_id']} goes on.",
            hint="Ask again with a longer --timeout, or see how it stands with: pgclarify status",
        )
    return [*connection.fetch(database, "cli_result", run_id=run["run_id"])]


def cancel(database: connection.Database, run_id: int) -> None:
    """Cancel a run for which nobody waits any more, and say so."""
    import psycopg

    with suppress(psycopg.Error):
        connection.fetch(database, "client_cancel", run_id=run_id)
        terminal.notices().print(f"Cancelled run {run_id}; what was paid for is kept.")


def no_interval(timeout: str) -> InputError:
    """What is wrong with a timeout that the server cannot read."""
    return InputError("the timeout is no interval", detail=f"It is {timeout!r}.", hint="Pass --timeout 90s, or 5min.")


def answer(database: connection.Database, question: str, corpus: str | None, rows: list[Row]) -> RenderableType:
    """What a person sees for the rows of a run."""
    from pgclarify.cli import rendering

    if rows:
        return rendering.readings(question, rows)
    corpora = connection.fetch(database, "client_list_corpora")
    asked = corpora if corpus is None else [row for row in corpora if row["corpus"] == corpus]
    return rendering.nothing_found(question, corpus, pending=sum(row["pending"] or 0 for row in asked))
