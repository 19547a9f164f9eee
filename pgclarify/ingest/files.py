"""Reads files and folders as documents; the kind of a file is known by its name."""

from __future__ import annotations

import atexit
import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, Final, cast

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.apart import ParsingProcess
from pgclarify.ingest.folders import find_files, is_empty, suffix_of
from pgclarify.ingest.mail import sent_at
from pgclarify.ingest.naming import Name, Naming
from pgclarify.ingest.parsed import Parsed
from pgclarify.ingest.parsing import ARCHIVES, CONTAINERS, MAIL, PARSED, TABLES, TEXT, WITH_PICTURES, parse
from pgclarify.ingest.records import FieldMapping, RecordReader, read_record_stream, read_records
from pgclarify.ingest.scans import IMAGES, Ocr
from pgclarify.ingest.tables import has_ids, read_table_stream
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
_TABLES = TABLES | {f"{suffix}.gz" for suffix in TABLES}
SUPPORTED_SUFFIXES = PARSED | _RECORDS.keys()

_MOST_PLACES = 20_000

_apart = ParsingProcess()
atexit.register(_apart.close)


def read_documents(
    paths: Iterable[Path],
    *,
    fields: FieldMapping | None = None,
    naming: Naming | None = None,
    on_skip: Callable[[str], object] = lambda kind: None,
    on_unread: Callable[[str, Mapping[str, int]], object] = lambda document_id, unread: None,
    ocr: Ocr | None = None,
    follows_links: bool = False,
) -> Iterator[Document | UnreadableFile]:
    """Read documents from files and folders, as a stream.

    Text, Markdown, HTML, PDF, office and mail files are one document each. Its id is its path below the given folder,
    in POSIX form; for a single file, its name. An attachment of mail, or a member of an archive, is a document of its
    own: `offer.eml!prices.pdf`. In JSON lines each line is a document, and so is each row of a CSV or TSV file with a
    column of ids; without one, the whole table is one document. A file that is found twice is read once.
    In folders, hidden files and folders are skipped, and links to files that are not in the folder.

    Args:
        paths: Files and folders. Folders are read recursively, in the order of names; links to folders are skipped.
        fields: Which fields of JSON lines, or columns of a table, make up a document; None for the usual ones.
        naming: Prefix of ids and name of the source; None for no prefix, and the place as source.
        on_skip: Called for everything that is skipped without an error, with its kind: a file with a suffix that no
            reader handles (".png"), an empty file, a link to a folder, a link out of the folder.
        on_unread: Called for each file that has something that is not read, such as pictures: with its id, and the
            number of each kind.
        ocr: How pictures and scanned pages are read; None to leave them out.
        follows_links: Whether links to files may lead out of their folder.

    Yields:
        Documents; and for each file, line or row that could not be read, an UnreadableFile, in its place. It is
        yielded, not raised, so that one bad file does not lose the rest. It is a MissingReader if an extra is missing.
    """
    for found in _named(paths, fields, naming, on_skip, ocr, follows_links):
        if isinstance(found, UnreadableFile):
            yield found
            continue
        name, source = found
        if isinstance(source, Document):
            yield name.given_to(source)
            continue
        try:
            parsed = _parse_file(source, ocr)
        except UnreadableFile as problem:
            yield problem
            continue
        if not any(one.content.strip() for one in parsed):
            on_skip("empty file")
        for one in parsed:
            own_name = name.of_member(one.member)
            if one.unread:
                on_unread(own_name.document_id, one.unread)
            if one.content.strip():
                yield own_name.given_to(_document(one, source))


def find_names(
    paths: Iterable[Path],
    *,
    fields: FieldMapping | None = None,
    naming: Naming | None = None,
    ocr: Ocr | None = None,
    follows_links: bool = False,
) -> Iterator[Name | UnreadableFile]:
    """Yield the names that read_documents may give. Only files with several documents are opened for that.

    Args:
        paths: As in read_documents.
        fields: As in read_documents.
        naming: As in read_documents.
        ocr: As in read_documents.
        follows_links: As in read_documents.

    Yields:
        Names; and an error for each file whose names cannot be known.
    """
    for found in _named(paths, fields, naming, lambda kind: None, ocr, follows_links):
        if isinstance(found, UnreadableFile):
            yield found
            continue
        name, source = found
        yield name
        if isinstance(source, Path) and suffix_of(source) in CONTAINERS:
            try:
                members = _apart.member_names(_bytes_of(source), suffix_of(source), source, ocr)
            except UnreadableFile as problem:
                yield problem
                continue
            yield from map(name.of_member, members)


