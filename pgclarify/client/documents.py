"""Scripts about corpora and documents. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pgclarify.client.indexing_watch import IndexingWatch
from pgclarify.client.records import CorpusStatus
from pgclarify.client.results import Results, results
from pgclarify.client.rows import record
from pgclarify.client.scripts import Call, Script, Session, Statement, interval, listed, only_value, pace, to_json
from pgclarify.client.storing import batches, checked, loading
from pgclarify.data.vocabulary import Document
from pgclarify.errors import InputError, NotFound, NotReady, NoWorker, PermissionDenied

# Seconds to wait for a worker that is restarting.
_WORKERLESS_SECONDS = 10.0


def create_corpus(
    session: Session, /, name: str, *, embedding_model: str = "all-MiniLM-L6-v2", **options: object
) -> Script[int]:
    """Create a corpus. It belongs to your role.

    Args:
        name: 1 to 200 characters, unique.
        embedding_model: A sentence-transformers name or a path that the workers can load; or "endpoint:" and the name
            of a model that their endpoint serves.
        options: As in SQL: search_config, reader, analyst, date_key.

    Returns:
        Its id.

    Raises:
        InputError: If the name or an option cannot be used.
        AlreadyExists: If there is a corpus of that name.
    """
    arguments = {"name": name, "embedding_model": embedding_model, "options": to_json(options, "an option")}
    return int(only_value((yield Call("create_corpus", arguments))))


def alter_corpus(session: Session, /, name: str, **options: object) -> Script[bool]:
    """Change options of a corpus of yours.

    Args:
        name: The corpus. The client's own corpus is not a default here.
        options: As in SQL.

    Returns:
        True if anything changed.
    """
    return bool(only_value((yield Call("alter_corpus", {"name": name, "options": to_json(options, "an option")}))))


def drop_corpus(session: Session, /, name: str) -> Script[None]:
    """Drop a corpus with its documents. Runs on it stay, with their quotes.

    Args:
        name: A corpus of yours. The client's own corpus is not a default here.

    Raises:
        NotFound: If there is no such corpus.
        PermissionDenied: If it belongs to another role.
    """
    yield Call("drop_corpus", {"name": name})


def add_documents(session: Session, /, documents: Iterable[Document], *, corpus: str | None = None) -> Script[int]:
    """Add documents, or replace their content. Adding the same content again changes nothing.

    Documents are sent in batches. If no transaction is open, each batch is committed by itself. So what was added
    before an error stays, and you can add the same documents again to continue.

        client.add_documents([pgclarify.Document("17", "Rental cars are covered for thirty days.", title="Coverage")])

    A document of a file, as `pgclarify.ingest.read_documents` reads it, keeps the id under which its file was first
    added. It does not replace a document from another source.

    Args:
        documents: Any number; they are read while they are sent.
        corpus: Its name; None means the client's. The server has no default here.

    Returns:
        How many are new or changed. Workers make them searchable (see wait_until_searchable).

    Raises:
        InputError: If a document cannot be stored, or no corpus is named.
        AlreadyExists: If a document of a file would replace a document from another source; then the batch is not
            stored.
        NotFound: If there is no such corpus.
        PermissionDenied: If it belongs to another role.
    """
    changed = 0
    # An iterable may be too large for a list.
    for batch in batches(map(checked, documents if isinstance(documents, Iterable) else listed(documents))):
        (row,) = yield loading(corpus or session.corpus, batch)
        changed += int(row["changed"])
    return changed


def remove_document(session: Session, /, document_id: str, *, corpus: str | None = None) -> Script[bool]:
    """Remove a document at once. Its citations keep their quotes.

    Args:
        document_id: As it was added.
        corpus: Its name; None means the client's. The server has no default here.

    Returns:
        True if there was such a document.

    Raises:
        InputError: If no corpus is named.
        NotFound: If there is no such corpus.
        PermissionDenied: If it belongs to another role.
    """
    arguments = {"corpus": corpus or session.corpus, "document_id": document_id}
    return bool(only_value((yield Call("remove_document", arguments))))


def erase_document(session: Session, /, document_id: str, *, corpus: str | None = None) -> Script[bool]:
    """Remove a document and erase all text that comes from it, even if it was removed before.

    This erases its passages, its quotes, the readings and answers that depend on it alone, and the model's replies
    about it. Ids, times and costs stay. Runs on the corpus that are not over start again.

    Args:
        document_id: As it was added.
        corpus: Its name; None means the client's. The server has no default here.

    Returns:
        True if the document was still there.

    Raises:
        InputError: If no corpus is named.
        NotFound: If there is no such corpus.
        PermissionDenied: If it belongs to another role.
        NotReady: If it is a row of an attached table, from which it would return.
    """
    arguments = {"corpus": corpus or session.corpus, "document_id": document_id}
    return bool(only_value((yield Call("erase_document", arguments))))


def attach_table(
    session: Session,
    /,
    relation: str,
    id_column: str,
    content_column: str,
    *,
    corpus: str | None = None,
    **options: object,
) -> Script[int]:
    """Load a table into a corpus, and keep the corpus in step with it.

    Args:
        relation: The table, with its schema if it is not in the search path.
        id_column: The column with the document's id.
        content_column: The column with its text.
        corpus: Its name; None means the client's.
        options: As in SQL.

    Returns:
        The id of the source.
    """
    arguments = {
        "corpus": corpus or session.corpus,
        "relation": relation,
        "id_column": id_column,
        "content_column": content_column,
        "options": to_json(options, "an option"),
    }
    return int(only_value((yield Call("attach_table", arguments))))


def detach_table(session: Session, /, relation: str, *, corpus: str | None = None, **options: object) -> Script[int]:
    """Stop following a table.

    Args:
        relation: The table.
        corpus: Its name; None means the client's.
        options: As in SQL.

    Returns:
        The id of the source.
    """
    arguments = {"corpus": corpus or session.corpus, "relation": relation, "options": to_json(options, "an option")}
    return int(only_value((yield Call("detach_table", arguments))))


def resync(session: Session, /, relation: str, *, corpus: str | None = None) -> Script[int]:
    """Compare a corpus with an attached table again, and mend what differs.

    Args:
        relation: The table.
        corpus: Its name; None means the client's.

    Returns:
        The id of the source.
    """
    return int(only_value((yield Call("resync", {"corpus": corpus or session.corpus, "relation": relation}))))


def grant_access(
    session: Session,
    /,
    role: str,
    access: str = "reader",
    *,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - as in SQL
    corpus: str | None = None,
) -> Script[bool]:
    """Let a role search a corpus of yours, or see all runs on it.

    Args:
        role: A login or a group; or pgclarify_user or pgclarify_reader, for all that may ask or read.
        access: reader or analyst.
        filter: For a reader: it finds and sees only documents whose metadata fit, such as {"tenant": "acme"}. None
            means all.
        corpus: Its name; None means the client's.

    Returns:
        Whether anything changed.
    """
    arguments = {
        "corpus": corpus or session.corpus,
        "role": role,
        "access": access,
        "filter": None if filter is None else to_json(filter, "a filter"),
    }
    return bool(only_value((yield Call("grant_access", arguments))))


def revoke_access(session: Session, /, role: str, access: str = "reader", *, corpus: str | None = None) -> Script[bool]:
    """Take back what grant_access has granted.

    Args:
        role: As in grant_access.
        access: As in grant_access.
        corpus: Its name; None means the client's.

    Returns:
        Whether anything changed.
    """
    arguments = {"corpus": corpus or session.corpus, "role": role, "access": access}
    return bool(only_value((yield Call("revoke_access", arguments))))


def distribute(session: Session, /, corpus: str, **options: object) -> Script[dict[str, Any]]:
    """Experimental: spread a corpus over the nodes of a Citus cluster, or bring it back.

    Args:
        corpus: Its name. The client's own corpus is not a default here.
        options: As in SQL: shards, dry_run.

    Returns:
        What was moved, or would be.
    """
    return dict(only_value((yield Call("distribute", {"corpus": corpus, "options": to_json(options, "an option")}))))


def corpora(session: Session, /) -> Script[Results[CorpusStatus]]:
    """List the corpora that you may search, by name, with their state."""
    rows = yield Statement("client_corpus_status", {"corpus": None, "are_all": True})
    return results(CorpusStatus, rows)


def corpus_status(session: Session, /, corpus: str | None = None) -> Script[CorpusStatus]:
    """Return the state of a corpus.

    Args:
        corpus: As in clarify.

    Raises:
        NotFound: If there is no such corpus.
        InputError: If none is named and there are several.
    """
    named = corpus or session.corpus
    rows = yield Statement("client_corpus_status", {"corpus": named, "are_all": False})
    if not rows:
        raise NotFound(
            "the corpus does not exist" if named is None else f'corpus "{named}" does not exist',
            hint="List the corpora that you may search: client.corpora(), or pgclarify corpus list.",
        )
    if len(rows) > 1:
        names = ", ".join(row["corpus"] for row in rows)
        raise InputError("no corpus is named", detail=f"You can search: {names}.", hint='Pass corpus="name".')
    return record(CorpusStatus, rows[0])


def wait_until_searchable(
    session: Session,
    /,
    corpus: str | None = None,
    *,
    timeout: float | None = None,
    on_progress: Callable[[CorpusStatus], object] = lambda status: None,
) -> Script[CorpusStatus]:
    """Wait until everything that was added to a corpus is searchable, or has failed to be indexed.

    Args:
        corpus: As in clarify.
        timeout: Seconds to wait; None waits while there is a worker.
        on_progress: Called with each state of the corpus.

    Returns:
        Its state then: `pending` is 0, and `failed` counts the documents that cannot be indexed.

    Raises:
        NotFound: If there is no such corpus.
        PermissionDenied: If some of its documents are not for everyone, and you are neither owner nor analyst.
        NoWorker: If no worker has been running for ten seconds.
        EmbeddingError: If nothing was indexed for a minute, and the state of the corpus has an error.
        NotReady: If the time is up; workers continue.
    """
    limit = interval(timeout)
    began = last_worker = session.clock()
    watch = IndexingWatch(session.clock)
    while True:
        status = yield from corpus_status(session, corpus)
        if status.pending is None:
            raise PermissionDenied(
                f"only the owner and the analyst of {status.corpus} may know what is pending",
                detail="Some of its documents are not for everyone.",
            )
        on_progress(status)
        if status.pending == 0:
            return status
        waiting = f"{status.pending} of the documents of {status.corpus} are stored, and not indexed yet."
        watch.check(
            status.corpus,
            pending=status.pending,
            pending_passages=status.pending_passages or 0,
            error=status.error if status.next_embedding_model is None else None,
        )
        workers = yield Statement("client_list_workers")
        now = session.clock()
        if workers:
            last_worker = now
        elif now - last_worker > _WORKERLESS_SECONDS:
            raise NoWorker(
                "no worker is running",
                detail=waiting,
                hint="Start one with: pgclarify up --detach, or pgclarify worker",
            )
        if limit is not None and now - began >= limit.total_seconds():
            raise NotReady(f"not everything is searchable within {limit}", detail=waiting, hint="Wait again.")
        yield pace(now - began)
