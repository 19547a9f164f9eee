"""Finds files in folders by their names."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING

from pgclarify.errors import UnreadableFile

if TYPE_CHECKING:
    from pgclarify.ingest.addresses import AddressedFile

LINK_OUT = "link out of the folder (--follow-links reads it)"
"""The kind of a link that is skipped, because it leads out of the folder that is read."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file on this machine.

    Attributes:
        path: Its path.
        base: The folder below which it was found.
    """

    path: Path
    base: Path

    def __str__(self) -> str:
        """Its path."""
        return str(self.path)

    @property
    def relative(self) -> str:
        """Its path below the folder."""
        return self.path.absolute().relative_to(self.base.absolute()).as_posix()

    @property
    def place(self) -> str:
        """Where it is, which is the same however it was found."""
        # Not the target of a link, which is another file and may change.
        return place_of(self.path.parent.resolve() / self.path.name)

    @property
    def uri(self) -> None:
        """None: no browser elsewhere opens it."""

    def is_empty(self) -> bool:
        """Whether it is empty.

        Raises:
            UnreadableFile: If it is a pipe or a device: reading it may block forever.
        """
        try:
            status = self.path.stat()
        except OSError as error:
            raise UnreadableFile(f"cannot read {self}", detail=f"{error.strerror}.") from error
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFile(f"cannot read {self}", detail="It is no regular file.")
        return status.st_size == 0

    def open(self) -> IO[bytes]:
        """Open it.

        Raises:
            OSError: If that fails.
        """
        return self.path.open("rb")


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A folder that could not be listed.

    Attributes:
        folder: On this machine, or at an address.
        reason: Why.
    """

    folder: LocalFile | AddressedFile
    reason: UnreadableFile


def place_of(path: Path) -> str:
    """Return the machine and the path of a file or folder, given without symbolic links."""
    return f"{socket.gethostname()}:{path.as_posix().rstrip('/')}"


def find_files(
    given: Path,
    suffixes: Collection[str],
    on_skip: Callable[[str], object],
    follows_links: bool,
) -> Iterator[LocalFile | Unlisted]:
    """Find the files in a folder, except hidden files and those in hidden folders.

    Args:
        given: A folder; or a file, which is then the only result, with any name.
        suffixes: Suffixes of the files to find.
        on_skip: Called for every other file, with its suffix, and for every link that is skipped.
        follows_links: Whether links to files that are not in the folder are followed, and not skipped.

    Yields:
        Files, in the order of names; then the folders that could not be opened.
    """
    if not given.is_dir():
        yield LocalFile(given, given.parent)
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
                on_skip(suffix_of(path) or "file without an extension")
            elif not follows_links and leads_out(path, real_folder):
                on_skip(LINK_OUT)
            else:
                yield LocalFile(path, given)
    for error in closed:
        reason = UnreadableFile(f"cannot read the folder {error.filename}", detail=f"{error.strerror}.")
        yield Unlisted(LocalFile(Path(error.filename).resolve(), real_folder), reason)


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


def suffix_of(path: PurePath) -> str:
    """Return the suffix that names the kind of a file, in lower case: ".pdf", ".csv.gz"."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return "".join(suffixes) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
