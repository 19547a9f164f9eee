"""Reads files and folders as documents; the kind of a file is known by its name."""

from __future__ import annotations

import atexit
import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any, Final, cast

from pgclarify.data.vocabulary import Document, PlaceKind
from pgclarify.declared.documents import TEXTS
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.addresses import Address, AddressedFile, Location, Members
from pgclarify.ingest.apart import ParsingProcess
from pgclarify.ingest.archives import ARCHIVES
from pgclarify.ingest.docbook import SUFFIXES as DOCBOOK
from pgclarify.ingest.docbook import is_docbook
from pgclarify.ingest.folders import LocalFile, Unlisted, find_files, place_of, suffix_of
from pgclarify.ingest.mail import sent_at
from pgclarify.ingest.naming import Name, Naming
from pgclarify.ingest.parsed import Parsed
from pgclarify.ingest.parsing import CONTAINERS, PARSED, TABLES, TEXT, WITH_PICTURES, is_mail, parse
from pgclarify.ingest.records import FieldMapping, RecordReader, read_record_stream
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
# So far, the kind of an XML file is looked for.
_HEAD_BYTES = 65_536

_apart = ParsingProcess()
atexit.register(_apart.close)


def read_documents(
    paths: Iterable[Location],
    *,
    fields: FieldMapping | None = None,
    naming: Naming | None = None,
    on_skip: Callable[[str], object] = lambda kind: None,
    on_unread: Callable[[str, Mapping[str, int]], object] = lambda document_id, unread: None,
    ocr: Ocr | None = None,
    follows_links: bool = False,
) -> Iterator[Document | UnreadableFile]:
    """Read documents from files and folders, as a stream, on this machine or at addresses.

    Text, Markdown, HTML, PDF, office and mail files are one document each. Its id is its path below the given folder,
    in POSIX form; for a single file, its name. An attachment of mail, or a member of an archive, is a document of its
    own: `offer.eml!prices.pdf`. In JSON lines each line is a document, and so is each row of a CSV or TSV file with a
    column of ids; without one, the whole table is one document. A file that is found twice is read once.
    In folders, hidden files and folders are skipped, and links to files that are not in the folder.

    Args:
        paths: Files, folders and members of archives. Folders are read recursively, in the order of names; links to
            folders are skipped.
        fields: Which fields of JSON lines, or columns of a table, make up a document; None for the usual ones.
        naming: Prefix of ids and name of the source; None for no prefix, and the place as source.
        on_skip: Called for everything that is skipped without an error, with its kind: a file with a suffix that no
            reader handles (".png"), an empty file, a link to a folder, a link out of the folder.
        on_unread: Called for each file that has something that is not read, such as pictures: with its id, and the
            number of each kind. For a file of records, such as a table whose encoding is guessed, with its name, once.
        ocr: How pictures and scanned pages are read; None to leave them out.
        follows_links: Whether links to files may lead out of their folder.

    Yields:
        Documents; and for each file, line or row that could not be read, an UnreadableFile, in its place. It is
        yielded, not raised, so that one bad file does not lose the rest. It is a MissingReader if an extra is missing.
    """
    for found in _named(paths, fields, naming, on_skip, on_unread, ocr, follows_links):
        if isinstance(found, UnreadableFile):
            yield found
            continue
        name, source, below = found
        if isinstance(source, Document):
            yield name.given_to(source)
            continue
        try:
            # The archive itself says what of it is not read.
            parsed = [one for one in _parse_file(source, ocr) if not one.member or _is_below(one.member, below)]
            if below and not any(one.content.strip() for one in parsed):
                raise UnreadableFile(f"cannot read {source}", detail=f"It has no document below {below}.")
        except UnreadableFile as problem:
            problem.origin = name.origin
            yield problem
            continue
        if not any(one.content.strip() for one in parsed):
            on_skip("empty file")
        for one in parsed:
            own_name = name.of_member(one.member)
            if one.unread:
                on_unread(own_name.document_id, one.unread)
            if one.content.strip():
                uri = None if one.member else (naming or Naming()).uri_of(source)
                yield own_name.given_to(_document(one, source, uri))


