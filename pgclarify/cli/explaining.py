"""The command explain."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from pgclarify.cli import connection, terminal
from pgclarify.language.foreign_text import sanitize

EXPLAIN_EXAMPLES = terminal.examples(
    "pgclarify explain 42",
    "pgclarify explain 42 --detail stages",
    "pgclarify explain 42 --html 42.html --open",
)


class Detail(StrEnum):
    """The depth of the tree."""

    PASSAGES = "passages"
    STAGES = "stages"


def explain(
    run_id: Annotated[int, typer.Argument(metavar="RUN_ID", help="A run; pgclarify doctor shows the latest ones.")],
    detail: Annotated[Detail, typer.Option(help="The depth of the tree.")] = Detail.PASSAGES,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write a page that needs no network; - is standard output."),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", metavar="", help="Open that page in the browser.")] = False,
) -> None:
    """Show what a run did: where it spent time and calls, how it found each passage, why it stopped."""
    if open_it and html in (None, terminal.STANDARD_STREAM):
        raise typer.BadParameter("it needs a file: --html FILE", param_hint="--open")
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        if html is not None:
            from pgclarify.reports.run_page import run_page
            from pgclarify.reports.run_tables import read_run

            terminal.write_page(run_page(read_run(database, run_id)), html)
            if open_it:
                typer.launch(Path(html).resolve().as_uri())
            return
        lines = connection.client_of(database).explain(run_id, detail=detail.value)
    # Not wrapped, because the indentation is the tree.
    terminal.results().print(Text("\n".join(map(sanitize, lines))), soft_wrap=True)
