"""The command ask."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgclarify.cli import connection, hints, terminal, waiting
from pgclarify.cli.options import AskBackThreshold, Timeout, with_flags
from pgclarify.errors import NotFound, NoWorker, RunTimeout
from pgclarify.vocabulary import StopCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import psycopg
    from rich.console import RenderableType

    from pgclarify.cli.rendering import Row

ASK_EXAMPLES = terminal.examples(
    "pgclarify ask 'rental cars' --corpus insurance",
    "pgclarify ask 'deductible' --top-k 50 --timeout 5min",
    "pgclarify ask 'What is the deductible for hail damage?' --ask-back",
    "pgclarify ask 'deductible' --json | jq -r .answer",
)
# SQLSTATE: waiting in the call needs a second connection, which the server does not have or allow.
_NO_LOOPBACK = "PC005"
# How many passages are shown if no answer was found.
_MOST_CLOSEST = 3
# SQLSTATE of the warning that a budget ended a run.
_BUDGET_SPENT = "PC007"
# How long a standby may take to follow the primary server.
_STANDBY_SECONDS = 10.0
_STANDBY_POLL_SECONDS = 0.2


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know; it may be vague.")],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", metavar="N", min=1, max=1000, help="How many passages to judge.")
    ] = 20,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of pgclarify.clarify; may be repeated."),
    ] = None,
    ask_back: Annotated[
        bool,
        typer.Option(
            "--ask-back", metavar="", help="First check whether the question is clear; then one pass answers."
        ),
    ] = False,
    threshold: AskBackThreshold = None,
    timeout: Timeout = "60s",
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each reading.")
    ] = False,
) -> None:
    """Ask a vague question; get the readings that documents answer."""
    from pgclarify.cli import dialogue_rendering, rendering

    options = with_flags(context, option or [], ask_back="auto" if ask_back else None, threshold=threshold)
    if threshold is not None and options.get("ask_back") is None:
        raise typer.BadParameter("it goes with --ask-back", param_hint="--threshold")
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database, budgets_told(database):
        with terminal.notices().status("Reading passages"):
            if options.get("ask_back") is None:
                rows, run_id = clarify(database, question, corpus, top_k=top_k, timeout=timeout, options=options)
                route = None
            else:
                rows, route = clarify_through_gate(
                    database, question, corpus, top_k=top_k, timeout=timeout, options=options
                )
                run_id = route["run_id"]
        if as_json:
            way = {} if route is None else {name: route[name] for name in ("route", "saved_completions")}
            for row in rows:
                terminal.print_json({**row, **way})
        console = terminal.notices() if as_json else terminal.results()
        if not as_json or not rows:
            console.print(answer(database, question, corpus, rows, run_id))
        if route is not None and (not as_json or not rows):
            console.print(dialogue_rendering.route(route))
        if rows and not as_json:
            run = get_run(database, run_id)
            console.print(rendering.explain_hint(run_id, run["cost_usd"]))


@contextmanager
def budgets_told(database: connection.Database) -> Iterator[None]:
    """Report at the end which budget ended a run, from the server's warning.

    A run without results has no row to show it.
    """
    from pgclarify.cli import rendering

    heard: list[tuple[str, str | None]] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        if notice.sqlstate == _BUDGET_SPENT:
            # The notice's texts are only valid during this call.
            heard.append((notice.message_primary or "", hints.hint_of(notice)))

    database.add_notice_handler(hear)
    try:
        yield
    finally:
        database.remove_notice_handler(hear)
    for message, hint in heard:
        terminal.notices().print(rendering.warning(message, hint))


def ask_and_wait(database: connection.Database, statement: str, /, **parameters: object) -> tuple[list[Row], int]:
    """Send a named statement that waits for a run; return its rows, and the run, which no row names if it is empty."""
    with database.transaction():
        rows: list[Row] = [*connection.fetch(database, statement, **parameters)]
        (run,) = connection.fetch(database, "cli_get_asked_run")
    return rows, int(run["run_id"])


def clarify(
    database: connection.Database,
    question: str,
    corpus: str | None,
    *,
    top_k: int = 20,
    timeout: str = "60s",
    options: Mapping[str, object] | None = None,
) -> tuple[list[Row], int]:
    """Ask, and wait for the rows of `pgclarify.clarify`, one for each reading; return them and the run.

    Raises:
        InputError: If the timeout is not an interval.
        NoWorker: If no worker is running.
        RunTimeout: If the answer does not arrive in time.
    """
    import psycopg

    asked = {"question": question, "corpus": corpus, "top_k": top_k}
    given = options or {}
    try:
        return ask_and_wait(database, "client_clarify", timeout=timeout, options=json.dumps(given), **asked)
    except (psycopg.errors.InvalidDatetimeFormat, psycopg.errors.DatetimeFieldOverflow) as error:
        raise waiting.no_interval(timeout) from error
    except KeyboardInterrupt:
        # The server has cancelled the run of this call.
        terminal.notices().print(waiting.WHAT_IS_KEPT)
        raise
    except psycopg.Error as error:
        if error.sqlstate != _NO_LOOPBACK:
            raise
    return _start_and_wait(database, {**asked, "options": given}, timeout)


def clarify_through_gate(
    database: connection.Database,
    question: str,
    corpus: str | None,
    *,
    top_k: int,
    timeout: str,
    options: Mapping[str, object],
) -> tuple[list[Row], Row]:
    """Ask with option ask_back; return the readings and the route of the run (statement client_get_route).

    Raises:
        InputError: If the timeout is not an interval, or not positive.
        NoWorker: If no worker is running.
        RunTimeout: If the answer does not arrive in time.
    """
    # Before the run starts.
    waiting.read_seconds(database, timeout)
    asked = {"question": question, "corpus": corpus, "top_k": top_k, "options": options}
    # Without results, no row has the run's id.
    rows, run_id = _start_and_wait(database, asked, timeout)
    (route,) = connection.fetch(database, "client_get_route", run_id=run_id)
    return rows, route


def _start_and_wait(database: connection.Database, asked: Mapping[str, object], timeout: str) -> tuple[list[Row], int]:
    """Ask without dblink: no transaction of ours is open that could hide the run. Returns the readings and the run."""
    if not connection.fetch(database, "client_list_workers"):
        raise NoWorker("no worker is running", hint="Start one with: pgclarify up --detach, or pgclarify worker.")
    run_id = started(database, "clarify", **asked)
    try:
        (outcome,) = connection.fetch(database, "client_wait", run_ids=[run_id], timeout=timeout)
    except KeyboardInterrupt:
        cancel(database, run_id)
        raise
    if outcome["status"] in ("queued", "running"):
        raise RunTimeout(
            f"the answer did not come within {timeout}",
            detail=f"Run {run_id} continues.",
            hint="Ask again with a longer --timeout, or see its state with: pgclarify status",
            run_ids=[run_id],
        )
    return [*connection.fetch(database, "client_result", run_id=run_id)], run_id


def started(database: connection.Database, operation: str, /, **arguments: Any) -> int:
    """Start an operation; return the run.

    If this is interrupted, there is no run, or it is cancelled: its id is known before the commit.
    """
    run_id = None
    further = {name: given for name, given in arguments.items() if name not in ("question", "corpus", "options")}
    try:
        with database.transaction():
            (run,) = connection.fetch(
                database,
                "client_submit",
                operation=operation,
                question=arguments["question"],
                corpus=arguments["corpus"],
                options=json.dumps({**arguments["options"], **further}),
            )
            run_id = int(run["run_id"])
    except KeyboardInterrupt:
        if run_id is not None:
            cancel(database, run_id)
        raise
    return run_id


def cancel(database: connection.Database, run_id: int) -> None:
    """Cancel a run that is no longer needed, and say so."""
    import psycopg

    with suppress(psycopg.Error):
        connection.fetch(database, "client_cancel", run_ids=[run_id])
        terminal.notices().print(f"Cancelled run {run_id}; what was paid for is kept.")


def get_run(database: connection.Database, run_id: int) -> Row:
    """Return the row of statement cli_get_run for a run that has ended. Wait while a standby does not have it yet.

    Raises:
        NotFound: If the standby still does not have it after some seconds.
    """
    deadline = time.monotonic() + _STANDBY_SECONDS
    while not (found := connection.fetch(database, "cli_get_run", run_id=run_id)) and time.monotonic() < deadline:
        time.sleep(_STANDBY_POLL_SECONDS)
    if not found:
        raise NotFound(
            f"run {run_id} is not on this server yet",
            detail="It has ended on the primary server, which this standby follows.",
            hint=f"Look at it in a moment: pgclarify explain {run_id}",
        )
    return found[0]


def answer(
    database: connection.Database, question: str, corpus: str | None, rows: list[Row], run_id: int
) -> RenderableType:
    """Render the rows of a run that has ended."""
    from pgclarify.cli import nothing_rendering, rendering

    if rows:
        return rendering.readings(question, rows)
    run = get_run(database, run_id)
    passages = connection.fetch(database, "client_closest_passages", run_id=run_id, top_k=_MOST_CLOSEST)
    codes = connection.fetch(database, "cli_get_stop_code", stop_code=run["stop_code"])
    if run["status"] == "partial" and run["stop_code"] != StopCode.UNPROVEN:
        return nothing_rendering.not_looked_at(run, passages)
    corpora = connection.fetch(database, "client_list_corpora")
    asked = corpora if corpus is None else [row for row in corpora if row["corpus"] == corpus]
    if _hold_nothing(asked):
        return rendering.empty_corpus(corpus)
    return nothing_rendering.nothing_found(
        question,
        corpus,
        run=run,
        why=codes[0] if codes else None,
        passages=passages,
        pending=sum(row["pending"] or 0 for row in asked),
    )


def is_empty(database: connection.Database, corpus: str | None) -> bool:
    """Whether a corpus (if none is named, the default one) has no documents."""
    corpora = connection.fetch(database, "client_list_corpora")
    return _hold_nothing([row for row in corpora if corpus in (None, row["corpus"])])


def _hold_nothing(corpora: Sequence[Row]) -> bool:
    return bool(corpora) and not any(row["documents"] for row in corpora)
