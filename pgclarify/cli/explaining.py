"""The command explain."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer
from rich.text import Text

from pgclarify.cli import connection, terminal
from pgclarify.language.foreign_text import sanitize

EXPLAIN_EXAMPLES = terminal.examples(
    "pgclarify explain 42",
    "pgclarify explain 42 --detail stages",
    "pgclarify explain 42 --html 42.html",
)


def explain(
    run_id: Annotated[int, typer.Argument(metavar="RUN_ID", help="A run; pgclarify doctor shows the latest ones.")],
    detail: Annotated[str, typer.Option(metavar="DEPTH", help="Down to passages or stages.")] = "passages",
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write a page that needs no network; - is standard output."),
    ] = None,
) -> None:
    """Show what a run did: where it spent time and calls, how it found each passage, why it stopped."""
    with connection.connected() as database:
        if html is not None:
            from pgclarify.reports.run_page import run_page
            from pgclarify.reports.run_tables import read_run

            terminal.write_page(run_page(read_run(database, run_id)), html)
            return
        # The server knows the depths.
        lines = connection.client_of(database).explain(run_id, detail=cast("Any", detail))
    # Not wrapped, because the indentation is the tree.
    terminal.results().print(Text("\n".join(map(sanitize, lines))), soft_wrap=True)
