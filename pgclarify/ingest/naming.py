"""Names of files: the id of a document, and its origin, by which the next load recognizes it.

An origin is machine:/folder/file, without symbolic links in the folder, or an address. So a file has one origin,
however it or its folder was named. A named source has its name instead of machine and folder. If a file has several
documents, `#` and an id follow. The id is in composed form (NFC), and the origin has the name as the file system spells
it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from urllib.parse import quote, quote_from_bytes

from pgclarify.data.vocabulary import Document
from pgclarify.errors import InputError
from pgclarify.ingest.addresses import AddressedFile
from pgclarify.ingest.folders import LocalFile
from pgclarify.language.normalization import normalized_id

# PostgreSQL can index origins of up to 2600 bytes.
_MOST_BYTES = 2000
_MOST_SOURCE_CHARS = 500
# Control characters; "#", the separator; "%", the escape; and bytes that are not UTF-8, in Python's spelling.
_SPECIAL = re.compile("[\x00-\x1f\x7f#%\ud800-\udfff]")
_NOT_IN_SOURCE = re.compile("[\x00-\x1f\x7f#\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Name:
    """The name of one document.

    Attributes:
        document_id: Its id, unless its file is known under another one.
        origin: The file that it comes from.
    """

    document_id: str
    origin: str

    def of_member(self, member: str) -> Name:
        """Return the name of an attachment, or of a member of an archive; this name if the path is empty."""
        if not member:
            return self
        return Name(normalized_id(f"{self.document_id}!{member}"), _bounded(f"{self.origin}#{_escaped(member)}"))

    def given_to(self, document: Document) -> Document:
        """Return the document with this name."""
        return replace(document, document_id=self.document_id, origin=self.origin)


@dataclass(frozen=True, slots=True)
class Naming:
    """How a load names documents.

    Attributes:
        source: Name of the source, for any place of its folder; None for machine and folder.
        prefix: Prefix of the ids of new documents.
        base_url: Address of the folder, by which each file has one; None if it has none.

    Raises:
        InputError: If the source cannot have that name.
    """

    source: str | None = None
    prefix: str = ""
    base_url: str | None = None

    def __post_init__(self) -> None:
        """Refuse a name that could be confused with a part of an origin."""
        name = self.source
        if name is None:
            return
        if not 0 < len(name) <= _MOST_SOURCE_CHARS or _NOT_IN_SOURCE.search(name) or name == "/":
            raise InputError(
                "the name of the source is invalid",
                detail=f"It is {name[:_MOST_SOURCE_CHARS]!a}.",
                hint=f"Give it a name of 1 to {_MOST_SOURCE_CHARS} characters, without # and control characters.",
            )

    def of_file(self, file: LocalFile | AddressedFile) -> Name:
        """Name the one document of a file."""
        return Name(normalized_id(self.prefix + file.relative), _bounded(self._origin(file)))

    def of_record(self, document_id: str, file: LocalFile | AddressedFile) -> Name:
        """Name one of several documents of a file, by its id without a prefix."""
        return Name(normalized_id(self.prefix + document_id), _bounded(f"{self._origin(file)}#{document_id}"))

    def uri_of(self, file: LocalFile | AddressedFile) -> str | None:
        """Return where people find a file; None if that is unknown."""
        if self.base_url is None:
            return file.uri
        return f"{self.base_url.rstrip('/')}/{quote(file.relative)}"

    def origin_of(self, file: LocalFile | AddressedFile) -> str:
        """Return the origin of a file, or the beginning of the origins of all files below a folder, without a slash."""
        if self.source is not None and file.relative in ("", "."):
            return self.source
        return _bounded(self._origin(file))

    def all_below(self, place: str) -> str:
        """Return the beginning of the origins of all files below a folder."""
        return f"{_escaped(place) if self.source is None else self.source}/"

    def all_of(self, file: LocalFile | AddressedFile) -> str:
        """Return the beginning of the origins of all documents of a file."""
        return f"{_bounded(self._origin(file))}#"

    def _origin(self, file: LocalFile | AddressedFile) -> str:
        return _escaped(file.place) if self.source is None else f"{self.source}/{_escaped(file.relative)}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: quote_from_bytes(found[0].encode("utf-8", "surrogateescape"), safe=""), text)


def _bounded(origin: str) -> str:
    data = origin.encode()
    if len(data) <= _MOST_BYTES:
        return origin
    return f"{data[: _MOST_BYTES - 100].decode(errors='ignore')}...{hashlib.sha256(data).hexdigest()}"
