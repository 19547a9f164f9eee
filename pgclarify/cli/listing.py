"""The command list."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import asking, connection, terminal
from pgclarify.cli.options import Timeout, with_flags
from pgclarify.cli.waiting import WHAT_IS_KEPT, waiting

if TYPE_CHECKING:
    from datetime import datetime

    from pgclarify.cli.rendering import Row

LIST_EXAMPLES = terminal.examples(
    "pgclarify list 'Which companies insure rental cars?' --corpus insurance",
    "pgclarify list 'Who played Mary Poppins?' --max-answers 3 --top-k 50",
    "pgclarify list 'Who played Mary Poppins?' --json | jq -r .answer",
)


def list_answers(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question that has several answers.")],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", metavar="N", min=1, max=100, help="How many passages to search for.")
    ] = 20,
    max_answers: Annotated[
        int, typer.Option("--max-answers", metavar="N", min=1, max=50, help="Most answers to list.")
    ] = 10,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", "-o", metavar="NAME=VALUE", help="An option of pgclarify.list_answers; may be repeated."
        ),
    ] = None,
    timeout: Timeout = "5min",
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each answer.")
    ] = False,
) -> None:
    """List all answers of a question, one by one, each with its proof. It needs a language model."""
    from pgclarify.cli import dialogue_rendering, rendering

    options = with_flags(context, option or [], top_k=top_k, max_answers=max_answers, timeout=timeout)
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        (clock,) = connection.fetch(database, "client_get_time")
        with waiting("Looking for answers", lambda: _interrupted(database, question, corpus, since=clock["now"])):
            rows, run_id = asking.ask_and_wait(
                database, "client_list_answers", question=question, corpus=corpus, options=json.dumps(options)
            )
        if not rows:
            console = terminal.notices() if as_json else terminal.results()
            console.print(asking.answer(database, question, corpus, [], run_id))
            return
        if as_json:
            for row in rows:
                terminal.print_json(row)
            return
        run = asking.get_run(database, run_id)
    console = terminal.results()
    console.print(dialogue_rendering.answers(question, rows))
    console.print(dialogue_rendering.cut_short(run, "There may be more answers; those above are proven."))
    console.print(rendering.explain_hint(run_id))


def _interrupted(database: connection.Database, question: str, corpus: str | None, *, since: datetime) -> str:
    import psycopg

    from pgclarify.cli import dialogue_rendering

    runs: list[Row] = []
    # The connection itself may be lost.
    with suppress(psycopg.Error):
        runs += connection.fetch(database, "cli_find_cancelled_list", question=question, corpus=corpus, since=since)
    return dialogue_rendering.list_cancelled(runs[0]["run_id"]) if runs else WHAT_IS_KEPT
