"""What to say where the package that reads a kind of file is not installed."""

from __future__ import annotations

from pathlib import Path

from pgclarify.errors import MissingReader


def missing_reader(name: str | Path, kind: str, error: ImportError) -> MissingReader:
    """The error for a file whose reader cannot be imported.

    Args:
        name: The file.
        kind: What it is, such as "PDF".
        error: What the import raised.
    """
    return MissingReader(
        f"cannot read {name}",
        detail=f"Reading {kind} needs the package {error.name or 'of its reader'}, which is not installed.",
        hint="Run: pip install 'pgclarify[files]'",
    )
