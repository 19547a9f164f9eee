"""The command report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pgclarify.cli import connection, terminal

REPORT_EXAMPLES = terminal.examples(
    "pgclarify report 42",
    "pgclarify report 42 --output rental-cars.html --open",
    "pgclarify report 42 --output - | gzip > 42.html.gz",
)
_STANDARD_OUTPUT = "-"

_Open = Annotated[bool, typer.Option("--open", metavar="", help="Open it in the browser.")]


def report(
    run_id: Annotated[int, typer.Argument(metavar="RUN_ID", help="A run; pgclarify status shows the latest ones.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - is standard output."),
    ] = None,
    open_it: _Open = False,
) -> None:
    """Write what a run found and did as one HTML page, which needs no network."""
    _check(output, open_it=open_it)
    from pgclarify.reports.run_page import run_page
    from pgclarify.reports.run_tables import read_run

    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        page = run_page(read_run(database, run_id))
    _write(page, output or f"report-{run_id}.html", open_it=open_it)


def _check(output: str | None, *, open_it: bool) -> None:
    if open_it and output == _STANDARD_OUTPUT:
        raise typer.BadParameter("there is no file to open", param_hint="--open")


def _write(page: str, output: str, *, open_it: bool) -> None:
    if output == _STANDARD_OUTPUT:
        # Independent of the terminal's encoding, because the page declares UTF-8.
        sys.stdout.buffer.write(page.encode())
        return
    path = Path(output)
    path.write_text(page, encoding="utf-8", newline="\n")
    terminal.notices().print(f"Wrote {path} ({len(page) / 1000:,.0f} kB)", soft_wrap=True)
    if open_it:
        typer.launch(path.resolve().as_uri())
