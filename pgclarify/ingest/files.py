"""Reads files and folders as documents; the kind of a file is known by its name."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.apart import ParsingProcess
from pgclarify.ingest.folders import find_files, is_empty, suffix_of
from pgclarify.ingest.mail import sent_at
from pgclarify.ingest.naming import Name, Naming
from pgclarify.ingest.parsing import DOCX, HTML, MAIL, MARKDOWN, PDF, PPTX, TEXT, parse
from pgclarify.ingest.records import FieldMapping, RecordReader, read_record_stream, read_records
from pgclarify.ingest.tables import read_table_stream
from pgclarify.ingest.text import MAX_DOCUMENT_BYTES
from pgclarify.language.foreign_text import unstorable

_read_tsv = partial(read_table_stream, delimiter="\t")
# Records have their own ids.
_RECORDS: Final[dict[str, RecordReader]] = {
    ".jsonl": read_record_stream,
    ".ndjson": read_record_stream,
    ".csv": read_table_stream,
    ".tsv": _read_tsv,
}
_RECORDS.update({f"{suffix}.gz": read for suffix, read in _RECORDS.items()})
_ONE_DOCUMENT = TEXT | MARKDOWN | HTML | PDF | DOCX | PPTX | MAIL
SUPPORTED_SUFFIXES = _ONE_DOCUMENT | _RECORDS.keys()
# Files with pictures or attachments, which are larger than their text.
_WITH_PICTURES = PDF | DOCX | PPTX | MAIL

_apart = ParsingProcess()
atexit.register(_apart.close)


def read_documents(
    paths: Iterable[Path],
    *,
    fields: FieldMapping | None = None,
    naming: Naming | None = None,
    on_skip: Callable[[str], object] = lambda kind: None,
    follows_links: bool = False,
) -> Iterator[Document | UnreadableFile]:
    """Read documents from files and folders, as a stream.

    Text, Markdown, HTML, PDF, DOCX, PPTX and mail files are one document each. Its id is its path below the given
    folder, in POSIX form; for a single file, its name. In JSON lines each line is a document, in CSV and TSV each row.
    A file that is found twice is read once.
    In folders, hidden files and folders are skipped, and links to files that are not in the folder.

    Args:
        paths: Files and folders. Folders are read recursively, in the order of names; links to folders are skipped.
        fields: Which fields of JSON lines, or columns of a table, make up a document; None for the usual ones.
        naming: Prefix of ids and name of the source; None for no prefix, and the place as source.
        on_skip: Called for everything that is skipped without an error, with its kind: a file with a suffix that no
            reader handles (".png"), an empty file, a link to a folder, a link out of the folder, an attachment of
            mail.
        follows_links: Whether links to files may lead out of their folder.

    Yields:
        Documents; and for each file, line or row that could not be read, an UnreadableFile, in its place. It is
        yielded, not raised, so that one bad file does not lose the rest. It is a MissingReader if an extra is missing.
    """
    for found in _named(paths, fields, naming, on_skip, follows_links):
        if isinstance(found, UnreadableFile):
            yield found
            continue
        name, source = found
        if isinstance(source, Document):
            yield name.given_to(source)
            continue
        try:
            document = _read_file(source)
        except UnreadableFile as problem:
            yield problem
            continue
        if _has_text(document, suffix_of(source), on_skip):
            yield name.given_to(document)


def find_names(
    paths: Iterable[Path],
    *,
    fields: FieldMapping | None = None,
    naming: Naming | None = None,
    follows_links: bool = False,
) -> Iterator[Name | UnreadableFile]:
    """Yield the names that read_documents will give. Only files with several documents are opened for that.

    Args:
        paths: As in read_documents.
        fields: As in read_documents.
        naming: As in read_documents.
        follows_links: As in read_documents.

    Yields:
        Names; and an error for each file whose names cannot be known.
    """
    for found in _named(paths, fields, naming, lambda kind: None, follows_links):
        yield found if isinstance(found, UnreadableFile) else found[0]


def holds_many(path: Path) -> bool:
    """Whether a file may contain several documents, by its name."""
    return suffix_of(path) in _RECORDS


def _named(
    paths: Iterable[Path],
    fields: FieldMapping | None,
    naming: Naming | None,
    on_skip: Callable[[str], object],
    follows_links: bool,
) -> Iterator[tuple[Name, Document | Path] | UnreadableFile]:
    """Yield the name of each document once, with the document if it is a record, else with its file."""
    names = naming or Naming()
    # The folders that are given may overlap.
    seen: set[Path] = set()
    for given in paths:
        # Ids are relative to this folder.
        base = given if given.is_dir() else given.parent
        for path in find_files(given, SUPPORTED_SUFFIXES, on_skip, follows_links):
            if isinstance(path, UnreadableFile):
                yield path
                continue
            # Not the target of a link, which is another file.
            place = path.parent.resolve() / path.name
            if place in seen:
                continue
            seen.add(place)
            try:
                # An empty PDF, in contrast, is a broken file.
                if is_empty(path) and suffix_of(path) not in _WITH_PICTURES:
                    on_skip("empty file")
                elif read := _RECORDS.get(suffix_of(path)):
                    for record in read_records(path, fields or FieldMapping(), read):
                        if isinstance(record, Document):
                            yield names.of_record(record.document_id, path, base), record
                        else:
                            yield record
                else:
                    yield names.of_file(_document_id(path, base), path, base), path
            except UnreadableFile as problem:
                yield problem


def _document_id(path: Path, base: Path) -> str:
    document_id = path.absolute().relative_to(base.absolute()).as_posix()
    if reason := unstorable(document_id):
        raise UnreadableFile(f"cannot use {path!a}", detail=f"Its name is not UTF-8. {reason}", hint="Rename it.")
    return document_id


def _read_file(path: Path) -> Document:
    suffix = suffix_of(path)
    if suffix not in SUPPORTED_SUFFIXES:
        raise UnreadableFile(
            f"cannot read {path}",
            detail=f"Nothing reads {suffix or 'a name without an extension'}.",
            hint=f"Supported are: {', '.join(sorted(SUPPORTED_SUFFIXES))}.",
        )
    # The whole file is in memory.
    most_bytes = 10 * MAX_DOCUMENT_BYTES if suffix in _WITH_PICTURES else MAX_DOCUMENT_BYTES
    try:
        with path.open("rb") as stream:
            data = stream.read(most_bytes + 1)
    except OSError as error:
        raise UnreadableFile(f"cannot read {path}", detail=f"{error.strerror}.") from error
    if len(data) > most_bytes:
        raise UnreadableFile(
            f"cannot read {path}",
            detail=f"It is larger than {most_bytes // 1_000_000} MB.",
            hint="Split it, for example by chapters.",
        )
    # Plain text needs only decoding.
    title, content, metadata = parse(data, suffix, path) if suffix in TEXT else _apart.parse(data, suffix, path)
    dated = sent_at(metadata) if suffix in MAIL else None
    return Document(document_id=path.name, content=content, title=title or path.stem, metadata=metadata, dated=dated)


def _has_text(document: Document, suffix: str, on_skip: Callable[[str], object]) -> bool:
    """Whether a file has text; report the parts of it that are not read."""
    if suffix in MAIL:
        for _ in document.metadata.get("attachments", ()):
            on_skip("attachment")
    if not document.content.strip():
        on_skip("empty file")
        return False
    return True
