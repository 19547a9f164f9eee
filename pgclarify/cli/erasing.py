"""The command erase."""

from __future__ import annotations

from typing import Annotated

import typer

from pgclarify.cli import connection, terminal
from pgclarify.cli.confirming import confirm

ERASE_EXAMPLES = terminal.examples(
    "pgclarify erase handbook memos/2019-04.md",
    "pgclarify erase handbook memos/2019-04.md --yes",
)


def erase(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Name of a corpus that you own.")],
    document_id: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT_ID", help="The id that citations show; the document may have been removed before."
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove a document and erase all text that comes from it: passages, quotes, readings, answers, replies.

    Ids, times and costs stay. Unfinished runs on the corpus start again. Backups and logs are not changed.
    """
    from pgclarify.foreign_text import sanitize

    named = f'document "{sanitize(document_id)}" of {sanitize(corpus)}'
    confirm(f"this would erase {named} for good, and every answer that rests on it alone", is_confirmed=yes)
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        (row,) = connection.fetch(database, "client_erase_document", corpus=corpus, document_id=document_id)
    terminal.results().print(f"Erased {named}" if row["is_erased"] else f"There was nothing of {named}")
