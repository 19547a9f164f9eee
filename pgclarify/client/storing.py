"""Documents as the server stores them: checked against its limits, and in batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, date, datetime

from pgclarify.client.scripts import Call, to_json
from pgclarify.data.limits import (
    FIRST_DATE,
    LAST_DATE,
    MOST_CONTENT_CHARS,
    MOST_ID_BYTES,
    MOST_ID_CHARS,
    MOST_METADATA_BYTES,
    MOST_ORIGIN_BYTES,
    MOST_READER_BYTES,
    MOST_READERS,
    MOST_URI_CHARS,
)
from pgclarify.data.vocabulary import Document
from pgclarify.database.arrays import array_text
from pgclarify.errors import InputError
from pgclarify.language.foreign_text import unstorable
from pgclarify.language.normalization import INVISIBLE, normalized, normalized_id

# A batch is one statement and one transaction: large enough to hide the round trip, small enough to send at once.
_BATCH_DOCUMENTS = 500
_BATCH_CHARS = 4_000_000
_ID_CHARS_SHOWN = 200
# Those of `pgclarify.declared.documents`, which takes time to import.
_SENT_APART = ("document_id", "content", "origin", "places", "unread", "found_in")
_FIELDS = [field.name for field in fields(Document) if field.name not in _SENT_APART]
_TEXTS = [field.name for field in fields(Document) if field.name in _FIELDS and field.type == "str | None"]
# What the server regards as white space, and what it leaves out of a text.
_VISIBLE = re.compile(f"[^ \t\r\n\f\v{INVISIBLE}]")
_DECODE = "Remove it, or decode the file with the right encoding."
_INTO_THE_CONTENT = "Put texts into the content, where searches find them."
# A text has no more than three times as many characters in composed form.
_MOST_GROWTH = 3


def loading(corpus: str | None, batch: Sequence[Document]) -> Call:
    """Return the call that loads a batch. Its row says how many documents are new or changed, and how many are not."""
    arguments = {
        "corpus": corpus,
        "document_ids": [document.document_id for document in batch],
        "contents": [document.content for document in batch],
        "fields": array_text(_fields(document) for document in batch),
        "origins": [document.origin for document in batch],
        "files": array_text(_file(document) for document in batch),
    }
    return Call("load_documents", arguments, names_caller=True)


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Collect checked documents into batches, each of the size that add_documents sends at once."""
    batch: list[Document] = []
    chars = 0
    for document in documents:
        batch.append(document)
        chars += len(document.content) + _least_bytes(document.metadata) + len(document.uri or "")
        if len(batch) == _BATCH_DOCUMENTS or chars >= _BATCH_CHARS:
            yield _in_order(batch)
            batch, chars = [], 0
    if batch:
        yield _in_order(batch)


def _in_order(batch: Sequence[Document]) -> list[Document]:
    """Sort by id, so that two clients with the same documents do not deadlock. The last of equal ids stays last."""
    return sorted(batch, key=lambda document: document.document_id)


def checked(document: Document) -> Document:
    """Return a document that can be stored; else raise an error that names it, which an error of a batch would not.

    The server counts the bytes of metadata exactly; here they are counted without numbers and padding.

    Raises:
        InputError: If it is no Document, or a part of it has another type, characters that PostgreSQL cannot store, or
            more than pgclarify.data.limits allows.
    """
    if not isinstance(document, Document):
        raise InputError(
            "a document is a pgclarify.Document",
            detail=f"It is {repr(document)[:100]}.",
            hint='Pass, for example, pgclarify.Document("17", "Rental cars are covered for thirty days.").',
        )
    for detail, hint in _faults(document):
        raise InputError(f"{told(document)} cannot be stored", detail=detail, hint=hint)
    return document


def told(document: Document) -> str:
    """Name a document in an error: by where it was found, or else by its id."""
    return document.found_in or f"document {str(document.document_id)[:_ID_CHARS_SHOWN]!r}"