def holds_many(path: Path) -> bool:
    """Whether a file may contain several documents that come and go, by its name."""
    return suffix_of(path) in _RECORDS.keys() | ARCHIVES


def _named(
    paths: Iterable[Path],
    fields: FieldMapping | None,
    naming: Naming | None,
    on_skip: Callable[[str], object],
    ocr: Ocr | None,
    follows_links: bool,
) -> Iterator[tuple[Name, Document | Path] | UnreadableFile]:
    """Yield the name of each document once, with the document if it is a record, else with its file."""
    names = naming or Naming()
    # The folders that are given may overlap.
    seen: set[Path] = set()
    for given in paths:
        # Ids are relative to this folder.
        base = given if given.is_dir() else given.parent
        for path in find_files(
            given, SUPPORTED_SUFFIXES | IMAGES if ocr else SUPPORTED_SUFFIXES, on_skip, follows_links
        ):
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
                if is_empty(path) and suffix_of(path) not in WITH_PICTURES:
                    on_skip("empty file")
                elif (read := _RECORDS.get(suffix_of(path))) and _has_records(path, fields or FieldMapping()):
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


def _has_records(path: Path, fields: FieldMapping) -> bool:
    """Whether each line or row of a file is a document; otherwise it is a table without ids."""
    if suffix_of(path) not in _TABLES:
        return True
    try:
        with _opened(path) as stream:
            return has_ids(stream, fields)
    except OSError:
        # Reading it gives the error.
        return True


def _parse_file(path: Path, ocr: Ocr | None) -> list[Parsed]:
    suffix = suffix_of(path)
    if suffix in IMAGES and ocr is None:
        raise UnreadableFile(
            f"cannot read {path}",
            detail="It is a picture.",
            hint="Read its text by text recognition: --ocr eng, or another language.",
        )
    if suffix not in SUPPORTED_SUFFIXES | IMAGES:
        raise UnreadableFile(
            f"cannot read {path}",
            detail=f"Nothing reads {suffix or 'a name without an extension'}.",
            hint=f"Supported are: {', '.join(sorted(SUPPORTED_SUFFIXES))}.",
        )
    data = _bytes_of(path)
    # Plain text needs only decoding.
    return parse(data, suffix, path) if suffix in TEXT else _apart.parse(data, _packed_suffix(suffix), path, ocr)


def _packed_suffix(suffix: str) -> str:
    """Return the suffix of a table that is packed; other packed files, such as .tar.gz, are archives."""
    return suffix.removesuffix(".gz") if suffix in _TABLES else suffix


def _document(parsed: Parsed, path: Path) -> Document:
    # A citation of a very long table says only its sheet, because all places are read for it.
    is_long = len(parsed.places) > _MOST_PLACES
    places = [asdict(place) for place in parsed.places if not is_long or place.kind != "row"]
    return Document(
        document_id=path.name,
        content=parsed.content,
        title=parsed.title or path.stem,
        metadata=parsed.metadata,
        places=tuple(places),
        unread=parsed.unread,
        dated=sent_at(parsed.metadata) if suffix_of(path) in MAIL else None,
    )


def _bytes_of(path: Path) -> bytes:
    """Read a whole file into memory."""
    most_bytes = 10 * MAX_DOCUMENT_BYTES if suffix_of(path) in WITH_PICTURES | IMAGES else MAX_DOCUMENT_BYTES
    try:
        with _opened(path) as stream:
            data = stream.read(most_bytes + 1)
    except OSError as error:
        raise UnreadableFile(f"cannot read {path}", detail=f"{error.strerror or error}.") from error
    if len(data) > most_bytes:
        raise UnreadableFile(
            f"cannot read {path}",
            detail=f"It is larger than {most_bytes // 1_000_000} MB.",
            hint="Split it, for example by chapters. A table with a column of ids may be larger: --field id=COLUMN.",
        )
    return data


def _opened(path: Path) -> IO[bytes]:
    is_packed = suffix_of(path) in _TABLES and path.suffix.lower() == ".gz"
    return cast("IO[bytes]", gzip.open(path) if is_packed else path.open("rb"))
