"""Commands about what is stored: load and status."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, terminal
from pgclarify.errors import EmbeddingError, InputError, NoWorker, UnreadableFile

if TYPE_CHECKING:
    from rich.progress import Progress

    from pgclarify.config import Settings
    from pgclarify.ingest.records import FieldMapping
    from pgclarify.model import Document

# A batch is one statement and one transaction: large enough to hide the round trip, small enough to be sent at once.
BATCH_DOCUMENTS = 500
BATCH_CHARS = 4_000_000
_POLL_SECONDS = 0.1
# A worker that is restarted in the meantime is waited for so long.
_WORKERLESS_SECONDS = 10.0

LOAD_EXAMPLES = terminal.examples(
    "pgclarify load insurance policies/ letters/*.html",
    "pgclarify load wiki pages.jsonl --id-field url --content-field text --title-field name",
)
STATUS_EXAMPLES = terminal.examples("pgclarify status", "pgclarify status --json | jq .corpora")


@dataclass(slots=True)
class LoadReport:
    """What became of the documents of one load.

    Attributes:
        changed: Documents that are new or have changed.
        unchanged: Documents that were there already, just so.
        problems: What could not be loaded, one sentence each, with its file and line.
        repeated: Documents whose id came before in the same load; the last one counts.
    """

    changed: int = 0
    unchanged: int = 0
    problems: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)


def load(
    corpus: Annotated[str, typer.Argument(help="Name of the corpus; it is created if it is missing.")],
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", exists=True, help="Files and folders: text, Markdown, HTML, JSON lines."),
    ],
    id_field: Annotated[str | None, typer.Option(help="JSON lines: the field of a document's id.")] = None,
    content_field: Annotated[str | None, typer.Option(help="JSON lines: the field of its text.")] = None,
    title_field: Annotated[str | None, typer.Option(help="JSON lines: the field of its title, if any.")] = None,
    uri_field: Annotated[str | None, typer.Option(help="JSON lines: the field of its address, if any.")] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return before all is searchable.")] = False,
) -> None:
    """Load documents into a corpus. Loading the same again changes nothing."""
    from pgclarify.cli import rendering
    from pgclarify.ingest.readers import SUPPORTED_SUFFIXES, read_documents

    settings = connection.load_settings()
    fields = _field_mapping(id=id_field, content=content_field, title=title_field, uri=uri_field)
    say = terminal.notices().print
    documents = read_documents(paths, fields=fields)
    first = next(documents, None)
    if first is None:
        kinds = ", ".join(sorted(SUPPORTED_SUFFIXES))
        raise InputError("there is nothing to load", hint=f"Name files or folders with any of {kinds}.")
    with connection.connect(connection.running_dsn(settings)) as database:
        if ensure_corpus(database, corpus, settings):
            say(f"corpus {corpus} created")
        with progress_bar() as progress:
            reading = progress.add_task("Reading", total=None)
            report = add_documents(
                database,
                corpus,
                chain([first], documents),
                lambda report: progress.update(reading, completed=report.changed + report.unchanged),
            )
            progress.remove_task(reading)
            if not no_wait:
                wait_until_searchable(database, corpus, progress)
        failed = [] if no_wait else connection.fetch(database, "cli_list_failed_documents", corpus=corpus)
    terminal.results().print(rendering.loaded(corpus, report.changed, report.unchanged, is_searchable=not no_wait))
    if report.repeated:
        say(rendering.repeated(report.repeated))
    if report.problems:
        say(rendering.unreadable(report.problems))
    if failed:
        say(rendering.not_indexed(failed))
    if report.problems or failed:
        raise typer.Exit(1)


def _field_mapping(**fields: str | None) -> FieldMapping:
    from pgclarify.ingest.records import FieldMapping

    return FieldMapping(**{part: (field,) for part, field in fields.items() if field is not None})


def add_documents(
    database: connection.Database,
    corpus: str,
    documents: Iterable[Document | UnreadableFile],
    on_batch: Callable[[LoadReport], object] = lambda report: None,
) -> LoadReport:
    """Add documents in batches, each committed by itself.

    Args:
        database: An autocommit connection.
        corpus: One that exists.
        documents: As the readers of files yield them.
        on_batch: Called with the report so far after every batch.
    """
    report = LoadReport()
    seen: set[str] = set()
    for batch in batches(documents, report):
        report.repeated.extend(document.document_id for document in batch if document.document_id in seen)
        seen.update(document.document_id for document in batch)
        _add_batch(database, corpus, batch, report)
        on_batch(report)
    return report


def batches(documents: Iterable[Document | UnreadableFile], report: LoadReport) -> Iterator[list[Document]]:
    """Put documents into batches, and into the report what is no document or comes twice."""
    batch: dict[str, Document] = {}
    chars = 0
    for document in documents:
        if isinstance(document, UnreadableFile):
            report.problems.append(f"{document.message}: {document.detail}")
            continue
        if document.document_id in batch:
            report.repeated.append(document.document_id)
        batch[document.document_id] = document
        chars += len(document.content)
        if len(batch) == BATCH_DOCUMENTS or chars >= BATCH_CHARS:
            yield [*batch.values()]
            batch, chars = {}, 0
    if batch:
        yield [*batch.values()]


def _add_batch(database: connection.Database, corpus: str, batch: Sequence[Document], report: LoadReport) -> None:
    import psycopg

    try:
        rows = connection.fetch(
            database,
            "cli_add_documents",
            corpus=corpus,
            document_ids=[document.document_id for document in batch],
            contents=[document.content for document in batch],
            titles=[document.title for document in batch],
            uris=[document.uri for document in batch],
            metadata=[json.dumps(dict(document.metadata)) for document in batch],
            readers=[None if document.readers is None else json.dumps(document.readers) for document in batch],
        )
    except (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.ProgramLimitExceeded) as error:
        # A document that PostgreSQL cannot hold must not keep its neighbors out: halve until it stands alone.
        if len(batch) == 1:
            report.problems.append(f"cannot store {batch[0].document_id}: {error.diag.message_primary or error}")
            return
        middle = len(batch) // 2
        _add_batch(database, corpus, batch[:middle], report)
        _add_batch(database, corpus, batch[middle:], report)
        return
    changed = sum(row["is_changed"] for row in rows)
    report.changed += changed
    report.unchanged += len(rows) - changed


def ensure_corpus(database: connection.Database, corpus: str, settings: Settings) -> bool:
    """Create a corpus if it is missing; whether it was."""
    if connection.fetch(database, "cli_get_corpus", corpus=corpus):
        return False
    connection.fetch(database, "cli_create_corpus", corpus=corpus, embedding_model=settings.embedding_model)
    return True


def progress_bar() -> Progress:
    """A bar on stderr; nothing at all where nobody looks."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = terminal.notices()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def wait_until_searchable(database: connection.Database, corpus: str, progress: Progress) -> None:
    """Wait until all that was added is searchable, or has turned out to be impossible to index.

    Raises:
        NoWorker: If no worker is there to do it.
        EmbeddingError: If none of them can load the corpus's model.
    """
    task = None
    total = 0
    last_worker = time.monotonic()
    while True:
        (state,) = connection.fetch(database, "cli_get_corpus", corpus=corpus)
        pending = int(state["pending"])
        if task is None and pending:
            task = progress.add_task("Indexing", total=pending)
        total = max(total, pending)
        if task is not None:
            progress.update(task, total=total, completed=total - pending)
        if pending == 0:
            return
        if state["error"]:
            raise EmbeddingError(
                f"no worker can load the embedding model of {corpus}",
                detail=state["error"],
                hint="What was added is stored. Make the model available to a worker, or load into another corpus.",
            )
        if connection.fetch(database, "cli_list_workers"):
            last_worker = time.monotonic()
        elif time.monotonic() - last_worker > _WORKERLESS_SECONDS:
            raise NoWorker(
                "no worker is running, so nothing is indexed",
                detail=f"What was added is stored, and {pending} documents of {corpus} wait for a worker.",
                hint="Start one with: pgclarify up --detach",
            )
        time.sleep(_POLL_SECONDS)


def status(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show the server, the workers, the queue and every corpus."""
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        (server,) = connection.fetch(database, "cli_get_server")
        workers = connection.fetch(database, "cli_list_workers")
        (queue,) = connection.fetch(database, "cli_get_queue")
        corpora = connection.fetch(database, "cli_list_corpora")
    if as_json:
        terminal.print_json({"server": server, "workers": workers, "queue": queue, "corpora": corpora})
        return
    from pgclarify.cli import rendering

    described = f"PostgreSQL {server['version']}, database {server['database']}"
    place = "from PGCLARIFY_DATABASE_URL" if settings.database_url else f"embedded, in {settings.data_dir}"
    terminal.results().print(rendering.status(described, place, workers, queue, corpora))
