"""Parses one file to text, by the kind that its name shows; with its attachments, or the members of an archive."""

from __future__ import annotations

import re
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest.archives import ARCHIVES, Member, members
from pgclarify.ingest.asciidoc import read_asciidoc
from pgclarify.ingest.docbook import SUFFIXES as DOCBOOK
from pgclarify.ingest.docbook import is_docbook, read_docbook
from pgclarify.ingest.epub import read_epub
from pgclarify.ingest.folders import suffix_of
from pgclarify.ingest.headings import find_headings
from pgclarify.ingest.mail import attached, read_mail
from pgclarify.ingest.markdown import read_markdown
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.odf import read_odf
from pgclarify.ingest.office import COMPOUND_FILE, SLIDES, read_office, read_picture
from pgclarify.ingest.outlook import outlook_to_mail
from pgclarify.ingest.parsed import Parsed, Unreadable
from pgclarify.ingest.pdf import read_pdf
from pgclarify.ingest.restructured import read_restructured
from pgclarify.ingest.scans import IMAGES, Ocr
from pgclarify.ingest.spreadsheets import read_ods, read_xls, read_xlsx
from pgclarify.ingest.tables import read_whole_table
from pgclarify.ingest.text import decode_any, decode_html, too_long
from pgclarify.language.foreign_text import unstorable
from pgclarify.language.normalization import normalized

TEXT = frozenset({".txt", ".text"})
HTML = frozenset({".html", ".htm", ".xhtml"})
PDF = frozenset({".pdf"})
TABLES = frozenset({".csv", ".tsv"})
EPUB = frozenset({".epub"})
OUTLOOK = frozenset({".msg"})
MAIL = OUTLOOK | {".eml"}
OFFICE = SLIDES | {".xlsb", ".docx", ".docm", ".dotx", ".doc", ".odt", ".rtf"}
# Readers of decoded text, and of bytes.
_OF_TEXT: Final[Mapping[str, Callable[[str], Parsed]]] = {
    **dict.fromkeys(TEXT, partial(Parsed, None)),
    **dict.fromkeys((".md", ".markdown", ".mdx"), read_markdown),
    **dict.fromkeys((".adoc", ".asciidoc"), read_asciidoc),
    ".rst": read_restructured,
    **dict.fromkeys(HTML, read_html),
    ".csv": read_whole_table,
    ".tsv": partial(read_whole_table, delimiter="\t"),
}
_OF_BYTES: Final[Mapping[str, Callable[[bytes], Parsed]]] = {
    **dict.fromkeys(DOCBOOK, read_docbook),
    ".epub": read_epub,
    **dict.fromkeys((".xlsx", ".xlsm"), read_xlsx),
    ".xls": read_xls,
    ".ods": read_ods,
    ".odt": partial(read_odf, kind="text"),
    ".odp": partial(read_odf, kind="presentation"),
    ".eml": read_mail,
    ".msg": lambda data: read_mail(outlook_to_mail(data)),
}
CONTAINERS = MAIL | ARCHIVES
# Files with pictures or attachments, which are larger than their text.
WITH_PICTURES = PDF | OFFICE | ARCHIVES | _OF_BYTES.keys() - DOCBOOK
_IN_CONTAINERS = _OF_TEXT.keys() | _OF_BYTES.keys() | WITH_PICTURES
PARSED = _IN_CONTAINERS - TABLES
# Archives in archives.
_MOST_DEPTH = 3
_PRIVATE: Final = re.compile("(?<=\\w)[\ue000-\uf01f\uf100-\uf8ff]|[\ue000-\uf01f\uf100-\uf8ff](?=\\w)")
# What libraries advise to programs that call them.
_ADVICE: Final = re.compile(r",? (?:see xml|use XML_)\w+(?: option)?\.?")
# A part of encrypted files of Office 2007 and later.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def parse(data: bytes, suffix: str, name: str, ocr: Ocr | None = None) -> list[Parsed]:
    """Parse one file to text.

    Args:
        data: The file.
        suffix: Of its name.
        name: Its name in errors.
        ocr: How pictures and scanned pages are read; None to leave them out.

    Returns:
        Its document, and those of its attachments or members; an archive itself has a document without text. What
        cannot be read of them is counted in the first document.

    Raises:
        MissingReader: If the kind of file needs an extra that is not installed.
        UnreadableFile: If it is not what its suffix says, or is too long.
    """
    if suffix not in CONTAINERS:
        return [_parse(data, suffix, name, ocr)]
    own = _parse(data, suffix, name, ocr) if suffix in MAIL else Parsed(None, "")
    unread: Counter[str] = Counter(own.unread)
    found = list(_members(data, suffix, name, ocr, unread, depth=1))
    shared = {key: value for key, value in own.metadata.items() if key != "attachments"}
    if not own.content.strip() and not found:
        reasons = ", ".join(f"{number} {kind}" for kind, number in unread.items())
        raise UnreadableFile(f"cannot read {name}", detail=f"It has no text{f': {reasons}' if reasons else ''}.")
    return [
        replace(own, unread=dict(+unread)),
        # A message in another one is of another sender and date.
        *(one if is_mail(one.member) else replace(one, metadata={**shared, **one.metadata}) for one in found),
    ]


def is_mail(path: str) -> bool:
    """Whether a path is that of a message."""
    return suffix_of(PurePosixPath(path)) in MAIL


def member_names(data: bytes, suffix: str, name: str, ocr: Ocr | None = None) -> list[str]:
    """Return the paths of the attachments or members that may have a document, without reading them."""
    try:
        return [path for path, _, _ in _unpacked(data, suffix, Counter(), ocr, depth=1)]
    except MemoryError:
        raise
    except Exception as error:
        raise _broken(data, suffix, name, error) from error


