"""The group of commands under corpus: what is loaded, and removing it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, terminal
from pgclarify.cli.confirming import confirm
from pgclarify.cli.rendering import printable, table
from pgclarify.data.counting import counted
from pgclarify.errors import NotFound

if TYPE_CHECKING:
    from pgclarify.cli.client import CommandClient

app = typer.Typer(no_args_is_help=True)
_Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="Name of the corpus.")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="JSON lines, one object a row.")]
_Yes = Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask.")]


@contextmanager
def _client(corpus: str | None = None) -> Iterator[CommandClient]:
    """Yield a client; of a corpus that exists, if one is named."""
    with connection.connected() as database:
        client = connection.client_of(database, corpus)
        if corpus is not None:
            client.corpus_status()
        yield client


@app.command("list", epilog=terminal.examples("pgclarify corpus list", "pgclarify corpus list --json"))
def list_corpora(as_json: _Json = False) -> None:
    """List the corpora that you may search, with the number of their documents."""
    with _client() as client:
        found = client.corpora()
    if as_json:
        for one in found:
            terminal.print_json(asdict(one))
        return
    rows = [(one.corpus, one.documents, one.passages, one.pending, one.failed) for one in found]
    shown = table(("corpus", "documents", "passages", "pending", "failed"), rows)
    terminal.results().print(shown if rows else "There is no corpus. Make one with: pgclarify load NAME PATH")


@app.command(epilog=terminal.examples("pgclarify corpus documents handbook --starts-with policies/"))
def documents(
    corpus: _Corpus,
    starts_with: Annotated[str, typer.Option(metavar="TEXT", help="Only documents whose ids begin so.")] = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Show the first N.")] = 100,
    as_json: _Json = False,
) -> None:
    """List the documents of a corpus that you may read, by their ids."""
    with _client(corpus) as client:
        found = client.rows("client_find_documents", corpus=corpus, beginning=starts_with, most=limit)
    if as_json:
        for one in found:
            terminal.print_json(one)
        return
    rows = [(printable(one["id"]), one["title"], one["author"], one["dated"], one["error"]) for one in found]
    terminal.results().print(table(("id", "title", "author", "dated", "error"), rows) if rows else "No document.")


@app.command(epilog=terminal.examples("pgclarify corpus remove handbook policies/old.md policies/older.md"))
def remove(
    corpus: _Corpus,
    document_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, as corpus documents shows them.")],
    yes: _Yes = False,
) -> None:
    """Remove documents of a corpus of yours. Citations of them keep their quotes."""
    with _client(corpus) as client:
        confirm(f"this would remove {counted(len(document_ids), 'document')} of {printable(corpus)}", is_confirmed=yes)
        missing = [one for one in document_ids if not client.remove_document(one)]
    removed = counted(len(document_ids) - len(missing), "document")
    terminal.notices().print(f"{removed} removed.")
    if missing:
        raise NotFound("some documents were not there", detail=f"Missing: {', '.join(map(printable, missing))}.")


@app.command(epilog=terminal.examples("pgclarify corpus drop handbook"))
def drop(corpus: _Corpus, yes: _Yes = False) -> None:
    """Drop a corpus of yours with its documents. Runs on it stay, with their quotes."""
    with _client(corpus) as client:
        (status,) = [one for one in client.corpora() if one.corpus == corpus]
        many = "its documents" if status.documents is None else counted(status.documents, "document")
        confirm(f"this would drop corpus {printable(corpus)} with {many}", is_confirmed=yes)
        client.drop_corpus(corpus)
    terminal.notices().print(f"corpus {printable(corpus)} dropped")
