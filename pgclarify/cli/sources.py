"""The input of load: files, folders, patterns and standard input."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pgclarify.errors import UnreadableFile

if TYPE_CHECKING:
    from typing import BinaryIO

    from pgclarify.data.vocabulary import Document
    from pgclarify.ingest.naming import Name, Naming
    from pgclarify.ingest.records import FieldMapping

STANDARD_INPUT = "-"


class Format(StrEnum):
    """The format of standard input; for files, the name shows it."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    EML = "eml"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"

    @property
    def suffix(self) -> str:
        """The suffix of a file of this format."""
        return {"text": ".txt", "markdown": ".md"}.get(self, f".{self}")

    @property
    def has_records(self) -> bool:
        """Whether it has many documents with their own ids."""
        return self in (Format.JSONL, Format.CSV, Format.TSV)


def expand(given: Sequence[str], on_link_out: Callable[[Path], object] | None = lambda path: None) -> list[Path]:
    """Turn arguments into paths that exist. Patterns that no shell has expanded are expanded, in order of names.

    Args:
        given: Files, folders and patterns (`*`, `?`, `[…]`, and `**` for any depth), without standard input.
        on_link_out: Called for what a pattern finds out of its folder, through a link; it is then left out. None
            follows these links.

    Raises:
        typer.BadParameter: If a file does not exist, or nothing matches a pattern.
    """
    paths: list[Path] = []
    for argument in given:
        path = Path(argument).expanduser()
        # A file name may look like a pattern.
        if path.exists():
            paths.append(path)
        elif found := _matches(str(path)):
            paths.extend(_inside(str(path), found, on_link_out))
        elif glob.has_magic(argument):
            raise typer.BadParameter(f"No file matches {argument!r}.")
        else:
            raise typer.BadParameter(f"There is no {argument!r}.")
    return paths


def _matches(pattern: str) -> list[Path]:
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - it may be absolute
    # `**` finds folders and also their files, which would be read twice. Without it, a pattern may find broken links.
    return [path for path in found if path.is_file()] if "**" in pattern else found


def _inside(pattern: str, found: list[Path], on_link_out: Callable[[Path], object] | None) -> list[Path]:
    """Leave out what is not in the folder of a pattern: the part of the pattern without wildcards."""
    if on_link_out is None:
        return found
    from pgclarify.ingest.folders import leads_out

    folder = Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts)).resolve()
    inside = []
    for path in found:
        if leads_out(path, folder):
            on_link_out(path)
        else:
            inside.append(path)
    return inside


class Sources:
    """Everything to load. It is read twice: first for the names of documents, then completely."""

    def __init__(
        self,
        given: Sequence[str],
        *,
        fields: FieldMapping | None = None,
        naming: Naming | None = None,
        kind: Format | None = None,
        document_id: str | None = None,
        title: str | None = None,
        stdin: BinaryIO | None = None,
        follows_links: bool = False,
    ) -> None:
        """Look for all sources.

        Args:
            given: Files, folders, patterns, and "-" for standard input.
            fields: Which fields of JSON lines, or columns of a table, make up a document; None for the usual ones.
            naming: How documents are named; None for their places.
            kind: The format of standard input; None for plain text.
            document_id: Id of the one document in standard input, unless it has records.
            title: Its title.
            stdin: Standard input, as bytes; None for that of the process.
            follows_links: Whether links in folders may lead out of them.

        Raises:
            typer.BadParameter: If a file does not exist, or the options do not fit the sources.
        """
        from pgclarify.ingest.naming import Naming

        self._naming = naming or Naming()
        self._fields = fields
        self._is_piped = STANDARD_INPUT in given
        self._kind = kind or Format.TEXT
        self._document_id = document_id
        self._title = title
        self._holds_many = self._is_piped and self._kind.has_records
        if not self._is_piped and (kind or document_id or title):
            raise typer.BadParameter("--format, --id and --title are for standard input: give - as a path.")
        if self._is_piped and not self._holds_many and not document_id:
            raise typer.BadParameter(
                "A document from standard input needs an id: add --id, or --format jsonl, csv or tsv."
            )
        if self._holds_many and (document_id or title):
            raise typer.BadParameter("JSON lines, CSV and TSV bring their own ids and titles: omit --id and --title.")
        if self._holds_many and self._naming.source is None:
            raise typer.BadParameter(
                "Lines and rows from standard input have no path: name their source with --as, so that only a later"
                " load under the same name replaces them."
            )
        # Links out of their folders, in the order in which they are found.
        self.links_out: dict[Path, None] = {}
        self._on_link_out = None if follows_links else self._leave_out
        # Look for all of them before reading the first.
        self.paths = expand([argument for argument in given if argument != STANDARD_INPUT], self._on_link_out)
        self._copy = _copied(stdin or sys.stdin.buffer, self) if self._is_piped else None

    def names(self) -> Iterator[Name | UnreadableFile]:
        """Yield the names of the documents, and an error for each file whose names cannot be known."""
        from pgclarify.ingest.files import find_names

        yield from find_names(self.paths, fields=self._fields, naming=self._naming, on_link_out=self._on_link_out)
        if self._is_piped and not self._holds_many:
            yield self._naming.of_piped(self._document_id or "")
            return
        for document in self._piped():
            yield document if isinstance(document, UnreadableFile) else self._naming.of_piped(document.document_id)

    def documents(self, on_skip: Callable[[str], object] = lambda kind: None) -> Iterator[Document | UnreadableFile]:
        """Yield the documents, and an error for everything that could not be read.

        Args:
            on_skip: Called with the kind of each thing that is skipped.
        """
        from pgclarify.ingest.files import read_documents

        yield from read_documents(
            self.paths, fields=self._fields, naming=self._naming, on_skip=on_skip, on_link_out=self._on_link_out
        )
        for document in self._piped(on_skip):
            if isinstance(document, UnreadableFile):
                yield document
            else:
                yield self._naming.of_piped(document.document_id).given_to(document)

    def whole(self) -> list[str]:
        """Return prefixes of the origins of all documents that these sources ever had.

        Raises:
            typer.BadParameter: If a file with a single document is given, for which this makes no sense.
        """
        from pgclarify.ingest.files import holds_many

        if not all(path.is_dir() or holds_many(path) for path in self.paths) or self._is_piped > self._holds_many:
            raise typer.BadParameter(
                "--mirror takes folders, JSON lines, CSV and TSV: name the folder instead of its files."
            )
        found = {
            self._naming.folder(path) if path.is_dir() else self._naming.file(path, path.parent) for path in self.paths
        }
        everything = found | {self._naming.pipe()} if self._is_piped else found
        return sorted(
            one for one in everything if not any(one != other and one.startswith(other) for other in everything)
        )

    def _leave_out(self, link: Path) -> None:
        self.links_out[link] = None

    def _piped(self, on_skip: Callable[[str], object] = lambda kind: None) -> Iterator[Document | UnreadableFile]:
        from pgclarify.ingest.files import read_stream

        if self._copy is None:
            return
        with self._copy.open("rb") as stream:
            yield from read_stream(
                stream,
                self._kind.suffix,
                name="standard input",
                document_id=self._document_id,
                title=self._title,
                fields=self._fields,
                on_skip=on_skip,
            )


def _copied(stream: BinaryIO, owner: Sources) -> Path:
    """Copy standard input to disk, because a pipe can be read only once. The copy is removed with its owner."""
    with tempfile.NamedTemporaryFile(prefix="pgclarify-", delete=False) as copy:
        weakref.finalize(owner, os.unlink, copy.name)
        shutil.copyfileobj(stream, copy)
    return Path(copy.name)
