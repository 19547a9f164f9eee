"""Adds documents to a corpus in batches, and waits until they are searchable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.markup import escape
from rich.progress import Progress

from pgclarify.cli.client import CommandClient
from pgclarify.cli.planning import exists
from pgclarify.cli.rendering import Row, printable
from pgclarify.client.documents import batches, checked
from pgclarify.client.records import CorpusStatus
from pgclarify.config import Settings
from pgclarify.data.vocabulary import Document
from pgclarify.errors import InputError, UnreadableFile


@dataclass(slots=True)
class LoadReport:
    """The result of a load.

    Attributes:
        changed: How many documents are new or have changed.
        unchanged: How many documents were there already, unchanged.
        problems: What could not be loaded, such as "cannot read line 3 of faq.jsonl", by the reason.
        skipped: How many things were skipped, by kind.
        not_read: For each document, what its file has and it does not: each kind with its number.
        is_new: Whether the corpus was created.
    """

    changed: int = 0
    unchanged: int = 0
    problems: dict[str, list[str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    not_read: dict[str, Mapping[str, int]] = field(default_factory=dict)
    is_new: bool = False

    @property
    def stored(self) -> int:
        """How many documents of this load are in the corpus."""
        return self.changed + self.unchanged


def add_documents(
    client: CommandClient,
    documents: Iterable[Document | UnreadableFile],
    settings: Settings,
) -> LoadReport:
    """Add documents in batches, each committed by itself. A missing corpus is created with the first.

    Args:
        client: A client of the corpus.
        documents: Documents and errors, as the parsers of files yield them.
        settings: Has the embedding model of a new corpus.

    Raises:
        AlreadyExists: If an id belongs to a document of another source; then its batch changes nothing.
    """
    report = LoadReport()
    for batch in batches(storable(documents, report)):
        if report.stored or exists(client):
            loaded = client.load(batch)
        else:
            with client.transaction():
                client.create_corpus(str(client.corpus), embedding_model=settings.embedding_model)
                loaded = client.load(batch)
            report.is_new = True
        report.changed += loaded["changed"]
        report.unchanged += loaded["unchanged"]
    return report


def storable(documents: Iterable[Document | UnreadableFile], report: LoadReport) -> Iterator[Document]:
    """Yield the documents that can be stored; put the others and errors into the report."""
    for document in documents:
        try:
            if isinstance(document, UnreadableFile):
                raise document
            yield checked(document)
        except InputError as error:
            reason = " ".join(filter(None, (error.detail, error.hint)))
            report.problems.setdefault(reason, []).append(error.message)


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
