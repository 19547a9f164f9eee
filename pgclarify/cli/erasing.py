"""The command erase."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pgclarify.cli import connection, terminal

ERASE_EXAMPLES = terminal.examples(
    "pgclarify erase handbook memos/2019-04.md",
    "pgclarify erase handbook memos/2019-04.md --yes",
)


def erase(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Name of a corpus that you own.")],
    document_id: Annotated[
        str, typer.Argument(metavar="DOCUMENT_ID", help="As citations show it; it may have been removed before.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask whether to go on.")] = False,
) -> None:
    """Remove a document and erase all text that comes from it: passages, quotes, readings, answers, replies.

    Ids, times and costs stay. Runs on the corpus that are going on start over. Backups and logs are not reached.
    """
    from pgclarify.foreign_text import harmless

    named = f'document "{harmless(document_id)}" of {harmless(corpus)}'
    if not yes:
        _ask_to_go_on(named)
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        (row,) = connection.fetch(database, "client_erase_document", corpus=corpus, document_id=document_id)
    terminal.results().print(f"Erased {named}" if row["is_erased"] else f"There was nothing of {named}")


def _ask_to_go_on(named: str) -> None:
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        raise typer.BadParameter("there is no terminal to ask on: pass --yes to erase without a question", param_hint="--yes")
    if not typer.confirm(f"Erase {named} for good, and all answers that rest on it alone?", default=False, err=True):
        raise typer.Exit(1)