def _members(
    data: bytes, suffix: str, name: str, ocr: Ocr | None, unread: Counter[str], *, depth: int
) -> Iterator[Parsed]:
    try:
        unpacked = list(_unpacked(data, suffix, unread, ocr, depth=depth))
    except MemoryError:
        raise
    except Exception as error:
        raise _broken(data, suffix, name, error) from error
    for path, member_suffix, content in unpacked:
        try:
            parsed = _parse(content, member_suffix, f"{name}!{path}", ocr)
        except MissingReader:
            raise
        except UnreadableFile:
            unread[f"unreadable {_member_kind(suffix)} ({member_suffix})"] += 1
            continue
        if parsed.content.strip():
            yield replace(parsed, member=path, title=parsed.title or PurePosixPath(path).stem)
        else:
            unread.update(parsed.unread)


def _unpacked(
    data: bytes, suffix: str, unread: Counter[str], ocr: Ocr | None, *, depth: int
) -> Iterator[tuple[str, str, bytes]]:
    """Yield path, suffix and bytes of each member that a reader handles, also of archives and mail in it."""
    kind = _member_kind(suffix)
    seen: Counter[str] = Counter()
    for member in _files_in(data, suffix, unread):
        member_suffix = suffix_of(Path(member.path))
        is_read = member_suffix in (_IN_CONTAINERS | IMAGES if ocr else _IN_CONTAINERS)
        if not is_read or (member_suffix in DOCBOOK and not is_docbook(member.data)):
            unread[f"{kind} ({member_suffix or 'without an extension'})"] += 1
            continue
        seen[member.path] += 1
        # A message may have two attachments of one name.
        path = member.path if seen[member.path] == 1 else f"{member.path} ({seen[member.path]})"
        if member_suffix not in ARCHIVES:
            yield path, member_suffix, member.data
        if member_suffix not in CONTAINERS:
            continue
        if depth >= _MOST_DEPTH:
            unread["archive in an archive"] += 1
            continue
        try:
            for inner, inner_suffix, content in _unpacked(member.data, member_suffix, unread, ocr, depth=depth + 1):
                yield f"{path}!{inner}", inner_suffix, content
        except (OSError, zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError):
            unread[f"broken {kind} ({member_suffix})"] += 1


def _files_in(data: bytes, suffix: str, unread: Counter[str]) -> Iterator[Member]:
    if suffix not in MAIL:
        return members(data, suffix, unread)
    return attached(outlook_to_mail(data) if suffix in OUTLOOK else data)


def _member_kind(suffix: str) -> str:
    return "attachment" if suffix in MAIL else "member"


def _parse(data: bytes, suffix: str, name: str, ocr: Ocr | None) -> Parsed:
    try:
        parsed = _read(data, suffix, ocr)
    except ImportError as error:
        raise MissingReader(
            f"cannot read {name}",
            detail=f"Reading {_kind(suffix)} needs the package {error.name or 'of its reader'}, which is not"
            " installed.",
            hint="Run: pip install 'pgclarify[files]'",
        ) from error
    except Unreadable as problem:
        raise UnreadableFile(f"cannot read {name}", detail=problem.detail, hint=problem.hint) from problem
    except MemoryError:
        raise
    except Exception as error:
        # A broken file can raise anything in the libraries. The files after it must still be read.
        raise _broken(data, suffix, name, error) from error
    # Its parts with places are normalized already, so that their offsets stay right.
    parsed = replace(parsed, content=normalized(parsed.content))
    # Fonts have letters of their own there, of which the file does not say what they are; F020 to F0FF are symbols.
    if private := len(_PRIVATE.findall(parsed.content)):
        parsed = replace(parsed, unread={**parsed.unread, "unreadable letter": private})
    # A character reference can stand for a character that the file itself does not contain.
    reason = too_long(len(parsed.content)) or unstorable(parsed.content + (parsed.title or ""))
    if reason:
        raise UnreadableFile(f"cannot read {name}", detail=reason)
    if not parsed.content and suffix in OFFICE | EPUB | IMAGES:
        raise UnreadableFile(f"cannot read {name}", detail="It has no text: it is empty, or has only pictures.")
    if parsed.title is None and suffix not in PDF | MAIL:
        headings = find_headings(parsed.content)
        most = 2 if suffix in SLIDES else 1
        return replace(parsed, title=next((one.text for one in headings if one.level <= most), None))
    return parsed


def _broken(data: bytes, suffix: str, name: str, error: Exception) -> UnreadableFile:
    kind = _kind(suffix)
    if data.startswith(COMPOUND_FILE) and _ENCRYPTED in data:
        return UnreadableFile(
            f"cannot read {name}", detail="It is encrypted.", hint=f"Save a copy as {kind}, without a password."
        )
    if isinstance(error, RecursionError):
        return UnreadableFile(f"cannot read {name}", detail="Its content, or its front matter, is nested too deeply.")
    # The text of a syntax error ends with a file, which here is "<string>".
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    reason = _ADVICE.sub("", " ".join(text.split())).rstrip(".") or type(error).__name__
    return UnreadableFile(f"cannot read {name}", detail=f"It is no {kind} file, or a broken one: {reason}.")


def _kind(suffix: str) -> str:
    return suffix.removeprefix(".").upper()


def _read(data: bytes, suffix: str, ocr: Ocr | None) -> Parsed:
    if suffix in PDF:
        return read_pdf(data, ocr)
    if suffix in IMAGES and ocr is not None:
        return read_picture(data, suffix, ocr)
    if suffix in _OF_BYTES:
        return _OF_BYTES[suffix](data)
    if suffix in OFFICE:
        return read_office(data, suffix)
    content, unread = decode_html(data) if suffix in HTML else decode_any(data)
    return replace(_OF_TEXT[suffix](content), unread=unread)
