"""The commands documents, remove, drop and corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, planning, terminal
from pgclarify.cli.confirming import confirm
from pgclarify.cli.options import AsOneObject
from pgclarify.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgclarify.cli.rendering import Row

DOCUMENTS_EXAMPLES = terminal.examples(
    "pgclarify documents handbook",
    "pgclarify documents handbook --limit 1000 --json | jq -r '.documents[].document_id'",
)
REMOVE_EXAMPLES = terminal.examples(
    "pgclarify remove handbook leave.md travel/hotels.md",
    "pgclarify remove handbook --source old-laptop:/home/ann/handbook",
)
DROP_EXAMPLES = terminal.examples("pgclarify drop handbook", "pgclarify drop handbook --yes")
CORPORA_EXAMPLES = terminal.examples("pgclarify corpora", "pgclarify corpora --json | jq '.corpora[].corpus'")

_Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="Name of the corpus.")]
_Yes = Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask.")]


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
        _find(database, corpus_name)
        rows = connection.fetch(database, "cli_list_documents", corpus=corpus_name, after=after, most=limit + 1)
        # The names of tables are read only if a document of the page is a row of one.
        is_attached = any(row["source_id"] is not None for row in rows)
        sources = connection.fetch(database, "cli_list_sources") if is_attached else []
    relations = {source["source_id"]: source["relation"] for source in sources}
    page = [_described(row, relations) for row in rows[:limit]]
    is_last = len(rows) <= limit
    if as_json:
        last = None if is_last else page[-1]["document_id"]
        terminal.print_json({"corpus": corpus_name, "documents": page, "next_after": last})
        return
    from pgclarify.cli import corpus_rendering

    if not page:
        terminal.notices().print(f"{corpus_name} has no document{'' if after is None else ' after that'} to show.")
        return
    terminal.results().print(corpus_rendering.documents(page))
    if not is_last:
        terminal.notices().print(corpus_rendering.next_page(corpus_name, str(page[-1]["document_id"])), soft_wrap=True)


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
            rows = connection.fetch(database, "cli_remove_documents", corpus=corpus_name, document_ids=document_ids)
            missing = [row["document_id"] for row in rows if not row["is_removed"]]
            removed = len(rows) - len(missing)
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


def drop(corpus_name: _Corpus, yes: _Yes = False, as_json: AsOneObject = False) -> None:
    """Drop a corpus with its documents. Runs on it stay, with their quotes."""
    from pgclarify.cli.rendering import counted, printable

    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        found = _find(database, corpus_name)
        many = counted(found["documents"], "document")
        confirm(f"this would drop {printable(corpus_name)}, with {many}", is_confirmed=yes)
        connection.fetch(database, "client_drop_corpus", name=corpus_name)
    if as_json:
        terminal.print_json({"corpus": corpus_name, "dropped": True, "documents": found["documents"]})
    else:
        terminal.results().print(f"{printable(corpus_name)} was dropped, with {many}.")


def corpora(as_json: AsOneObject = False) -> None:
    """Show the corpora that you may search, and their state."""
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        rows = connection.fetch(database, "client_list_corpora")
    if as_json:
        terminal.print_json({"corpora": rows})
    elif rows:
        from pgclarify.cli import overview

        terminal.results().print(overview.corpora_table(rows))
    else:
        terminal.notices().print(
            "There is no corpus that you may search. Make one: pgclarify load NAME PATH. Or ask the owner of one for:"
            " pgclarify grant ROLE --user NAME"
        )


def _find(database: connection.Database, corpus_name: str) -> Row:
    """Return the counters of a corpus.

    Raises:
        NotFound: If there is no corpus of that name.
    """
    rows = connection.fetch(database, "client_corpus_status", corpus=corpus_name)
    if not rows:
        raise NotFound(
            f'corpus "{corpus_name}" does not exist', hint="List the corpora that you may search: pgclarify corpora"
        )
    return rows[0]


def _described(row: Row, relations: Mapping[int, str]) -> dict[str, object]:
    """Return a document, with its source as one word: file, table, statement, or unknown."""
    source_id = row["source_id"]
    kind = "table" if source_id is not None else {None: "unknown", "": "statement"}.get(row["origin"], "file")
    described = {name: value for name, value in row.items() if name not in ("source_id", "origin")}
    return {
        **described,
        "source": kind,
        "origin": relations.get(source_id) if kind == "table" else row["origin"] or None,
    }


def _remove_source(database: connection.Database, corpus_name: str, source: str, *, is_confirmed: bool) -> int:
    """Remove the documents of a folder, or of a file or pipe with several documents."""
    from pgclarify.cli.rendering import counted

    _find(database, corpus_name)
    found: Sequence[tuple[str, str]] = [
        (row["document_id"], row["origin"])
        for end in "/#"
        for row in planning.loaded_from(database, corpus_name, source.rstrip("/#") + end)
    ]
    if not found:
        raise NotFound(
            f"no document of {corpus_name} comes from that source",
            detail=f"It is {source!a}.",
            hint=f"See where documents come from: pgclarify documents {corpus_name}",
        )
    confirm(f"this would remove {counted(len(found), 'document')} of {corpus_name}", is_confirmed=is_confirmed)
    return planning.remove(database, corpus_name, found)
