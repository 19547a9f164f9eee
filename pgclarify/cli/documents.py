"""The commands corpus list, documents, alter, remove, drop, erase, distribute, grant and revoke."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgclarify.cli import connection, granting, terminal
from pgclarify.cli.confirming import confirm
from pgclarify.cli.options import AsOneObject, read_options
from pgclarify.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType


DOCUMENTS_EXAMPLES = terminal.examples(
    "pgclarify corpus documents handbook",
    "pgclarify corpus documents handbook --limit 1000 --json | jq -r '.documents[].document_id'",
)
REMOVE_EXAMPLES = terminal.examples(
    "pgclarify corpus remove handbook leave.md travel/hotels.md",
    "pgclarify corpus remove handbook --source old-laptop:/home/ann/handbook",
)
DROP_EXAMPLES = terminal.examples("pgclarify corpus drop handbook", "pgclarify corpus drop handbook --yes")
LIST_EXAMPLES = terminal.examples("pgclarify corpus list", "pgclarify corpus list --json | jq '.corpora[].corpus'")

ERASE_EXAMPLES = terminal.examples("pgclarify corpus erase handbook memos/2019-04.md --yes")
ALTER_EXAMPLES = terminal.examples("pgclarify corpus alter handbook analyst=lead")
DISTRIBUTE_EXAMPLES = terminal.examples(
    "pgclarify corpus distribute insurance --shards 32 --yes", "pgclarify corpus distribute insurance --undo"
)

app = typer.Typer(no_args_is_help=True, help="See and change corpora, their documents, and who may use them.")
app.command(epilog=granting.GRANT_EXAMPLES)(granting.grant)
app.command(epilog=granting.REVOKE_EXAMPLES)(granting.revoke)

_Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="Name of the corpus.")]
_Yes = Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask.")]


@app.command(epilog=DOCUMENTS_EXAMPLES)
def documents(
    corpus_name: _Corpus,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="How many at most.")] = 50,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="Start after the document with this id, in the order of ids.")
    ] = None,
    as_json: AsOneObject = False,
) -> None:
    """Show the documents of a corpus that you may read, by id, and where each comes from."""
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        client = connection.client_of(database)
        client.corpus_status(corpus_name)
        rows = client.documents(corpus_name, after=after, limit=limit + 1)
    page = rows[:limit]
    is_last = len(rows) <= limit
    if as_json:
        last = None if is_last else page[-1]["document_id"]
        terminal.print_json({"corpus": corpus_name, "documents": page, "next_after": last})
        return
    if not page:
        terminal.notices().print(f"{corpus_name} has no document{'' if after is None else ' after that'} to show.")
        return
    terminal.results().print(_table(page))
    if not is_last:
        after = f"{shlex.quote(corpus_name)} --after {shlex.quote(str(page[-1]['document_id']))}"
        terminal.notices().print(f"There are more: pgclarify corpus documents {after}", soft_wrap=True)


@app.command(epilog=REMOVE_EXAMPLES)
def remove(
    corpus_name: _Corpus,
    document_ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Ids of documents.")] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="Remove all documents of this source: its name from --as, or its path."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="With --source: do not ask.")] = False,
    as_json: AsOneObject = False,
) -> None:
    """Remove documents from a corpus, at once. Citations of them keep their quotes.

    The exit code is 1 if a document does not exist.
    """
    if bool(document_ids) == (source is not None):
        raise typer.BadParameter("give either ids of documents, or --source")
    missing: list[str] = []
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        if source is not None:
            removed = _remove_source(database, corpus_name, source, is_confirmed=yes)
        else:
            client = connection.client_of(database, corpus_name)
            # All or none.
            with database.transaction():
                missing = [one for one in document_ids or [] if not client.remove_document(one)]
            removed = len(document_ids or []) - len(missing)
    if as_json:
        terminal.print_json({"corpus": corpus_name, "removed": removed, "missing": missing})
    else:
        from pgclarify.cli.rendering import counted, printable

        terminal.results().print(f"{counted(removed, 'document')} removed from {corpus_name}.")
        if missing:
            names = ", ".join(map(printable, missing))
            terminal.notices().print(f"Not in {corpus_name}: {names}", soft_wrap=True)
    if missing:
        raise typer.Exit(1)


@app.command(epilog=DROP_EXAMPLES)
def drop(corpus_name: _Corpus, yes: _Yes = False, as_json: AsOneObject = False) -> None:
    """Drop a corpus with its documents. Runs on it stay, with their quotes."""
    from pgclarify.cli.rendering import counted, printable

    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        client = connection.client_of(database)
        documents = client.corpus_status(corpus_name).documents
        many = counted(documents, "document")
        confirm(f"this would drop {printable(corpus_name)}, with {many}", is_confirmed=yes)
        client.drop_corpus(corpus_name)
    if as_json:
        terminal.print_json({"corpus": corpus_name, "dropped": True, "documents": documents})
    else:
        terminal.results().print(f"{printable(corpus_name)} was dropped, with {many}.")


@app.command("list", epilog=LIST_EXAMPLES)
def list_corpora(as_json: AsOneObject = False) -> None:
    """Show the corpora that you may search, and their state."""
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        rows = [asdict(corpus) for corpus in connection.client_of(database).corpora()]
    if as_json:
        terminal.print_json({"corpora": rows})
    elif rows:
        from pgclarify.cli import overview

        terminal.results().print(overview.corpora_table(rows))
    else:
        terminal.notices().print(
            "There is no corpus that you may search. Make one: pgclarify load NAME PATH. Or ask the owner of one for:"
            " pgclarify corpus grant ROLE --user NAME"
        )


@app.command(epilog=ALTER_EXAMPLES)
def alter(
    corpus_name: _Corpus,
    options: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", help="Options, as of SQL's alter_corpus.")],
) -> None:
    """Change options of a corpus."""
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        is_changed = connection.client_of(database).alter_corpus(corpus_name, **read_options(options))
    terminal.results().print(f"{corpus_name} was {'changed' if is_changed else 'so already'}.")


@app.command(epilog=ERASE_EXAMPLES)
def erase(
    corpus_name: _Corpus,
    document_id: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT_ID", help="The id that citations show; the document may have been removed before."
        ),
    ],
    yes: _Yes = False,
) -> None:
    """Remove a document and erase all text that comes from it: passages, quotes, readings, answers, replies.

    Ids, times and costs stay. Unfinished runs on the corpus start again. Backups and logs are not changed.
    """
    from pgclarify.language.foreign_text import sanitize

    named = f'document "{sanitize(document_id)}" of {sanitize(corpus_name)}'
    confirm(f"this would erase {named} for good, and every answer that rests on it alone", is_confirmed=yes)
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        is_erased = connection.client_of(database, corpus_name).erase_document(document_id)
    terminal.results().print(f"Erased {named}" if is_erased else f"There was nothing of {named}")


@app.command(epilog=DISTRIBUTE_EXAMPLES)
def distribute(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Name of a corpus that you own.")],
    shards: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Number of parts of each table.")] = 8,
    undo: Annotated[bool, typer.Option("--undo", metavar="", help="Bring the corpus back to this server.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask for confirmation.")] = False,
    as_json: AsOneObject = False,
) -> None:
    """Experimental: spread the passages and vectors of a corpus over the nodes of a Citus cluster.

    The command first says how much it would move. Questions and changes of the corpus wait while it is moved. If the
    command is interrupted or killed, nothing has changed. The server notices within ten seconds that it was killed.
    """
    from pgclarify.language.foreign_text import sanitize

    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        client = connection.client_of(database)
        plan = client.distribute(corpus, shards=0 if undo else shards, dry_run=True)
        moved = f"{plan['passages']:,} passages of {sanitize(corpus)}, {plan['bytes'] / 2**20:,.0f} MiB with indexes,"
        if not plan["is_moved"]:
            text = f"{moved} are {'on this server' if undo else 'distributed'} already"
        else:
            there = f"over {plan['nodes']} nodes in {plan['shards']} shards"
            needed = f"and nodes need hnsw.ef_search = {plan['ef_search']} or more"
            what = f"bring {moved} back to this server" if undo else f"spread {moved} {there}, {needed}"
            confirm(f"this would {what}", is_confirmed=yes)
            with database.transaction():
                plan = client.distribute(corpus, shards=0 if undo else shards)
            text = f"{moved} are {'back on this server' if undo else f'spread {there}'}"
    if as_json:
        terminal.print_json(plan)
    else:
        terminal.results().print(text)


def _remove_source(database: connection.Database, corpus_name: str, source: str, *, is_confirmed: bool) -> int:
    """Remove the documents of a folder, or of a file or pipe with several documents."""
    from pgclarify.cli.rendering import counted

    client = connection.client_of(database, corpus_name)
    client.corpus_status()
    found = [document for end in "/#" for document in client.loaded_from(source.rstrip("/#") + end)]
    if not found:
        raise NotFound(
            f"no document of {corpus_name} comes from that source",
            detail=f"It is {source!a}.",
            hint=f"See where documents come from: pgclarify corpus documents {corpus_name}",
        )
    confirm(f"this would remove {counted(len(found), 'document')} of {corpus_name}", is_confirmed=is_confirmed)
    return client.remove_loaded(found)


def _table(page: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Render a line for each document: its id, last change, whether it is searchable, and its source."""
    from rich.table import Table
    from rich.text import Text

    from pgclarify.cli.rendering import printable

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("id", overflow="fold")
    table.add_column("changed", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("comes from", overflow="fold")
    for document in page:
        failed, done = document["error"] is not None, document["indexed_at"] is not None
        table.add_row(
            Text(printable(str(document["document_id"]))),
            Text(f"{document['updated_at']:%Y-%m-%d %H:%M}"),
            Text("failed" if failed else "searchable" if done else "waiting", style="red" if failed else ""),
            Text(printable(_origin(document))),
        )
    return table


def _origin(document: Mapping[str, Any]) -> str:
    kind, origin = document["source"], document["origin"]
    if kind == "table":
        return f"table {origin}" if origin else "an attached table"
    return "a statement or a client" if kind == "statement" else str(origin)
