"""The error for a file whose parser is not installed."""

from __future__ import annotations

from pathlib import Path

from pgclarify.errors import MissingReader


def missing_reader(name: str | Path, kind: str, error: ImportError) -> MissingReader:
    """Make the error for a file whose parser cannot be imported.

    Args:
        name: The file.
        kind: The kind of file, such as "PDF".
        error: The exception of the import.
    """
    return MissingReader(
        f"cannot read {name}",
        detail=f"Reading {kind} needs the package {error.name or 'of its reader'}, which is not installed.",
        hint="Run: pip install 'pgclarify[files]'",
    )
