"""Adds documents to a corpus in batches, and waits until they are searchable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.markup import escape
from rich.progress import Progress

from pgclarify.cli.client import CommandClient
from pgclarify.cli.planning import Plan, exists
from pgclarify.cli.rendering import Row, printable
from pgclarify.client.records import CorpusStatus
from pgclarify.client.storing import batches, checked, told
from pgclarify.config import Settings
from pgclarify.data.vocabulary import Document
from pgclarify.errors import DatabaseError, InputError, UnreadableFile


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
        removed: How many documents were removed, because their sources have them no more.
        failed: Documents of the corpus that could not be indexed, with the reason.
        is_searchable: Whether the load has waited until everything was searchable.
    """

    changed: int = 0
    unchanged: int = 0
    problems: dict[str, list[str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    not_read: dict[str, Mapping[str, int]] = field(default_factory=dict)
    is_new: bool = False
    removed: int = 0
    failed: Sequence[Row] = ()
    is_searchable: bool = False

    @property
    def stored(self) -> int:
        """How many documents of this load are in the corpus."""
        return self.changed + self.unchanged

    def refuse(self, message: str, detail: str | None, hint: str | None) -> None:
        """Note what could not be loaded, and why."""
        self.problems.setdefault(" ".join(filter(None, (detail, hint))), []).append(message)


def add_documents(
    client: CommandClient,
    documents: Iterable[Document | UnreadableFile],
    settings: Settings,
    plan: Plan,
    report: LoadReport,
) -> None:
    """Add documents in batches, each committed by itself. A missing corpus is created with the first.

    Args:
        client: A client of the corpus.
        documents: Documents and errors, as the parsers of files yield them.
        settings: Has the embedding model of a new corpus.
        plan: Has documents that must not be stored.
        report: Gets what is stored, batch by batch, and each document that cannot be stored. Those do not stop others.

    Raises:
        AlreadyExists: If an id belongs to a document of another source; then its batch changes nothing.
    """
    for batch in batches(storable(documents, plan, report)):
        _store(client, batch, settings, report)


def storable(documents: Iterable[Document | UnreadableFile], plan: Plan, report: LoadReport) -> Iterator[Document]:
    """Yield the documents that can be stored; put the others and errors into the report."""
    for document in documents:
        try:
            if isinstance(document, UnreadableFile):
                raise document
            if reason := plan.refused.get(document.origin or ""):
                detail, hint = reason
                raise InputError(f"{told(document)} cannot be stored", detail=detail, hint=hint)
            yield checked(document)
        except InputError as error:
            report.refuse(error.message, error.detail, error.hint)


def _store(client: CommandClient, batch: Sequence[Document], settings: Settings, report: LoadReport) -> None:
    """Store a batch. If the server refuses it, store its halves, and so on, to find the documents that it refuses."""
    try:
        if report.stored or exists(client):
            loaded = client.load(batch)
        else:
            with client.transaction():
                client.create_corpus(str(client.corpus), embedding_model=settings.embedding_model)
                loaded = client.load(batch)
            report.is_new = True
    except (InputError, DatabaseError) as error:
        if not error.is_about_data:
            raise
        if len(batch) == 1:
            reason = f"{error.message}: {error.detail}" if error.detail else f"{error.message}."
            report.refuse(f"{told(batch[0])} cannot be stored", f"The server says: {reason}", error.hint)
            return
        half = len(batch) // 2
        for part in (batch[:half], batch[half:]):
            _store(client, part, settings, report)
        return
    report.changed += loaded["changed"]
    report.unchanged += loaded["unchanged"]


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
