"""The command load."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgclarify.cli import adding, connection, planning, progress, rendering, terminal
from pgclarify.cli.adding import LoadReport
from pgclarify.cli.confirming import confirm
from pgclarify.cli.planning import Plan
from pgclarify.cli.rendering import printable
from pgclarify.data.counting import counted
from pgclarify.declared.documents import FIELDS
from pgclarify.errors import InputError

if TYPE_CHECKING:
    from pgclarify.ingest.addresses import Location

LOAD_EXAMPLES = terminal.examples(
    "pgclarify load insurance policies/ letters/*.html",
    "pgclarify load faq faq.csv --field id=number --field content=answer --field title=question",
    "pgclarify load handbook . --as handbook --mirror --yes",
    "pgclarify load rules ~/rules --base-url https://intranet.example.org/rules",
    "pgclarify load contracts s3://bucket/contracts https://example.org/terms.pdf",
)


def _location(text: str) -> Location:
    from pgclarify.ingest.addresses import location

    try:
        return location(text)
    except OSError as error:
        raise typer.BadParameter(f"Path {text!r} does not exist.") from error


def load(
    corpus_name: Annotated[
        str, typer.Argument(metavar="CORPUS", help="Name of the corpus; it is created if it is missing.")
    ],
    paths: Annotated[
        # What _location returns; typer cannot read that type.
        list[Any],
        typer.Argument(metavar="PATH", parser=_location, help="Files and folders, or addresses of them."),
    ],
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="PART=FIELD",
            help=f"The field or column with a part of each document, if it has another name: id, content,"
            f" {', '.join(field.name for field in FIELDS)}.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Name of this source, used instead of its machine and folder. It replaces what was loaded under the"
            " same name, also from another place.",
        ),
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="Prefix of the id of each new document.")] = "",
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Address where people find these folders: a citation of fees/boats.pdf links to URL/fees/boats.pdf.",
        ),
    ] = None,
    mirror: Annotated[
        bool,
        typer.Option(
            "--mirror",
            metavar="",
            help="Remove documents that these folders, JSON lines or tables no longer have; asks first.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="With --mirror: do not ask.")] = False,
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links",
            metavar="",
            help="Also read files in other places that links in the folders lead to; only if you trust all who can"
            " write there.",
        ),
    ] = False,
    ocr: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="Also read pictures and scanned pages, by Tesseract: eng, deu, or several as eng+deu. Its text may be"
            " wrong, so citations say that it was read so.",
        ),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", metavar="", help="Return before everything is searchable.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="One JSON object with a summary.")] = False,
) -> None:
    """Load documents into a corpus. Loading the same again changes nothing.

    One document per file: .txt .rst .md .mdx .adoc .html .pdf .docx .odt .rtf
      .xml and .dbk of DocBook .doc .epub .pptx .ppt .odp .xlsx .xls .ods .eml .msg
    One document per member or attachment, too: .zip .tar .eml .msg
    One document per line: .jsonl .ndjson
    One document per row: .csv .tsv; without a column id, one for the table
    The last two may be gzipped (.gz). Text is UTF-8, has a byte order mark,
    declares its encoding, or has one that can be guessed.

    A row of a table reads as "Vehicle: E-bike; Day: 42.5 €", with all columns. If
    --field content=COLUMN chooses one, the others become metadata. What a file
    has and the text does not, such as pictures, is counted, and listed at the end.

    The id of a document is the path of its file below the given folder, or the
    name of a file that is given by itself. Lines and rows have their own ids. A
    file that was loaded before keeps its id, whichever folder above it you give.
    If a document loaded from another source has the same id, nothing is loaded:
    --prefix keeps both documents, --as names the source. If two files of this load
    have one, that of the first is loaded.

    If something cannot be read or stored, the command names it, loads the rest
    and exits with 1. What was stored of it before stays, also with --mirror. In a
    folder, files of unknown kinds are only counted, and hidden files are left
    out. A link to a file that is not in the folder is counted and left out,
    unless you say --follow-links. A link to a folder is not followed.

    An address is one that fsspec opens: s3://, gs://, abfs://, https://, sftp://, …
    A page of the web is one file. zip://FOLDER::ARCHIVE reads members of an archive.
    Passwords and keys come from the variables of each service.
    """
    from pgclarify.ingest.files import SUPPORTED_SUFFIXES, find_names, read_documents
    from pgclarify.ingest.naming import Naming
    from pgclarify.ingest.records import FieldMapping
    from pgclarify.ingest.scans import Ocr

    if "://" in corpus_name or (os.sep in corpus_name and Path(corpus_name).expanduser().exists()):
        raise typer.BadParameter("It is a path. The name of the corpus comes before the paths.", param_hint="CORPUS")
    settings = connection.load_settings()
    fields, naming = FieldMapping.parse(field or []), Naming(source, prefix, base_url)
    reading = None if ocr is None else Ocr.of(ocr)
    whole = planning.origin_prefixes(paths, naming) if mirror else []
    report = LoadReport()
    ended: BaseException | None = None
    documents = read_documents(
        paths,
        fields=fields,
        naming=naming,
        on_skip=lambda kind: report.skipped.update([kind]),
        on_unread=report.not_read.__setitem__,
        ocr=reading,
        follows_links=follow_links,
    )
    with progress.waiting("Reading documents"):
        first = next(documents, None)
    if first is None:
        raise InputError(
            "there is nothing to load",
            detail=f"{rendering.skipped(report.skipped).plain}." if report.skipped else None,
            hint=f"Name files or folders with any of {', '.join(sorted(SUPPORTED_SUFFIXES))}.",
        )
    with connection.connect(connection.running_dsn(settings)) as database:
        client = connection.client_of(database, corpus_name)
        names = find_names(paths, fields=fields, naming=naming, ocr=reading, follows_links=follow_links)
        with progress.waiting("Looking for what was loaded before"):
            plan = planning.check(client, names)
            gone = planning.gone(client, whole, plan)
        if gone:
            _confirm_removal(corpus_name, gone, is_confirmed=yes)
        with progress.bars() as bars:
            task = bars.add_task("Reading documents", total=None)
            found = bars.track(chain([first], documents), task_id=task)
            try:
                adding.add_documents(client, found, settings, plan, report)
                bars.remove_task(task)
                report.removed = planning.remove(client, gone)
                if report.is_new:
                    terminal.notices().print(f"corpus {corpus_name} created")
                if report.stored and not no_wait:
                    report.failed = adding.wait_until_searchable(client, bars)
                report.is_searchable = not no_wait
            except (Exception, KeyboardInterrupt) as error:
                # What was stored before it stays, so that is said, too.
                ended = error
    if as_json:
        terminal.print_json(_summary(corpus_name, report, plan))
    else:
        _say(corpus_name, report)
        _say_names(plan, report, has_prefix=bool(prefix))
    if ended is not None:
        raise ended
    if report.problems or report.failed:
        raise typer.Exit(1)


def _summary(corpus_name: str, report: LoadReport, plan: Plan) -> dict[str, object]:
    """Return what `--json` prints."""
    return {
        "corpus": corpus_name,
        "created": report.is_new,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "kept": plan.kept,
        "searchable": report.is_searchable,
        "problems": report.problems,
        "skipped": report.skipped,
        "not_read": report.not_read,
        "repeated": plan.repeated,
        "failed": report.failed,
    }


def _say(corpus_name: str, report: LoadReport) -> None:
    from pgclarify.ingest.scans import IMAGES

    say = terminal.notices().print
    terminal.results().print(
        rendering.loaded(
            corpus_name,
            report.changed,
            report.unchanged,
            is_searchable=report.is_searchable,
            is_new=report.is_new,
            skipped=report.skipped,
        )
    )
    if report.failed:
        head = f"{counted(len(report.failed), 'document')} could not be indexed:"
        told = [f"{one['document_id']}: {one['error']}" for one in report.failed]
        say(rendering.listed(head, told), soft_wrap=True)
    if report.skipped:
        say(rendering.skipped(report.skipped, IMAGES), soft_wrap=True)
    if report.not_read:
        for line in rendering.not_read(report.not_read):
            say(line, soft_wrap=True)
        say(rendering.not_read_table(report.not_read))
    # Last, because it should be fixed first; and not wrapped, so that log lines can be searched and paths copied.
    for text in rendering.problems(report.problems):
        say(text, soft_wrap=True)


def _confirm_removal(corpus_name: str, gone: Sequence[tuple[str, str]], *, is_confirmed: bool) -> None:
    """Show the documents to remove, and ask.

    Raises:
        InputError: If there is no terminal, and --yes was not given.
    """
    lines = [f"gone: {printable(document_id)}  ({printable(origin)})" for document_id, origin in gone]
    for line in rendering.beginning(lines):
        terminal.notices().print(line, soft_wrap=True)
    confirm(
        f"this would remove {counted(len(gone), 'document')} of {printable(corpus_name)}", is_confirmed=is_confirmed
    )


def _say_names(plan: Plan, report: LoadReport, *, has_prefix: bool) -> None:
    say = terminal.notices().print
    if plan.repeated:
        examples = ", ".join([*plan.repeated[:3], *(["..."] if len(plan.repeated) > 3 else [])])
        documents = counted(len(plan.repeated), "document")
        say(
            printable(f"{documents} had an id that came before, and replaced the earlier one: {examples}"),
            style="yellow",
        )
    if report.removed:
        say(f"{counted(report.removed, 'document')} removed, which the source has no more.")
    if plan.kept:
        many = counted(plan.kept, "document")
        say(f"{many} kept as before, because the source of each cannot be read.", style="yellow")
    if plan.renamed and has_prefix:
        say(f"{counted(plan.renamed, 'file')} had been loaded before, and kept the id that it had then.")
