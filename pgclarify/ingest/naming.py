"""What a file is called: the id of its document, and its origin, by which the next load knows it again.

An origin is machine:/folder/file, the folder without symbolic links: however a file or its folder was named, its origin
is the same. A source that has a name of its own has that in place of machine and folder. `#` and an id follow for one
of several documents in a file.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote_from_bytes

from pgclarify.errors import InputError
from pgclarify.vocabulary import Document

# PostgreSQL keeps origins of up to 2600 bytes in an index.
_MOST_BYTES = 2000
_MOST_SOURCE_CHARS = 500
# Standard input that has no name.
_PIPE = "-"
# Control characters, "#", which divides, "%", which escapes, and bytes that are no UTF-8, as Python spells them.
_SPECIAL = re.compile("[\x00-\x1f\x7f#%\ud800-\udfff]")
_NOT_IN_SOURCE = re.compile("[\x00-\x1f\x7f#\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Name:
    """What one document is called.

    Attributes:
        document_id: Its id, unless its file is known and has another one.
        origin: The file that it comes from.
        part: What follows the name of the source in the origin.
        known_as: Another origin of the same file; None if there is none.
    """

    document_id: str
    origin: str
    part: str
    known_as: str | None = None

    def given_to(self, document: Document) -> Document:
        """The document, so named."""
        return replace(document, document_id=self.document_id, origin=self.origin, known_as=self.known_as)


@dataclass(frozen=True, slots=True)
class Naming:
    """How a load names what it finds.

    Attributes:
        source: Name of the source, wherever its folder is; None: machine and folder.
        prefix: What stands before the id of each document that is new.

    Raises:
        InputError: If the source cannot have that name.
    """

    source: str | None = None
    prefix: str = ""

    def __post_init__(self) -> None:
        """Refuse a name that could be mistaken for part of an origin."""
        name = self.source
        if name is None:
            return
        if not 0 < len(name) <= _MOST_SOURCE_CHARS or _NOT_IN_SOURCE.search(name) or name in (_PIPE, "/"):
            raise InputError(
                "a source cannot have that name",
                detail=f"It is {name[:_MOST_SOURCE_CHARS]!a}.",
                hint=f"Give it a name of 1 to {_MOST_SOURCE_CHARS} characters, without # and control characters.",
            )

    def of_file(self, document_id: str, path: Path, base: Path) -> Name:
        """Name the one document of a file.

        Args:
            document_id: Its id without a prefix.
            path: The file.
            base: The folder that ids are relative to.
        """
        return self._of(document_id, path, base, "")

    def of_record(self, document_id: str, path: Path, base: Path) -> Name:
        """Name one of several documents of a file."""
        return self._of(document_id, path, base, f"#{document_id}")

    def of_piped(self, document_id: str) -> Name:
        """Name a document of standard input: its source is its name, or standard input as such."""
        part = f"#{document_id}"
        return Name(self.prefix + document_id, _bounded(f"{self.source or _PIPE}{part}"), part)

    def folder(self, path: Path) -> str:
        """What the origins of all files below a folder begin with."""
        return f"{_place(path.resolve()) if self.source is None else self.source}/"

    def file(self, path: Path, base: Path) -> str:
        """What the origins of all documents of a file begin with."""
        return f"{self.of_file('', path, base).origin}#"

    def pipe(self) -> str:
        """What the origins of all documents of standard input begin with."""
        return f"{self.source or _PIPE}#"

    def _of(self, document_id: str, path: Path, base: Path, record: str) -> Name:
        # Not the file itself: a link in a folder is a name of its own, and what it leads to may change.
        there = _bounded(_place(path.parent.resolve() / path.name) + record)
        part = f"/{_escaped(Path(os.path.relpath(path, base)).as_posix())}{record}"
        if self.source is None:
            return Name(self.prefix + document_id, there, part)
        return Name(self.prefix + document_id, _bounded(f"{self.source}{part}"), part, there)


def _place(path: Path) -> str:
    return f"{_escaped(socket.gethostname())}:{_escaped(path.as_posix()).rstrip('/')}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: quote_from_bytes(found[0].encode("utf-8", "surrogateescape"), safe=""), text)


def _bounded(origin: str) -> str:
    data = origin.encode()
    if len(data) <= _MOST_BYTES:
        return origin
    return f"{data[: _MOST_BYTES - 100].decode(errors='ignore')}...{hashlib.sha256(data).hexdigest()}"
