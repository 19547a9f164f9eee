"""The command load."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, corpus, terminal
from pgclarify.cli.sources import Format, read
from pgclarify.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgclarify.cli.corpus import LoadReport
    from pgclarify.cli.rendering import Row
    from pgclarify.ingest.records import FieldMapping

LOAD_EXAMPLES = terminal.examples(
    "pgclarify load insurance policies/ letters/*.html",
    "pgclarify load insurance 'archive/**/*.pdf'",
    "pgclarify load wiki pages.jsonl --id-field url --content-field text --title-field name",
    "psql -Atc 'select row_to_json(faq) from faq' | pgclarify load faq - --format jsonl",
    "man psql | pgclarify load manuals - --id psql",
)


def load(
    corpus_name: Annotated[
        str, typer.Argument(metavar="CORPUS", help="Name of the corpus; it is created if it is missing.")
    ],
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Files, folders and patterns: text, Markdown, HTML, PDF, JSON lines. - is standard input.",
        ),
    ],
    id_field: Annotated[
        str | None, typer.Option(metavar="FIELD", help="JSON lines: the field of a document's id.")
    ] = None,
    content_field: Annotated[
        str | None, typer.Option(metavar="FIELD", help="JSON lines: the field of its text.")
    ] = None,
    title_field: Annotated[
        str | None, typer.Option(metavar="FIELD", help="JSON lines: the field of its title, if any.")
    ] = None,
    uri_field: Annotated[
        str | None, typer.Option(metavar="FIELD", help="JSON lines: the field of its address, if any.")
    ] = None,
    kind: Annotated[
        Format | None, typer.Option("--format", help="Standard input: what it holds; text if left out.")
    ] = None,
    document_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Standard input: the document's id.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TITLE", help="Standard input: the document's title.")
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", metavar="", help="Return before all is searchable.")] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="One JSON object that sums it up.")] = False,
) -> None:
    """Load documents into a corpus. Loading the same again changes nothing.

    What cannot be read or stored is named, one line each, and the rest is loaded; the exit code is 1 then.
    """
    from pgclarify.ingest.readers import SUPPORTED_SUFFIXES

    settings = connection.load_settings()
    fields = _field_mapping(id=id_field, content=content_field, title=title_field, uri=uri_field)
    documents = read(paths, fields=fields, kind=kind, document_id=document_id, title=title)
    first = next(documents, None)
    if first is None:
        kinds = ", ".join(sorted(SUPPORTED_SUFFIXES))
        raise InputError("there is nothing to load", hint=f"Name files or folders with any of {kinds}.")
    with connection.connect(connection.running_dsn(settings)) as database:
        is_new = corpus.ensure_corpus(database, corpus_name, settings)
        if is_new:
            terminal.notices().print(f"corpus {corpus_name} created")
        with corpus.progress_bar() as progress:
            reading = progress.add_task("Reading", total=None)
            report = corpus.add_documents(
                database,
                corpus_name,
                chain([first], documents),
                lambda report: progress.update(reading, completed=report.changed + report.unchanged),
            )
            progress.remove_task(reading)
            if not no_wait:
                corpus.wait_until_searchable(database, corpus_name, progress)
        failed = [] if no_wait else connection.fetch(database, "cli_list_failed_documents", corpus=corpus_name)
    if as_json:
        terminal.print_json(summary(corpus_name, report, failed, is_new=is_new, is_searchable=not no_wait))
    else:
        _say(corpus_name, report, failed, is_searchable=not no_wait)
    if report.problems or failed:
        raise typer.Exit(1)


def summary(
    corpus_name: str, report: LoadReport, failed: Sequence[Row], *, is_new: bool, is_searchable: bool
) -> dict[str, object]:
    """What `--json` prints.

    Args:
        corpus_name: The corpus.
        report: What became of the documents.
        failed: Rows of documents that are stored but cannot be indexed.
        is_new: Whether the corpus was made.
        is_searchable: Whether all but the failed ones can be searched.
    """
    return {
        "corpus": corpus_name,
        "created": is_new,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "searchable": is_searchable,
        "problems": report.problems,
        "repeated": report.repeated,
        "failed": failed,
    }


def _say(corpus_name: str, report: LoadReport, failed: Sequence[Row], *, is_searchable: bool) -> None:
    from pgclarify.cli import rendering

    say = terminal.notices().print
    terminal.results().print(
        rendering.loaded(corpus_name, report.changed, report.unchanged, is_searchable=is_searchable)
    )
    if report.repeated:
        say(rendering.repeated(report.repeated))
    # Soft: a line of a log is searched for, and a path in it copied.
    if report.problems:
        say(rendering.unreadable(report.problems), soft_wrap=True)
    if failed:
        say(rendering.not_indexed(failed), soft_wrap=True)


def _field_mapping(**fields: str | None) -> FieldMapping:
    from pgclarify.ingest.records import FieldMapping

    return FieldMapping(**{part: (field,) for part, field in fields.items() if field is not None})
