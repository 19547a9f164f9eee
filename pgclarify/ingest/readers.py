"""Reads files and folders as documents, by the kind that their names say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.headings import find_headings
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.records import FieldMapping, read_records
from pgclarify.ingest.text import decode, unstorable
from pgclarify.model import Document

_TEXT = frozenset({".txt", ".text", ".rst"})
_MARKDOWN = frozenset({".md", ".markdown"})
_HTML = frozenset({".html", ".htm"})
_RECORDS = frozenset({".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"})
SUPPORTED_SUFFIXES = _TEXT | _MARKDOWN | _HTML | _RECORDS


def read_documents(
    paths: Iterable[Path], *, fields: FieldMapping | None = None, root: Path | None = None
) -> Iterator[Document | UnreadableFile]:
    """Read documents from files and folders, as a stream.

    Text, Markdown and HTML files are one document each: their id is their path below `root`, or below the given
    folder, in POSIX form; a file given by itself has its name as id. JSON lines are one document a line. In folders,
    hidden files and folders and those of other kinds are passed over.

    Args:
        paths: Files and folders. Folders are read recursively, in the order of names.
        fields: Which fields of JSON lines make up a document; None for the usual ones.
        root: Folder that ids are relative to.

    Yields:
        Documents, and beside them, in its place, each file or line that could not be read, as an UnreadableFile that
        is returned, not raised: one bad file does not lose the rest.

    Raises:
        ConfigurationError: If a file needs an extra that is not installed.
    """
    mapping = fields or FieldMapping()
    paths_by_id: dict[str, Path] = {}
    for given in paths:
        for path in _files(given):
            if _suffix(path) in _RECORDS:
                yield from read_records(path, mapping)
                continue
            base = root or (given if given.is_dir() else given.parent)
            try:
                document_id = _document_id(path, base)
                if paths_by_id.setdefault(document_id, path).absolute() != path.absolute():
                    raise UnreadableFile(
                        f"cannot use {path}",
                        detail=f"Its id would be {document_id!r}, as that of {paths_by_id[document_id]}.",
                        hint="Load a folder above both.",
                    )
                yield _read_file(path, document_id)
            except UnreadableFile as problem:
                yield problem


def _files(given: Path) -> Iterator[Path]:
    if not given.is_dir():
        yield given
        return
    for folder, subfolders, names in os.walk(given):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and _suffix(path) in SUPPORTED_SUFFIXES:
                yield path


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


def _read_file(path: Path, document_id: str) -> Document:
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
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"cannot read {path}", detail=f"{error.strerror}.") from error
    content = decode(data, path)
    title = None
    if suffix in _HTML:
        title, content = read_html(content, path)
        # A character reference can spell what the file itself does not hold.
        if reason := unstorable(content + (title or "")):
            raise UnreadableFile(f"cannot read {path}", detail=reason)
    if title is None and suffix not in _TEXT:
        title = next((heading.text for heading in find_headings(content) if heading.level == 1), None)
    return Document(document_id=document_id, content=content, title=title or path.stem)
