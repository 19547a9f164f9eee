"""Checks of this machine: variables and the disk."""

from __future__ import annotations

import shutil
from pathlib import Path

from pgclarify.cli.doctor.check import Check, ok, problem, warning
from pgclarify.config import unknown_variables

# A full disk stops the server; 1,000 documents need about 10 MB with their vectors and indexes.
_LEAST_BYTES = 200_000_000
_FEW_BYTES = 2_000_000_000


def check_variables() -> list[Check]:
    """Find variables that look like settings but are not. A misspelt one would have no effect, and no error."""
    return [
        warning(
            "settings",
            f"{name} is no setting, and has no effect",
            "See docs/settings.md." if likest is None else f"Did you mean {likest}?",
        )
        for name, likest in unknown_variables().items()
    ] or [ok("settings", "all variables of pgclarify are known")]


def check_disk(folder: Path, *, holds_database: bool) -> Check:
    """Check the free space of the data directory's volume.

    Args:
        folder: The data directory, or its future place.
        holds_database: Whether the database is on the same volume.
    """
    free = shutil.disk_usage(_nearest(folder.expanduser().absolute())).free
    return disk_check(free, folder, holds_database=holds_database)


def disk_check(free: int, folder: Path, *, holds_database: bool) -> Check:
    """Say what a number of free bytes means."""
    what = (
        "the database and the logs of workers" if holds_database else "the logs of workers; the database is elsewhere"
    )
    finding = f"{free / 1e9:,.1f} GB are free in {folder}, for {what}"
    remedy = "Make room, or move the folder and set PGCLARIFY_DATA_DIR."
    if holds_database and free < _LEAST_BYTES:
        return problem("disk", finding, remedy)
    if free < (_FEW_BYTES if holds_database else _LEAST_BYTES):
        return warning("disk", finding, remedy)
    return ok("disk", finding)


def _nearest(folder: Path) -> Path:
    """Return the folder, or its nearest parent that exists."""
    return next(place for place in (folder, *folder.parents) if place.exists())