def find_names(
    paths: Iterable[Location],
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
    for found in _named(paths, fields, naming, lambda kind: None, lambda name, unread: None, ocr, follows_links):
        if isinstance(found, UnreadableFile):
            yield found
            continue
        name, source, below = found
        if _is_below("", below):
            yield name
        if not isinstance(source, Document) and _suffix(source) in CONTAINERS:
            try:
                members = _apart.member_names(_bytes_of(source), _suffix(source), source.place, ocr)
            except UnreadableFile as problem:
                problem.origin = name.origin
                yield problem
                continue
            yield from (name.of_member(member) for member in members if _is_below(member, below))


def all_origins(given: Location, naming: Naming) -> str | None:
    """Return the beginning of the origins of all documents that a folder, or a file of many documents, ever had.

    None for a file of one document, and for members of an archive.

    Raises:
        UnreadableFile: If an address cannot be read.
    """
    file: LocalFile | AddressedFile
    if isinstance(given, Members):
        return None
    if isinstance(given, Address):
        if given.is_folder:
            return naming.all_below(str(given))
        file = given.file
    else:
        if given.is_dir():
            return naming.all_below(place_of(given.resolve()))
        file = LocalFile(given, given.parent)
    return naming.all_of(file) if _suffix(file) in _RECORDS.keys() | ARCHIVES else None


def _named(
    paths: Iterable[Location],
    fields: FieldMapping | None,
    naming: Naming | None,
    on_skip: Callable[[str], object],
    on_unread: Callable[[str, Mapping[str, int]], object],
    ocr: Ocr | None,
    follows_links: bool,
) -> Iterator[tuple[Name, Document | LocalFile | AddressedFile, str] | UnreadableFile]:
    """Yield the name of each document once, with the document if it is a record, else with its file.

    The third is the path of the members that are read of an archive; empty for all.
    """
    names, mapping = naming or Naming(), fields or FieldMapping()
    suffixes = SUPPORTED_SUFFIXES | IMAGES if ocr else SUPPORTED_SUFFIXES
    # The folders that are given may overlap.
    seen: set[tuple[str, str]] = set()
    for given in paths:
        source, below = (given.archive, given.below) if isinstance(given, Members) else (given, "")
        found: Iterator[LocalFile | AddressedFile | Unlisted] = (
            source.find_files(suffixes, on_skip)
            if isinstance(source, Address)
            else find_files(source, suffixes, on_skip, follows_links)
        )
        for file in found:
            if isinstance(file, Unlisted):
                file.reason.origin = names.origin_of(file.folder)
                yield file.reason
                continue
            if (file.place, below) in seen:
                continue
            seen.add((file.place, below))
            try:
                if reason := unstorable(file.relative):
                    raise UnreadableFile(
                        f"cannot use {str(file)!a}", detail=f"Its name is not UTF-8. {reason}", hint="Rename it."
                    )
                # An empty PDF, in contrast, is a broken file.
                if file.is_empty() and _suffix(file) not in WITH_PICTURES:
                    on_skip("empty file")
                elif _suffix(file) in DOCBOOK and not _is_docbook(file):
                    on_skip(_suffix(file))
                elif _suffix(file) in _RECORDS and _has_records(file, mapping):
                    is_reported = False
                    for record in _records(file, mapping):
                        if isinstance(record, UnreadableFile):
                            record.origin = names.origin_of(file)
                            if record.document_id is not None:
                                record.origin = names.of_record(record.document_id, file).origin
                            yield record
                            continue
                        if record.unread and not is_reported:
                            on_unread(names.of_file(file).document_id, record.unread)
                            is_reported = True
                        yield names.of_record(record.document_id, file), record, below
                else:
                    yield names.of_file(file), file, below
            except UnreadableFile as problem:
                problem.origin = names.origin_of(file)
                yield problem


def _records(file: LocalFile | AddressedFile, mapping: FieldMapping) -> Iterator[Document | UnreadableFile]:
    # An id such as 2 does not tell people where to look. The number of a line would change with each line above it.
    noun = "row" if _suffix(file) in _TABLES else "line"
    place = {"start_char": 0, "kind": PlaceKind.ROW, "name": f"{noun} of {PurePosixPath(file.relative).name}"}
    with _opened(file) as stream:
        for record in _RECORDS[_suffix(file)](stream, str(file), mapping):
            yield replace(record, places=(place,)) if isinstance(record, Document) else record


def _is_below(member: str, path: str) -> bool:
    return not path or member == path or member.startswith((f"{path}/", f"{path}!"))


def _suffix(file: LocalFile | AddressedFile) -> str:
    return suffix_of(PurePosixPath(file.relative))


def _has_records(file: LocalFile | AddressedFile, fields: FieldMapping) -> bool:
    """Whether each line or row of a file is a document; otherwise it is a table without ids."""
    if _suffix(file) not in _TABLES:
        return True
    with _opened(file) as stream:
        return has_ids(stream, fields)


def _is_docbook(file: LocalFile | AddressedFile) -> bool:
    """Whether a file is DocBook. Most other XML is no text for people."""
    with _opened(file) as stream:
        return is_docbook(stream.read(_HEAD_BYTES))


def _parse_file(file: LocalFile | AddressedFile, ocr: Ocr | None) -> list[Parsed]:
    suffix = _suffix(file)
    if suffix in IMAGES and ocr is None:
        raise UnreadableFile(
            f"cannot read {file}",
            detail="It is a picture.",
            hint="Read its text by text recognition: --ocr eng, or another language.",
        )
    if suffix not in SUPPORTED_SUFFIXES | IMAGES:
        raise UnreadableFile(
            f"cannot read {file}",
            detail=f"Nothing reads {suffix or 'a name without an extension'}.",
            hint=f"Supported are: {', '.join(sorted(SUPPORTED_SUFFIXES))}.",
        )
    data = _bytes_of(file)
    # Plain text needs only decoding.
    if suffix in TEXT:
        return parse(data, suffix, str(file))
    # A packed table; other packed files, such as .tar.gz, are archives.
    return _apart.parse(data, suffix.removesuffix(".gz") if suffix in _TABLES else suffix, str(file), ocr)


def _document(parsed: Parsed, file: LocalFile | AddressedFile, uri: str | None) -> Document:
    # A citation of a very long table says only its sheet, because all places are read for it.
    is_long = len(parsed.places) > _MOST_PLACES
    places = [asdict(place) for place in parsed.places if not is_long or place.kind != "row"]
    return Document(
        document_id=file.relative,
        content=parsed.content,
        title=parsed.title or PurePosixPath(file.relative).stem,
        uri=uri,
        metadata=parsed.metadata,
        places=tuple(places),
        unread=parsed.unread,
        found_in=f"{file}!{parsed.member}" if parsed.member else str(file),
        dated=sent_at(parsed.metadata) if is_mail(file.relative) or is_mail(parsed.member) else None,
        **_described(parsed.metadata),
    )


def _described(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a document that its file says itself."""
    found: dict[str, Any] = {}
    for field in TEXTS:
        told = next((metadata[key] for key in field.described_by if metadata.get(key)), None)
        names = told if isinstance(told, list) else [told]
        if texts := [name for name in names if isinstance(name, str)]:
            found[field.name] = ", ".join(texts)
    return found


def _bytes_of(file: LocalFile | AddressedFile) -> bytes:
    """Read a whole file into memory."""
    most_bytes = 10 * MAX_DOCUMENT_BYTES if _suffix(file) in WITH_PICTURES | IMAGES else MAX_DOCUMENT_BYTES
    with _opened(file) as stream:
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise UnreadableFile(
            f"cannot read {file}",
            detail=f"It is larger than {most_bytes // 1_000_000} MB.",
            hint="Split it, for example by chapters. A table with a column of ids may be larger: --field id=COLUMN.",
        )
    return data


@contextmanager
def _opened(file: LocalFile | AddressedFile) -> Iterator[IO[bytes]]:
    """Open a file, and unpack it if it is a packed table or file of records.

    Raises:
        UnreadableFile: If opening or reading it fails.
    """
    try:
        with file.open() as stream:
            is_packed = _suffix(file) in _RECORDS and _suffix(file).endswith(".gz")
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=stream)) if is_packed else stream
    except OSError as error:
        raise UnreadableFile(f"cannot read {file}", detail=f"{error.strerror or error}.") from error
