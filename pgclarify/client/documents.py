"""Scripts about corpora and documents. The docstrings are those of the client's methods."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence

from pgclarify.client.records import CorpusStatus, record
from pgclarify.client.scripts import Script, Session, Statement, interval, pace, to_json
from pgclarify.errors import EmbeddingError, InputError, NotFound, NotReady, NoWorker, PermissionDenied
from pgclarify.vocabulary import Document

# A batch is one statement: large enough to hide the round trip, small enough to be sent at once.
_BATCH_DOCUMENTS = 500
_BATCH_CHARS = 4_000_000
# A worker that is restarted in the meantime is waited for so long.
_WORKERLESS_SECONDS = 10.0


def create_corpus(
    session: Session, /, name: str, *, embedding_model: str = "all-MiniLM-L6-v2", **options: object
) -> Script[int]:
    """Make a corpus, which belongs to your role.

    Args:
        name: 1 to 200 characters, unique.
        embedding_model: A sentence-transformers name or a path that the workers can load, or endpoint: and the name of
            a model behind their endpoint.
        options: As in SQL: search_config, graph_degree, reader, analyst.

    Returns:
        Its id.

    Raises:
        InputError: If the name or an option cannot be used.
        AlreadyExists: If there is one of that name.
    """
    (row,) = yield Statement(
        "client_create_corpus",
        {"name": name, "embedding_model": embedding_model, "options": to_json(options, "an option")},
    )
    return int(row["corpus_id"])


def drop_corpus(session: Session, /, name: str) -> Script[None]:
    """Drop a corpus with its documents. Runs on it stay, with their quotes.

    Args:
        name: A corpus of yours; never the client's own by default.

    Raises:
        NotFound: If there is no such corpus.
        PermissionDenied: If it belongs to somebody else.
    """
    yield Statement("client_drop_corpus", {"name": name})


def add_documents(session: Session, /, documents: Iterable[Document], *, corpus: str | None = None) -> Script[int]:
    """Add documents, or put new content in place of the old; the same content again changes nothing.

    They are sent in batches. Without an open transaction each batch is committed by itself, so that what was added
    before an error stays; adding the same again goes on where it stopped.

        client.add_documents([pgclarify.Document("17", "Rental cars are covered for thirty days.", title="Coverage")])

    A document of a file, as `pgclarify.ingest.read_documents` reads it, keeps the id that its file was first added
    under. It does not replace a document that comes from elsewhere.

    Args:
        documents: Any number; read as they are sent.
        corpus: As in clarify.

    Returns:
        How many are new or have changed; workers make them searchable (see wait_until_searchable).

    Raises:
        InputError: If a document cannot be stored.
        AlreadyExists: If a document of a file would replace one that is not of that file; its batch is not stored.
        NotFound: If there is no such corpus.
        PermissionDenied: If it belongs to somebody else.
    """
    changed = 0
    for batch in _batches(documents):
        (row,) = yield Statement(
            "client_add_documents",
            {
                "corpus": corpus or session.corpus,
                "document_ids": [document.document_id for document in batch],
                "contents": [document.content for document in batch],
                "titles": [document.title for document in batch],
                "uris": [document.uri for document in batch],
                "metadata": [to_json(document.metadata, "metadata") for document in batch],
                "readers": [_readers(document) for document in batch],
                "origins": [document.origin for document in batch],
                "known_as": [document.known_as for document in batch],
            },
        )
        changed += int(row["changed"])
    return changed


def remove_document(session: Session, /, document_id: str, *, corpus: str | None = None) -> Script[bool]:
    """Remove a document, at once. Citations of it keep their quote.

    Args:
        document_id: As it was added.
        corpus: As in clarify.

    Returns:
        True if there was one.

    Raises:
        NotFound: If there is no such corpus.
        PermissionDenied: If it belongs to somebody else.
    """
    (row,) = yield Statement("client_remove_document", {"corpus": corpus or session.corpus, "document_id": document_id})
    return bool(row["is_removed"])


def erase_document(session: Session, /, document_id: str, *, corpus: str | None = None) -> Script[bool]:
    """Remove a document and erase all text that comes from it, also if it was removed before.

    That is its passages, quotes, the readings and answers that rest on it alone, and the model's replies. Ids, times
    and costs stay. Runs on the corpus that are going on start over.

    Args:
        document_id: As it was added.
        corpus: As in clarify.

    Returns:
        True if there was anything.

    Raises:
        NotFound: If there is no such corpus.
        PermissionDenied: If it belongs to somebody else.
        NotReady: If it is a row of an attached table, which would bring it back.
    """
    (row,) = yield Statement("client_erase_document", {"corpus": corpus or session.corpus, "document_id": document_id})
    return bool(row["is_erased"])


def corpora(session: Session, /) -> Script[list[CorpusStatus]]:
    """List the corpora that you may search, by name, and how far they are."""
    rows = yield Statement("client_list_corpora")
    return [record(CorpusStatus, row) for row in rows]


def corpus_status(session: Session, /, corpus: str | None = None) -> Script[CorpusStatus]:
    """Tell how far a corpus is.

    Args:
        corpus: As in clarify.

    Raises:
        NotFound: If there is no such corpus.
        InputError: If none is named and there are several.
    """
    named = corpus or session.corpus
    rows = yield Statement("client_corpus_status", {"corpus": named})
    if not rows:
        raise NotFound(
            "the corpus does not exist" if named is None else f'corpus "{named}" does not exist',
            hint="List those that you may search with corpora().",
        )
    if len(rows) > 1:
        names = ", ".join(row["corpus"] for row in rows)
        raise InputError("no corpus is named", detail=f"You can search: {names}.", hint='Pass corpus="name".')
    return record(CorpusStatus, rows[0])


def wait_until_searchable(
    session: Session, /, corpus: str | None = None, *, timeout: float | None = None
) -> Script[CorpusStatus]:
    """Wait until all that was added to a corpus is searchable, or has turned out to be impossible to index.

    Args:
        corpus: As in clarify.
        timeout: Seconds to wait; None means as long as there is a worker.

    Returns:
        How far it is then: `pending` is 0, `failed` counts what cannot be indexed.

    Raises:
        NotFound: If there is no such corpus.
        PermissionDenied: If some of its documents are not for everyone, and the caller is neither owner nor analyst.
        NoWorker: If no worker has been running for ten seconds.
        EmbeddingError: If no worker can load its embedding model.
        NotReady: If the time is up; workers go on.
    """
    limit = interval(timeout)
    began = last_worker = time.monotonic()
    while True:
        status = yield from corpus_status(session, corpus)
        if status.pending is None:
            raise PermissionDenied(
                f"only the owner and the analyst of {status.corpus} are told what is pending",
                detail="Some of its documents are not for everyone.",
            )
        if status.pending == 0:
            return status
        waiting = f"{status.pending} documents of {status.corpus} are stored and wait to be indexed."
        if status.error and status.next_embedding_model is None:
            raise EmbeddingError(
                f"no worker can load the embedding model of {status.corpus}",
                detail=f"{status.error.removesuffix('.')}. {waiting}",
                hint="Make the model available to a worker, or use another corpus.",
            )
        workers = yield Statement("client_list_workers")
        now = time.monotonic()
        if workers:
            last_worker = now
        elif now - last_worker > _WORKERLESS_SECONDS:
            raise NoWorker("no worker is running", detail=waiting, hint="Start one with: pgclarify worker")
        if limit is not None and now - began >= limit.total_seconds():
            raise NotReady(f"not all is searchable within {limit}", detail=waiting, hint="Wait again.")
        yield pace(now - began)


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    chars = 0
    for document in documents:
        _check(document)
        batch.append(document)
        chars += len(document.content)
        if len(batch) == _BATCH_DOCUMENTS or chars >= _BATCH_CHARS:
            yield _in_order(batch)
            batch, chars = [], 0
    if batch:
        yield _in_order(batch)


def _in_order(batch: Sequence[Document]) -> list[Document]:
    """By id, or two clients that add the same documents deadlock; of equal ids the last one stays the last."""
    return sorted(batch, key=lambda document: document.document_id)


def _check(document: Document) -> None:
    """Say which document it is that the driver would refuse without a name.

    Raises:
        InputError: If PostgreSQL cannot hold a text of it.
    """
    texts = {
        "id": document.document_id,
        "content": document.content,
        "title": document.title,
        "uri": document.uri,
        "origin": document.origin,
    }
    for part, text in texts.items():
        if text is None:
            continue
        problem = "a NUL character" if "\x00" in text else "half a surrogate pair" if _is_broken(text) else None
        if problem is not None:
            raise InputError(
                f"document {document.document_id!r} cannot be stored",
                detail=f"Its {part} has {problem} in it, which PostgreSQL's text cannot hold.",
                hint="Remove it, or decode the file in its own encoding.",
            )


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _readers(document: Document) -> str | None:
    return None if document.readers is None else json.dumps(document.readers)
