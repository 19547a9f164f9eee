"""The command estimate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pgclarify.cli import connection, terminal
from pgclarify.cli.options import AskBackThreshold, AsOneObject, Timeout, with_flags
from pgclarify.cli.questions import STANDARD_INPUT, check_file, read_questions
from pgclarify.cli.waiting import waiting

ESTIMATE_EXAMPLES = terminal.examples(
    "pgclarify estimate 'rental cars' deductible --corpus insurance",
    "pgclarify estimate --file searches.txt --top-k 10",
    "cut -f2 searches.tsv | pgclarify estimate - --json | jq -r .cost_usd",
)


def estimate(
    context: typer.Context,
    question: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTION", help="The question; - reads many from standard input."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "--from", metavar="PATH", help="Many questions, one on each line.")
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", metavar="N", min=1, max=1000, help="How many passages would be judged.")
    ] = 20,
    sample: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=1000, help="Most different questions to examine, as a sample."),
    ] = 200,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of pgclarify.clarify; may be repeated."),
    ] = None,
    ask_back: Annotated[
        bool, typer.Option("--ask-back", metavar="", help="Estimate for asking with it: one pass for clear questions.")
    ] = False,
    threshold: AskBackThreshold = None,
    timeout: Timeout = "60s",
    as_json: AsOneObject = False,
) -> None:
    """Estimate what questions would cost. No language model is called.

    Replies that are paid for already cost nothing. Questions whose answers can be reused cost nothing either.
    """
    from pgclarify.cli import estimate_rendering, rendering

    asked = question or []
    if bool(asked) == (file is not None):
        raise typer.BadParameter("give either questions or --file, and only one of them", param_hint="QUESTION")
    check_file(file)
    options = with_flags(
        context,
        option or [],
        ask_back="auto" if ask_back else None,
        threshold=threshold,
        sample=sample,
        timeout=timeout,
    )
    if file is not None or asked == [STANDARD_INPUT]:
        asked = list(read_questions(file).texts)
    settings = connection.load_settings()
    # It pays for nothing.
    with (
        connection.connect(connection.running_dsn(settings)) as database,
        waiting("Looking at what would be asked", lambda: "Cancelled."),
    ):
        (row,) = connection.fetch(
            database, "client_estimate", questions=asked, corpus=corpus, top_k=top_k, options=json.dumps(options)
        )
    if as_json:
        # Numbers, also for PostgreSQL's decimals.
        cost = row["cost_usd"]
        terminal.print_json({**row, "cost_usd": None if cost is None else float(cost)})
        return
    terminal.results().print(estimate_rendering.estimate(row))
    if row["run_id"] is not None:
        terminal.notices().print(rendering.explain_hint(row["run_id"]))
