"""What load reads: files, folders, patterns and standard input."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from typing import BinaryIO

    from pgclarify.errors import UnreadableFile
    from pgclarify.ingest.records import FieldMapping
    from pgclarify.model import Document

STANDARD_INPUT = "-"


class Format(StrEnum):
    """What standard input holds; a file says so by its name."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    JSONL = "jsonl"

    @property
    def suffix(self) -> str:
        """The suffix of a file that holds the same."""
        return {"text": ".txt", "markdown": ".md"}.get(self, f".{self}")


def expand(given: Sequence[str]) -> list[Path]:
    """Turn arguments into paths that exist; patterns that no shell has expanded are expanded here, in order of names.

    Args:
        given: Files, folders and patterns (`*`, `?`, `[…]`, and `**` for any depth), without standard input.

    Raises:
        typer.BadParameter: If there is no such file, or nothing fits a pattern.
    """
    paths: list[Path] = []
    for argument in given:
        path = Path(argument).expanduser()
        # A file may be called what looks like a pattern.
        if path.exists():
            paths.append(path)
        elif found := _matches(str(path)):
            paths.extend(found)
        elif glob.has_magic(argument):
            raise typer.BadParameter(f"No file fits {argument!r}.")
        else:
            raise typer.BadParameter(f"There is no {argument!r}.")
    return paths


def _matches(pattern: str) -> list[Path]:
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - it may be absolute
    # `**` finds folders and what is in them, which would be read twice; without it, it can find what is not there.
    return [path for path in found if path.is_file()] if "**" in pattern else found


def read(
    given: Sequence[str],
    *,
    fields: FieldMapping,
    kind: Format | None = None,
    document_id: str | None = None,
    title: str | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[Document | UnreadableFile]:
    """Read all that was given, as a stream.

    Args:
        given: Files, folders, patterns, and "-" for standard input.
        fields: Which fields of JSON lines make up a document.
        kind: What standard input holds; None: plain text.
        document_id: Id of the one document in standard input, unless that is JSON lines.
        title: Its title.
        stdin: Standard input, as bytes; None: the process's own.

    Raises:
        typer.BadParameter: If there is no such file, or the options do not fit what was given.
    """
    from pgclarify.ingest.readers import read_documents, read_stream

    is_piped = STANDARD_INPUT in given
    is_one_document = is_piped and kind is not Format.JSONL
    if not is_piped and (kind or document_id or title):
        raise typer.BadParameter("--format, --id and --title are for standard input: give - as a path.")
    if is_one_document and not document_id:
        raise typer.BadParameter("A document from standard input needs an id: add --id, or --format jsonl.")
    if is_piped and not is_one_document and (document_id or title):
        raise typer.BadParameter("JSON lines bring their own ids and titles: leave --id and --title out.")
    # All are looked for before the first is read.
    files = read_documents(expand([argument for argument in given if argument != STANDARD_INPUT]), fields=fields)
    if not is_piped:
        return files
    piped = read_stream(
        stdin or sys.stdin.buffer,
        (kind or Format.TEXT).suffix,
        name="standard input",
        document_id=document_id,
        title=title,
        fields=fields,
    )
    return chain(files, piped)
