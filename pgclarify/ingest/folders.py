"""Finds files in folders by their names."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from pgclarify.errors import UnreadableFile

LINK_OUT = "link out of the folder (--follow-links reads it)"
"""The kind of a link that is skipped, because it leads out of the folder that is read."""


def find_files(
    given: Path,
    suffixes: Collection[str],
    on_skip: Callable[[str], object],
    follows_links: bool,
) -> Iterator[Path | UnreadableFile]:
    """Find the files in a folder, except hidden files and those in hidden folders.

    Args:
        given: A folder; or a file, which is then the only result, with any name.
        suffixes: Suffixes of the files to find.
        on_skip: Called for every other file, with its suffix, and for every link that is skipped.
        follows_links: Whether links to files that are not in the folder are followed, and not skipped.

    Yields:
        Files, in the order of names; then the folders that could not be opened, as errors.
    """
    if not given.is_dir():
        yield given
        return
    closed: list[OSError] = []
    real_folder = given.resolve()
    for folder, subfolders, names in os.walk(given, onerror=closed.append):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in subfolders:
            # A link may lead to a parent folder, without end.
            if Path(folder, name).is_symlink():
                on_skip("link to a folder")
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith("."):
                continue
            if suffix_of(path) not in suffixes:
                on_skip(suffix_of(path) or "without an extension")
            elif not follows_links and leads_out(path, real_folder):
                on_skip(LINK_OUT)
            else:
                yield path
    for error in closed:
        yield UnreadableFile(f"cannot read the folder {error.filename}", detail=f"{error.strerror}.")


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a path below a folder leads out of it, because a part of the path is a symbolic link.

    Args:
        path: Any path below the folder.
        folder: Without symbolic links.
    """
    try:
        # Not Path.resolve, which fails with a link to itself.
        return not Path(os.path.realpath(path)).is_relative_to(folder)
    except OSError:
        # It has just become a link, or ceased to be one.
        return True


def is_empty(path: Path) -> bool:
    """Whether a file is empty.

    Raises:
        UnreadableFile: If it is a pipe or a device: reading it may block forever.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise UnreadableFile(f"cannot read {path}", detail=f"{error.strerror}.") from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFile(f"cannot read {path}", detail="It is no regular file.")
    return status.st_size == 0


def suffix_of(path: Path) -> str:
    """Return the suffix that names the kind of a file, in lower case: ".pdf", ".csv.gz"."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return "".join(suffixes) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
