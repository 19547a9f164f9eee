"""Adds documents to a corpus in batches, and waits until they are searchable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import psycopg
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pgclarify.cli import connection, terminal
from pgclarify.cli.client import CommandClient
from pgclarify.cli.planning import exists
from pgclarify.cli.rendering import Row, printable
from pgclarify.client.records import CorpusStatus
from pgclarify.config import Settings
from pgclarify.data.vocabulary import Document
from pgclarify.errors import AlreadyExists, DatabaseError, InputError, MissingReader, NotFound, UnreadableFile

# A batch is one statement and one transaction: large enough to hide the round trip, small enough to send at once.
BATCH_DOCUMENTS = 500
BATCH_CHARS = 4_000_000
_ID_CHARS_SHOWN = 200
# The class of SQLSTATEs of integrity constraints.
_VIOLATION = "23"


@dataclass(slots=True)
class LoadReport:
    """The result of a load.

    Attributes:
        changed: How many documents are new or have changed.
        unchanged: How many documents were there already, unchanged.
        problems: What could not be loaded, one sentence each, with its file and line.
        repeated: Ids that occur more than once in the load; the last document counts.
        unread: Files whose parser is not installed, by the reason, which says what to install.
        skipped: How many things were skipped, by kind.
        is_new: Whether the corpus was created.
    """

    changed: int = 0
    unchanged: int = 0
    problems: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    unread: dict[str, list[str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    is_new: bool = False

    @property
    def stored(self) -> int:
        """How many documents of this load are in the corpus."""
        return self.changed + self.unchanged


def add_documents(
    database: connection.Database,
    corpus: str,
    documents: Iterable[Document | UnreadableFile],
    settings: Settings,
    on_batch: Callable[[LoadReport], object] = lambda report: None,
) -> LoadReport:
    """Add documents in batches, each committed by itself. A missing corpus is created with the first.

    Args:
        database: An autocommit connection.
        corpus: Its name.
        documents: Documents and errors, as the parsers of files yield them.
        settings: Has the embedding model of a new corpus.
        on_batch: Called after every batch with the report so far.

    Raises:
        AlreadyExists: If an id belongs to a document of another source; then its batch changes nothing.
    """
    report = LoadReport()
    client = connection.client_of(database, corpus)
    for batch in batches(documents, report):
        if report.stored or exists(client):
            _add_batch(database, client, batch, report)
        else:
            with database.transaction():
                client.create_corpus(corpus, embedding_model=settings.embedding_model)
                _add_batch(database, client, batch, report)
                report.is_new = report.stored > 0
                if not report.is_new:
                    raise psycopg.Rollback
        on_batch(report)
    return report


def batches(documents: Iterable[Document | UnreadableFile], report: LoadReport) -> Iterator[list[Document]]:
    """Collect documents in batches; put errors and repeated documents into the report."""
    batch: dict[str, Document] = {}
    # Hashes, because the keys of millions of rows would need much more memory.
    seen: set[int] = set()
    chars = 0
    for document in documents:
        if isinstance(document, MissingReader):
            report.unread.setdefault(f"{document.detail} {document.hint}", []).append(document.message)
            continue
        if isinstance(document, UnreadableFile):
            reason = " ".join(part for part in (document.detail, document.hint) if part)
            report.problems.append(f"{document.message}: {reason}")
            continue
        # Its file is its identity within a load, because its final id may differ from the proposed one.
        key = document.origin or document.document_id
        if hash(key) in seen:
            report.repeated.append(document.document_id)
        seen.add(hash(key))
        batch[key] = document
        chars += len(document.content)
        if len(batch) == BATCH_DOCUMENTS or chars >= BATCH_CHARS:
            yield [*batch.values()]
            batch, chars = {}, 0
    if batch:
        yield [*batch.values()]


def _add_batch(
    database: connection.Database, client: CommandClient, batch: Sequence[Document], report: LoadReport
) -> None:
    try:
        # A savepoint, if the corpus is created in the same transaction.
        with database.transaction():
            changed = client.add_documents(batch)
    except (AlreadyExists, NotFound):
        # Another source took an id after the check, or the corpus was dropped. A smaller batch would fail, too.
        raise
    except (InputError, DatabaseError) as error:
        if not isinstance(error, InputError) and not error.sqlstate.startswith(_VIOLATION):
            raise
        # One document that PostgreSQL cannot store must not block the others: halve the batch until it is alone.
        if len(batch) == 1:
            reason = ": ".join(filter(None, (error.message, error.detail)))
            report.problems.append(f"cannot store {batch[0].document_id[:_ID_CHARS_SHOWN]}: {reason}")
            return
        middle = len(batch) // 2
        _add_batch(database, client, batch[:middle], report)
        _add_batch(database, client, batch[middle:], report)
        return
    report.changed += changed
    report.unchanged += len(batch) - changed


def progress_bar() -> Progress:
    """Make a bar on stderr; nothing if it is not a terminal."""
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


def wait_until_searchable(client: CommandClient, progress: Progress) -> Sequence[Row]:
    """Wait until everything that was added is searchable, or has failed to be indexed.

    Args:
        client: A client of the corpus.
        progress: Shows how many passages are indexed, and why the others wait.

    Returns:
        Documents of the corpus that could not be indexed, with the reason; at most 100.

    Raises:
        NoWorker: If no worker is running.
        EmbeddingError: If nothing was indexed for a minute, and the state of the corpus has an error.
    """
    task = progress.add_task("", total=None)
    total = done = 0

    def show(state: CorpusStatus) -> None:
        nonlocal total, done
        # An estimate until each document is cut; it must not decrease.
        done = max(done, total - (state.pending_passages or 0))
        total = max(total, done + (state.pending_passages or 0))
        error = state.error if state.pending and not state.next_embedding_model else None
        reason = f" ({escape(printable(error))})" if error else ""
        progress.update(task, total=total, completed=done, description=f"Indexing passages{reason}")

    if not client.wait_until_searchable(on_progress=show).failed:
        return []
    return client.rows("client_list_documents", corpus=client.corpus, has_failed=True, most=100)
