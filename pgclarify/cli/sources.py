"""The input of load: files, folders and patterns."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile

if TYPE_CHECKING:
    from pgclarify.ingest.naming import Name, Naming
    from pgclarify.ingest.records import FieldMapping


def expand(given: Sequence[str], skipped: Counter[str], *, follows_links: bool = False) -> list[Path]:
    """Turn arguments into paths that exist. Patterns that no shell has expanded are expanded, in order of names.

    Args:
        given: Files, folders and patterns (`*`, `?`, `[…]`, and `**` for any depth).
        skipped: Counts what is left out, by its kind.
        follows_links: Whether links that a pattern finds may lead out of its folder.

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
            paths.extend(found if follows_links else _inside(str(path), found, skipped))
        elif glob.has_magic(argument):
            raise typer.BadParameter(f"No file matches {argument!r}.")
        else:
            raise typer.BadParameter(f"There is no {argument!r}.")
    return paths


def _matches(pattern: str) -> list[Path]:
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - it may be absolute
    # `**` finds folders and also their files, which would be read twice. Without it, a pattern may find broken links.
    return [path for path in found if path.is_file()] if "**" in pattern else found


def _inside(pattern: str, found: list[Path], skipped: Counter[str]) -> list[Path]:
    """Leave out what is not in the folder of a pattern: the part of the pattern without wildcards."""
    from pgclarify.ingest.folders import LINK_OUT, leads_out

    folder = Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts)).resolve()
    inside = [path for path in found if not leads_out(path, folder)]
    skipped.update([LINK_OUT] * (len(found) - len(inside)))
    return inside


class Sources:
    """Everything to load. It is read twice: first for the names of documents, then completely.

    Attributes:
        paths: Files and folders.
        skipped: How many things were skipped so far, by kind.
    """

    def __init__(
        self,
        given: Sequence[str],
        *,
        fields: FieldMapping | None = None,
        naming: Naming | None = None,
        follows_links: bool = False,
    ) -> None:
        """Look for all sources.

        Args:
            given: Files, folders and patterns.
            fields: Which fields of JSON lines, or columns of a table, make up a document; None for the usual ones.
            naming: How documents are named; None for their places.
            follows_links: Whether links in folders may lead out of them.

        Raises:
            typer.BadParameter: If a file does not exist.
        """
        from pgclarify.ingest.naming import Naming

        self._naming = naming or Naming()
        self._fields = fields
        self._follows_links = follows_links
        self.skipped: Counter[str] = Counter()
        # Look for all of them before reading the first.
        self.paths = expand(given, self.skipped, follows_links=follows_links)

    def names(self) -> Iterator[Name | UnreadableFile]:
        """Yield the names of the documents, and an error for each file whose names cannot be known."""
        from pgclarify.ingest.files import find_names

        return find_names(self.paths, fields=self._fields, naming=self._naming, follows_links=self._follows_links)

    def documents(self) -> Iterator[Document | UnreadableFile]:
        """Yield the documents, and an error for everything that could not be read."""
        from pgclarify.ingest.files import read_documents

        return read_documents(
            self.paths,
            fields=self._fields,
            naming=self._naming,
            on_skip=lambda kind: self.skipped.update([kind]),
            follows_links=self._follows_links,
        )

    def whole(self) -> list[str]:
        """Return prefixes of the origins of all documents that these sources ever had.

        Raises:
            typer.BadParameter: If a file with a single document is given, for which this makes no sense.
        """
        from pgclarify.ingest.files import holds_many

        if not all(path.is_dir() or holds_many(path) for path in self.paths):
            raise typer.BadParameter(
                "--mirror takes folders, JSON lines, CSV and TSV: name the folder instead of its files."
            )
        found = {
            self._naming.folder(path) if path.is_dir() else self._naming.file(path, path.parent) for path in self.paths
        }
        return sorted(one for one in found if not any(one != other and one.startswith(other) for other in found))
