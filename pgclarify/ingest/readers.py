"""Reads files and folders as documents, by the kind that their names say."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.apart import ParsingProcess, ReadingLimits
from pgclarify.ingest.naming import Name, Naming
from pgclarify.ingest.parsing import HTML, MARKDOWN, PDF, TEXT, Parsed, parse
from pgclarify.ingest.records import FieldMapping, read_record_stream, read_records
from pgclarify.ingest.text import MAX_DOCUMENT_BYTES, unstorable
from pgclarify.model import Document

_RECORDS = frozenset({".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"})
SUPPORTED_SUFFIXES = TEXT | MARKDOWN | HTML | PDF | _RECORDS

_apart = ParsingProcess()
atexit.register(_apart.close)


def read_documents(
    paths: Iterable[Path],
    *,
    fields: FieldMapping | None = None,
    root: Path | None = None,
    limits: ReadingLimits | None = None,
    naming: Naming | None = None,
) -> Iterator[Document | UnreadableFile]:
    """Read documents from files and folders, as a stream.

    Text, Markdown, HTML and PDF files are one document each: their id is their path below `root`, or below the given
    folder, in POSIX form; a file given by itself has its name as id. JSON lines are one document a line. In folders,
    hidden files and folders and those of other kinds are passed over.

    Args:
        paths: Files and folders. Folders are read recursively, in the order of names.
        fields: Which fields of JSON lines make up a document; None for the usual ones.
        root: Folder that ids are relative to.
        limits: What parsing one file may take; None for the usual.
        naming: What stands before ids, and what the source is called; None: nothing, and its place.

    Yields:
        Documents, and beside them, in its place, each file or line that could not be read, as an UnreadableFile that
        is returned, not raised: one bad file does not lose the rest.

    Raises:
        ConfigurationError: If a file needs an extra that is not installed.
    """
    names = naming or Naming()
    for located in _located(paths, root):
        if isinstance(located, UnreadableFile):
            yield located
            continue
        path, base = located
        if _suffix(path) in _RECORDS:
            for record in read_records(path, fields or FieldMapping()):
                if isinstance(record, Document):
                    yield names.of_record(record.document_id, path, base).given_to(record)
                else:
                    yield record
            continue
        try:
            document_id = _document_id(path, base)
            yield names.of_file(document_id, path, base).given_to(_read_file(path, document_id, limits))
        except UnreadableFile as problem:
            yield problem


def find_names(
    paths: Iterable[Path], *, fields: FieldMapping | None = None, naming: Naming | None = None
) -> Iterator[Name | UnreadableFile]:
    """Say how read_documents will name what it reads. Only files of several documents are opened for that.

    Args:
        paths: As in read_documents.
        fields: Likewise.
        naming: Likewise.

    Yields:
        Names, and beside them what stands in the way of knowing all of them.
    """
    names = naming or Naming()
    for located in _located(paths, None):
        if isinstance(located, UnreadableFile):
            yield located
            continue
        path, base = located
        if _suffix(path) in _RECORDS:
            for record in read_records(path, fields or FieldMapping()):
                yield names.of_record(record.document_id, path, base) if isinstance(record, Document) else record
            continue
        try:
            yield names.of_file(_document_id(path, base), path, base)
        except UnreadableFile as problem:
            yield problem


def holds_many(path: Path) -> bool:
    """Whether a file may hold several documents, by its name."""
    return _suffix(path) in _RECORDS


def _located(paths: Iterable[Path], root: Path | None) -> Iterator[tuple[Path, Path] | UnreadableFile]:
    """Each file, and the folder that ids are relative to."""
    for given in paths:
        base = root or (given if given.is_dir() else given.parent)
        for path in _files(given):
            yield path if isinstance(path, UnreadableFile) else (path, base)


def read_stream(
    stream: IO[bytes],
    suffix: str,
    *,
    name: str,
    document_id: str | None = None,
    title: str | None = None,
    fields: FieldMapping | None = None,
    limits: ReadingLimits | None = None,
) -> Iterator[Document | UnreadableFile]:
    """Read what comes through a stream, such as standard input, of the kind that a file name's suffix says.

    Args:
        stream: Binary.
        suffix: One of SUPPORTED_SUFFIXES, without ".gz".
        name: What it is called where something is wrong.
        document_id: Of the one document; JSON lines bring their own.
        title: Its title; None for the one in it, if any.
        fields: Which fields of JSON lines make up a document; None for the usual ones.
        limits: What parsing it may take; None for the usual.

    Yields:
        As read_documents.

    Raises:
        ConfigurationError: If the kind needs an extra that is not installed.
    """
    if suffix in _RECORDS:
        yield from read_record_stream(stream, name, fields or FieldMapping())
        return
    try:
        if reason := unstorable(document_id or ""):
            raise UnreadableFile(f"cannot use {name}", detail=f"Its id cannot be stored. {reason}")
        data = stream.read(_most_bytes(suffix) + 1)
        found, content, metadata = _parse(data, suffix, name, limits)
        yield Document(document_id=document_id or name, content=content, title=title or found, metadata=metadata)
    except UnreadableFile as problem:
        yield problem


def _files(given: Path) -> Iterator[Path | UnreadableFile]:
    if not given.is_dir():
        yield given
        return
    closed: list[OSError] = []
    for folder, subfolders, names in os.walk(given, onerror=closed.append):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and _suffix(path) in SUPPORTED_SUFFIXES:
                yield path
    for error in closed:
        yield UnreadableFile(f"cannot read the folder {error.filename}", detail=f"{error.strerror}.")


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return "".join(suffixes) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def _document_id(path: Path, base: Path) -> str:
    try:
        document_id = path.absolute().relative_to(base.absolute()).as_posix()
    except ValueError as error:
        raise UnreadableFile(
            f"cannot use {path}", detail=f"It is not below {base}, which ids are relative to."
        ) from error
    if reason := unstorable(document_id):
        raise UnreadableFile(f"cannot use {path!a}", detail=f"Its name is not UTF-8. {reason}", hint="Rename it.")
    return document_id


def _read_file(path: Path, document_id: str, limits: ReadingLimits | None) -> Document:
    suffix = _suffix(path)
    if suffix not in SUPPORTED_SUFFIXES:
        raise UnreadableFile(
            f"cannot read {path}",
            detail=f"Nothing reads {suffix or 'a name without an extension'}.",
            hint=f"These are read: {', '.join(sorted(SUPPORTED_SUFFIXES))}.",
        )
    # A pipe or a device would be waited for, without end.
    if path.exists() and not path.is_file():
        raise UnreadableFile(f"cannot read {path}", detail="It is no regular file.")
    try:
        with path.open("rb") as stream:
            data = stream.read(_most_bytes(suffix) + 1)
    except OSError as error:
        raise UnreadableFile(f"cannot read {path}", detail=f"{error.strerror}.") from error
    title, content, metadata = _parse(data, suffix, path, limits)
    return Document(document_id=document_id, content=content, title=title or path.stem, metadata=metadata)


def _most_bytes(suffix: str) -> int:
    """How much of a file is read at most: it is in memory whole, and pictures make a PDF larger than its text."""
    return 10 * MAX_DOCUMENT_BYTES if suffix in PDF else MAX_DOCUMENT_BYTES


def _parse(data: bytes, suffix: str, name: str | Path, limits: ReadingLimits | None) -> Parsed:
    """Title, if there is one in it, content and metadata of one file.

    Raises:
        ConfigurationError: If the kind needs an extra that is not installed.
        UnreadableFile: If it is not what its suffix says, too long, or takes more than the limits.
    """
    if len(data) > _most_bytes(suffix):
        raise UnreadableFile(
            f"cannot read {name}",
            detail=f"It is larger than {_most_bytes(suffix) // 1_000_000} MB.",
            hint="Split it, by chapters say.",
        )
    # Plain text is only decoded.
    return parse(data, suffix, name) if suffix in TEXT else _apart.parse(data, suffix, name, limits or ReadingLimits())