def _faults(document: Document) -> Iterator[tuple[str, str]]:
    """Yield why a document cannot be stored, and what to do. Each fault may hide those after it."""
    yield from _faults_of_texts(document)
    shown = normalized_id(document.document_id)
    chars, size = len(shown), len(shown.encode())
    if not 0 < chars <= MOST_ID_CHARS or size > MOST_ID_BYTES:
        yield (
            f"Its id has {chars} characters, in {size} bytes.",
            f"Give it an id of 1 to {MOST_ID_CHARS} characters, in at most {MOST_ID_BYTES} bytes.",
        )
    if not _VISIBLE.search(document.content):
        yield "It has only white space.", "Leave empty documents out."
    if len(document.content) * _MOST_GROWTH > MOST_CONTENT_CHARS:
        chars = len(normalized(document.content))
        if chars > MOST_CONTENT_CHARS:
            yield (
                f"It has {chars:,} characters, and a document may have {MOST_CONTENT_CHARS:,}.",
                "Split it, for example by chapters.",
            )
    if len(document.uri or "") > MOST_URI_CHARS:
        yield (
            f"Its URI has more than {MOST_URI_CHARS:,} characters.",
            "Leave it out, or put it into the content.",
        )
    if len((document.origin or "").encode()) > MOST_ORIGIN_BYTES:
        yield f"Its origin has more than {MOST_ORIGIN_BYTES} bytes.", "Shorten the name of its file."
    yield from _faults_of_date(document.dated)
    yield from _faults_of_readers(document.readers)
    yield from _faults_of_metadata(document.metadata)


def _faults_of_texts(document: Document) -> Iterator[tuple[str, str]]:
    texts: dict[str, object] = {
        "id": document.document_id,
        "content": document.content,
        "origin": document.origin,
        **{name: getattr(document, name) for name in _TEXTS},
    }
    for part, text in texts.items():
        if text is None and part not in ("id", "content"):
            continue
        if not isinstance(text, str):
            yield (
                f"The {part} of the document is of type {type(text).__name__}.",
                "Pass a text, such as str(17) for a number.",
            )
        elif reason := unstorable(text):
            yield f"{reason} It is in the {part} of the document.", _DECODE


def _faults_of_date(dated: date | None) -> Iterator[tuple[str, str]]:
    if not isinstance(dated, date | None):
        yield (
            f"Its date is of type {type(dated).__name__}.",
            "Pass a datetime.date, or a datetime.datetime: datetime.fromisoformat reads ISO dates.",
        )
    elif dated is not None and not FIRST_DATE <= _in_utc(dated) <= LAST_DATE:
        yield (
            f"Its date is {dated}.",
            f"Give it a date from the year {FIRST_DATE.year} to {LAST_DATE.year - 1}, or none if it is unknown.",
        )


def _faults_of_readers(readers: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    if isinstance(readers, str):
        yield f"Its readers are {readers!r}.", "Pass several names, even for a single role: readers=('staff',)."
    elif readers is not None:
        if len(readers) > MOST_READERS:
            yield (
                f"It has {len(readers)} readers.",
                f"Grant these roles one group, and name the group: at most {MOST_READERS} readers.",
            )
        for name in readers:
            if not isinstance(name, str) or unstorable(name) or not 0 < len(name.encode()) <= MOST_READER_BYTES:
                yield (
                    f"One of its readers is {repr(name)[:_ID_CHARS_SHOWN]}, which is no name of a role.",
                    f"Name roles, each in 1 to {MOST_READER_BYTES} bytes.",
                )


def _faults_of_metadata(metadata: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    if not isinstance(metadata, Mapping):
        yield f"Its metadata are of type {type(metadata).__name__}.", "Pass a dict."
        return
    try:
        size = _least_bytes(metadata)
        reason = next(filter(None, map(unstorable, _texts(metadata))), None)
        to_json(metadata, "its metadata")
    except RecursionError:
        yield "Its metadata are nested too deeply.", _INTO_THE_CONTENT
    except InputError as error:
        yield f"Its metadata cannot be written as JSON: {error.detail}", "Leave that value out, or write it as a text."
    else:
        if reason:
            yield f"{reason} It is in the metadata of the document.", _DECODE
        if size > MOST_METADATA_BYTES:
            yield f"Its metadata have more than {MOST_METADATA_BYTES:,} bytes.", _INTO_THE_CONTENT


def _texts(value: object) -> Iterator[str]:
    """Yield all texts of a JSON value, among them keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(key)
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _least_bytes(value: object) -> int:
    """Return how many bytes a JSON value has in PostgreSQL, or somewhat fewer: texts, and 4 for each value or key."""
    if isinstance(value, str):
        return 4 + len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, Mapping):
        return 8 + sum(_least_bytes(key) + _least_bytes(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return 8 + sum(map(_least_bytes, value))
    return 4


def _in_utc(dated: date) -> datetime:
    """Return a day or a time as a time with a zone: without one, it is in UTC."""
    time = dated if isinstance(dated, datetime) else datetime.combine(dated, datetime.min.time())
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _file(document: Document) -> str | None:
    if not document.places and not document.unread:
        return None
    return to_json({"places": list(document.places), "unread": dict(document.unread)}, "what its file has")


def _fields(document: Document) -> str:
    given = {name: getattr(document, name) for name in _FIELDS}
    if document.dated is not None:
        given["dated"] = _in_utc(document.dated).isoformat()
    return to_json(given, f"a field of {document.document_id!r}")
