"""Scripts about corpora and documents. The docstrings are those of the client's methods."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from pgclarify.client.indexing_watch import IndexingWatch
from pgclarify.client.records import CorpusStatus
from pgclarify.client.results import Results, results
from pgclarify.client.rows import record
from pgclarify.client.scripts import Call, Script, Session, Statement, interval, listed, only_value, pace, to_json
from pgclarify.data.vocabulary import Document
from pgclarify.database.arrays import array_text
from pgclarify.errors import InputError, NotFound, NotReady, NoWorker, PermissionDenied
from pgclarify.language.foreign_text import unstorable

# A batch is one statement and one transaction: large enough to hide the round trip, small enough to send at once.
_BATCH_DOCUMENTS = 500
_BATCH_CHARS = 4_000_000
_MOST_ID_CHARS = 1000
_MOST_ID_BYTES = 2600
_MOST_READERS = 1000
# In every time zone, such a date has a year of four digits.
_FIRST_YEAR, _LAST_YEAR = 2, 9998
_ID_CHARS_SHOWN = 200
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
            hint="List the corpora that you may search: client.corpora().",
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


def loading(corpus: str | None, batch: Sequence[Document]) -> Call:
    """Return the call that loads a batch. Its row says how many documents are new or changed, and how many are not."""
    arguments = {
        "corpus": corpus,
        "document_ids": [document.document_id for document in batch],
        "contents": [document.content for document in batch],
        "titles": [document.title for document in batch],
        "uris": [document.uri for document in batch],
        "metadata": array_text(
            to_json(document.metadata, f"metadata of {document.document_id!r}") for document in batch
        ),
        "readers": array_text(_readers(document) for document in batch),
        "origins": [document.origin for document in batch],
        "dates": [None if document.dated is None else _in_utc(document.dated) for document in batch],
        "files": array_text(_file(document) for document in batch),
    }
    return Call("load_documents", arguments, names_caller=True)


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Collect documents into batches, each of the size that add_documents sends at once."""
    batch: list[Document] = []
    chars = 0
    for document in documents:
        batch.append(document)
        chars += len(document.content)
        if len(batch) == _BATCH_DOCUMENTS or chars >= _BATCH_CHARS:
            yield _in_order(batch)
            batch, chars = [], 0
    if batch:
        yield _in_order(batch)


def _in_order(batch: Sequence[Document]) -> list[Document]:
    """Sort by id, so that two clients with the same documents do not deadlock. The last of equal ids stays last."""
    return sorted(batch, key=lambda document: document.document_id)


def checked(document: Document) -> Document:
    """Return a document that can be stored; else raise an error with its id, which an error of a batch would not name.

    Raises:
        InputError: If it is no Document; if its id, content, title, URI or origin is not a str, or has characters that
            PostgreSQL cannot store; if its id is too long; if its date is no date; if it has too many readers, or a str
            instead of a sequence of them.
    """
    if not isinstance(document, Document):
        raise InputError(
            "a document is a pgclarify.Document",
            detail=f"It is {repr(document)[:100]}.",
            hint='Pass, for example, pgclarify.Document("17", "Rental cars are covered for thirty days.").',
        )
    shown = repr(str(document.document_id)[:_ID_CHARS_SHOWN])
    texts: dict[str, object] = {
        "id": document.document_id,
        "content": document.content,
        "title": document.title,
        "uri": document.uri,
        "origin": document.origin,
    }
    for part, text in texts.items():
        if text is None and part not in ("id", "content"):
            continue
        if not isinstance(text, str):
            raise InputError(
                f"document {shown} cannot be stored",
                detail=f"The {part} of the document is of type {type(text).__name__}.",
                hint="Pass a text, such as str(17) for a number.",
            )
        if reason := unstorable(text):
            raise InputError(
                f"document {shown} cannot be stored",
                detail=f"{reason} It is in the {part} of the document.",
                hint="Remove it, or decode the file with the right encoding.",
            )
    chars, length = len(document.document_id), len(document.document_id.encode())
    if chars > _MOST_ID_CHARS or length > _MOST_ID_BYTES:
        raise InputError(
            f"document {shown} cannot be stored",
            detail=f"Its id has {chars} characters, in {length} bytes.",
            hint=f"Give it an id of at most {_MOST_ID_CHARS} characters, in at most {_MOST_ID_BYTES} bytes.",
        )
    if not isinstance(document.dated, date | None):
        raise InputError(
            f"document {shown} cannot be stored",
            detail=f"Its date is of type {type(document.dated).__name__}.",
            hint="Pass a datetime.date, or a datetime.datetime: datetime.fromisoformat reads ISO dates.",
        )
    if document.dated is not None and not _FIRST_YEAR <= document.dated.year <= _LAST_YEAR:
        raise InputError(
            f"document {shown} cannot be stored",
            detail=f"Its date is {document.dated}.",
            hint=f"Pass a date from the year {_FIRST_YEAR} to {_LAST_YEAR}, or None if it is unknown.",
        )
    if isinstance(document.readers, str):
        raise InputError(
            f"document {shown} cannot be stored",
            detail=f"Its readers are {document.readers!r}.",
            hint="Pass several names, even for a single role: readers=('staff',).",
        )
    if document.readers is not None and len(document.readers) > _MOST_READERS:
        raise InputError(
            f"document {shown} cannot be stored",
            detail=f"It has {len(document.readers)} readers.",
            hint=f"Grant these roles one group, and name the group: at most {_MOST_READERS} readers.",
        )
    return document


def _in_utc(dated: date) -> datetime:
    """Return a day or a time as a time with a zone: without one, it is in UTC."""
    time = dated if isinstance(dated, datetime) else datetime.combine(dated, datetime.min.time())
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _file(document: Document) -> str | None:
    if not document.places and not document.unread:
        return None
    return to_json({"places": list(document.places), "unread": dict(document.unread)}, "what its file has")


def _readers(document: Document) -> str | None:
    return None if document.readers is None else json.dumps(document.readers)
