"""Archives (ZIP, tar): their members, each a file. Nothing is written to disk."""

from __future__ import annotations

import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import IO, Final

from pgclarify.language.foreign_text import storable

ARCHIVES: Final = frozenset({".zip", ".tar", ".tar.gz", ".tgz"})
# The limits of one archive, with those in it. What is beyond them is counted, and not read.
_MOST_MEMBERS: Final = 5_000
_MOST_MEMBER_BYTES: Final = 100_000_000
_MOST_BYTES: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class Member:
    """A file in another one: its path there, and its bytes."""

    path: str
    data: bytes


def members(data: bytes, suffix: str, unread: Counter[str]) -> Iterator[Member]:
    """Yield the members of an archive that can be read, without hidden ones and folders.

    Args:
        data: The archive.
        suffix: .zip, or else a suffix of tar.
        unread: Gets the number of each kind of member that cannot be read.

    Raises:
        zipfile.BadZipFile: If it is no archive.
        tarfile.TarError: If it is no archive.
    """
    number = total = 0
    for path, open_member in _zip(data, unread) if suffix == ".zip" else _tar(data):
        parts = PurePosixPath(storable(path).replace("\\", "/")).parts
        if any(part.startswith(".") and part != ".." for part in parts) or "__MACOSX" in parts:
            continue
        if not parts or ".." in parts or parts[0].endswith(("/", ":")):
            unread["member with a path out of the archive"] += 1
            continue
        number += 1
        if number > _MOST_MEMBERS or total > _MOST_BYTES:
            unread["member of a too large archive"] += 1
            continue
        with open_member as stream:
            # The size that an archive states may be wrong.
            content = stream.read(_MOST_MEMBER_BYTES + 1)
        total += len(content)
        if len(content) > _MOST_MEMBER_BYTES:
            unread["too large member"] += 1
        else:
            yield Member("/".join(parts), content)


def _zip(data: bytes, unread: Counter[str]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for one in archive.infolist():
            if one.is_dir():
                continue
            if one.flag_bits & 1:
                unread["encrypted member"] += 1
                continue
            try:
                yield one.filename, archive.open(one)
            except (zipfile.BadZipFile, NotImplementedError):
                unread["broken member"] += 1


def _tar(data: bytes) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        for one in archive:
            stream = archive.extractfile(one) if one.isfile() else None
            if stream is not None:
                yield one.name, stream
