"""What an installation has and does: workers, the queue, documents, tables, runs, and what is wrong with them.

Records, and the scripts that read them. The docstrings of the scripts are those of the methods of CommandClient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pgclarify.client.records import read_stop_code, record
from pgclarify.client.scripts import Script, Session, Statement, only_value
from pgclarify.data.vocabulary import RunStatus, StopCode


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or needs attention.

    Attributes:
        level: problem (something does not work), warning (it works, but not as well as it could) or note.
        kind: What it is about: queue, runs, corpora, documents, graph, tables, costs or budgets; for members of
            pgclarify_owner also identities and nodes.
        name: Name of the thing; None for the queue.
        finding: What is wrong.
        count: How many runs, documents or passages; None for a single thing.
        remedy: What to do; None for a note.
    """

    level: str
    kind: str
    name: str | None
    finding: str
    count: int | None
    remedy: str | None


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker that is alive.

    Attributes:
        worker_id: Its number.
        host: Machine it runs on.
        version: Its version of pgclarify.
        provider: openai or extractive.
        model: Model that judges passages.
        embedding_models: Embedding models it has loaded.
        started_at: When it started.
    """

    worker_id: int
    host: str
    version: str
    provider: str
    model: str
    embedding_models: tuple[str, ...]
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Queue:
    """How much is waiting.

    Attributes:
        queued: Runs that no worker has started, of all roles.
        running: Runs that workers are executing, of all roles.
        oldest_queued_at: When the oldest queued run was asked; None if none is queued.
        pending_documents: Documents of your corpora that are not searchable yet.
        pending_passages: About how many passages of them wait to be embedded.
    """

    queued: int
    running: int
    oldest_queued_at: datetime | None
    pending_documents: int
    pending_passages: int


@dataclass(frozen=True, slots=True)
class AttachedTable:
    """A table that a corpus follows.

    Attributes:
        corpus: Name of the corpus.
        relation: The table.
        state: loading, following, failed, detached or removing.
        error: Why it failed, or which rows cannot be documents; None if there is no problem.
        pending_changes: Changes that no worker has taken, counted up to 10,000.
        loaded_at: When a load or resync last ended; None before.
        attached_by: Role that attached it.
    """

    corpus: str
    relation: str
    state: str
    error: str | None
    pending_changes: int
    loaded_at: datetime | None
    attached_by: str


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of a corpus.

    Attributes:
        document_id: By your own id.
        title: Its title; None if it has none.
        uri: Its address, for people; None if it has none.
        source: file, table, statement (a statement or a client added it) or unknown.
        origin: The file or the table; None for other sources.
        created_at: When it was added.
        updated_at: When it last changed.
        indexed_at: When its content became searchable; None if it is not.
        error: Why it cannot be indexed; None if nothing is wrong.
    """

    document_id: str
    title: str | None
    uri: str | None
    source: str
    origin: str | None
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Run:
    """A run, over or not.

    Attributes:
        run_id: The run.
        operation: Its operation.
        corpus: Its corpus; None without one.
        question: Its question.
        status: Its state.
        requested_by: Role that asked.
        created_at: When it was asked.
        finished_at: When it ended; None if it is not over.
        seconds: How long it took, or has taken until now.
        interpretations: How many readings it found; None for operations without readings.
        candidates: How many passages it retrieved.
        judged: How many of them were judged.
        failed: How many of them could not be judged.
        completions: Calls of the model that it paid for.
        reused_completions: Calls whose replies were paid for already.
        cost_usd: What it cost, in US dollars; None if that is unknown, or it is not over.
        model: The model that it called; None if it called none.
        reason: Why it failed or is partial; None for other runs.
        stop_code: As in RunOutcome.
        stop_reason: As in RunOutcome.
        meaning: What the stop code means, in words; None without one.
        help: What helps then; None without a stop code.
    """

    run_id: int
    operation: str
    corpus: str | None
    question: str
    status: RunStatus
    requested_by: str
    created_at: datetime
    finished_at: datetime | None
    seconds: float
    interpretations: int | None
    candidates: int
    judged: int
    failed: int
    completions: int
    reused_completions: int
    cost_usd: Decimal | None
    model: str | None
    reason: str | None
    stop_code: StopCode | None
    stop_reason: str | None
    meaning: str | None
    help: str | None


def findings(session: Session, /) -> Script[list[Finding]]:
    """List what is wrong in the installation, and what to do; nothing if all is well."""
    rows = yield Statement("client_list_findings")
    return [record(Finding, row) for row in rows]


def workers(session: Session, /) -> Script[list[Worker]]:
    """List the workers that serve the queue now."""
    rows = yield Statement("client_list_workers")
    return [record(Worker, row, embedding_models=tuple(row["embedding_models"])) for row in rows]


def queue(session: Session, /) -> Script[Queue]:
    """Tell how much is waiting."""
    (row,) = yield Statement("client_get_queue")
    return record(Queue, row)


def attached_tables(session: Session, /) -> Script[list[AttachedTable]]:
    """List the tables that are attached to your corpora, and how far they are loaded."""
    rows = yield Statement("client_list_attached_tables")
    return [record(AttachedTable, row) for row in rows]


def documents(
    session: Session,
    /,
    corpus: str | None = None,
    *,
    after: str | None = None,
    limit: int = 100,
    has_failed: bool = False,
) -> Script[list[StoredDocument]]:
    """List documents of a corpus that you may read, by id.

    Args:
        corpus: Its name; None means the client's. The server has no default here.
        after: Start after the document with this id.
        limit: How many at most.
        has_failed: Only those that cannot be indexed.
    """
    rows = yield Statement(
        "client_list_documents",
        {"corpus": corpus or session.corpus, "after": after, "most": limit, "has_failed": has_failed},
    )
    return [record(StoredDocument, row) for row in rows]


def runs(session: Session, /, run_ids: Sequence[int] | None = None, *, limit: int = 20) -> Script[list[Run]]:
    """List runs that you may see, newest first, with why they failed or found nothing.

    Args:
        run_ids: These runs; None means the latest ones.
        limit: How many at most.
    """
    rows = yield Statement("client_list_runs", {"run_ids": None if run_ids is None else list(run_ids), "most": limit})
    return [record(Run, row, status=RunStatus(row["status"]), stop_code=read_stop_code(row)) for row in rows]


def show_progress(session: Session, /) -> Script[None]:
    """Let calls of this transaction report as notices, each second, what they are waiting for."""
    yield Statement("client_show_progress")


def last_run(session: Session, /) -> Script[int | None]:
    """Return the run of the last question of this transaction, which may have no rows; None if there is none.

    with connection.transaction():
        if not client.clarify("rental cars"):
            print(client.explain(client.last_run()))
    """
    value = only_value((yield Statement("client_get_asked_run")))
    return None if value is None else int(value)
