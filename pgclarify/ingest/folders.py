"""Finds files in folders, by what their names say."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from pgclarify.errors import UnreadableFile


def find_files(
    given: Path, suffixes: Collection[str], on_skip: Callable[[str], object]
) -> Iterator[Path | UnreadableFile]:
    """Find the files in a folder, without the hidden ones and what is in hidden folders.

    Args:
        given: A folder, or a file, which is what is found then, whatever its name.
        suffixes: Of the files that are looked for.
        on_skip: Called for every other file, with its suffix, and for every link to a folder.

    Yields:
        Files, in the order of names; and at last the folders that could not be opened.
    """
    if not given.is_dir():
        yield given
        return
    closed: list[OSError] = []
    for folder, subfolders, names in os.walk(given, onerror=closed.append):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in subfolders:
            # It may lead back to a folder above it.
            if Path(folder, name).is_symlink():
                on_skip("link to a folder")
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith("."):
                continue
            if suffix_of(path) in suffixes:
                yield path
            else:
                on_skip(suffix_of(path) or "without an extension")
    for error in closed:
        yield UnreadableFile(f"cannot read the folder {error.filename}", detail=f"{error.strerror}.")


def is_empty(path: Path) -> bool:
    """Whether a file has no byte.

    Raises:
        UnreadableFile: If it is a pipe or a device, which would be waited for, without end.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise UnreadableFile(f"cannot read {path}", detail=f"{error.strerror}.") from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFile(f"cannot read {path}", detail="It is no regular file.")
    return status.st_size == 0


def suffix_of(path: Path) -> str:
    """The end of a file's name that says what it holds, in lower case: ".pdf", ".csv.gz"."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return "".join(suffixes) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
