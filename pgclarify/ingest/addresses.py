"""Files at addresses, such as s3://bucket/folder, that fsspec opens: only those that the user names.

Credentials come from the variables of each service. What of an address may be one is neither stored nor shown.
"""

from __future__ import annotations

import io
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast
from urllib.parse import unquote

from pgclarify.errors import InputError, MissingReader, UnreadableFile
from pgclarify.ingest.archives import ARCHIVES
from pgclarify.ingest.folders import Unlisted, suffix_of

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

# A letter alone is a drive of Windows.
_ADDRESS: Final = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
# A user, perhaps with a password; and a query, perhaps with a signature.
_SECRET: Final = re.compile(r"(?<=://)[^/\s]*@|\?[^\s'\"]*")
_PASSWORD: Final = re.compile(r"[^/]*://[^/]*:[^/]*@")
_LOCAL: Final = ("file", "local")
# A page of the web links to anything, so that these are single files.
_WEB: Final = ("http", "https")
_PACKED: Final = ("zip", "tar")
# They read further addresses from a file, or unpack without a limit.
_REFUSED: Final = ("reference", "generic", "libarchive")
_REFUSALS: Final = (401, 403)
# A server may send a byte from time to time, without end. A slow line needs more time for a large file.
_SECONDS: Final = 60.0
_BYTES_A_SECOND: Final = 50_000
_LISTING_SECONDS: Final = 600.0
# The most that is read at once, so that the time of large files can be measured.
_MOST_BYTES_AT_ONCE: Final = 2**20
Result = TypeVar("Result")


@dataclass(frozen=True)
class Address:
    """A file or a folder at an address.

    Attributes:
        text: The address.

    Raises:
        InputError: If it cannot be opened, or has a password.
        MissingReader: If the package for its scheme is not installed.
    """

    text: str = field(repr=False)
    _too_slow: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check it."""
        if _PASSWORD.match(self.text):
            raise InputError(
                "an address must not have a password",
                detail=f"It is the address {self}.",
                hint="Put it into a variable of the service, such as AWS_SECRET_ACCESS_KEY or FSSPEC_SFTP_PASSWORD.",
            )
        if "::" in self.text or self.scheme in (*_REFUSED, *_PACKED):
            raise InputError(
                "the address cannot be opened",
                detail=f"{self} leads to other addresses, or is part of an archive.",
                hint="Name the file itself; or the members of an archive: zip://FOLDER::ARCHIVE.",
            )
        try:
            from fsspec import get_filesystem_class

            get_filesystem_class(self.scheme)
        except ImportError as error:
            hint = "Run: pip install 'pgclarify[files]'" if error.name == "fsspec" else "Install it with pip."
            raise MissingReader(f"cannot read {self}", detail=f"{error}.", hint=hint) from error
        except ValueError as error:
            raise InputError(
                "the address cannot be opened",
                detail=f"{self} begins with an unknown scheme.",
                hint="Known are s3://, gs://, abfs://, https://, sftp:// and others of fsspec.",
            ) from error

    def __str__(self) -> str:
        """The address without a user, a password and a query."""
        return _SECRET.sub("", self.text).rstrip("/")

    @property
    def scheme(self) -> str:
        """What it begins with, in lower case."""
        return self.text.partition("://")[0].lower()

    @property
    def file(self) -> AddressedFile:
        """The single file that it is."""
        path = unquote(str(self).partition("#")[0]) if self.scheme in _WEB else str(self)
        return AddressedFile(self, PurePosixPath(path).name, "", self._info.get("size"))

    @property
    def is_folder(self) -> bool:
        """Whether it has files below it.

        Raises:
            UnreadableFile: If that cannot be known.
        """
        return bool(self._info["type"] == "directory")

    def find_files(
        self, suffixes: Collection[str], on_skip: Callable[[str], object]
    ) -> Iterator[AddressedFile | Unlisted]:
        """Find the files below it, or itself, as folders.find_files does.

        Args:
            suffixes: Suffixes of the files to find.
            on_skip: Called for every other file, with its suffix.

        Yields:
            Files; and folders that could not be listed.
        """
        try:
            folders = [self._path] if self.is_folder else []
        except UnreadableFile as reason:
            yield Unlisted(AddressedFile(self, "", "", None), reason)
            return
        if not folders:
            yield self.file
        while folders:
            folder = folders.pop()
            try:
                found = _try(
                    f"cannot read the folder {self}", _LISTING_SECONDS, self._filesystem.ls, folder, detail=True
                )
            except UnreadableFile as reason:
                relative = folder.removeprefix(self._path).strip("/")
                yield Unlisted(AddressedFile(self, relative, f"/{relative}" if relative else "", None), reason)
                continue
            below: list[str] = []
            for one in sorted(found, key=lambda one: str(one["name"])):
                path = str(one["name"]).rstrip("/")
                relative = path.removeprefix(self._path).strip("/")
                # Some services list the folder itself, too.
                if path == folder or PurePosixPath(relative).name.startswith("."):
                    continue
                suffix = suffix_of(PurePosixPath(relative))
                if one["type"] == "directory":
                    below.append(path)
                elif one["type"] != "file":
                    on_skip(f"{one['type']} at an address")
                elif suffix not in suffixes:
                    on_skip(suffix or "file without an extension")
                else:
                    yield AddressedFile(self, relative, f"/{relative}", one.get("size"))
            folders.extend(reversed(below))

    def open(self, below: str) -> IO[bytes]:
        """Open a file.

        Args:
            below: The end of its address, after this one.

        Raises:
            UnreadableFile: If that fails, or the file was too slow before.
        """
        message = f"cannot read {self}{below}"
        if below in self._too_slow:
            raise UnreadableFile(message, detail=f"{self._too_slow[below]}.")
        stream = _try(
            message,
            _SECONDS,
            self._filesystem.open,
            f"{self._path}{below}",
            "rb",
            block_size=_MOST_BYTES_AT_ONCE,
        )
        slow = partial(self._too_slow.__setitem__, below)
        return cast("IO[bytes]", io.BufferedReader(_Stream(stream, slow), _MOST_BYTES_AT_ONCE))

    @cached_property
    def _opened(self) -> tuple[AbstractFileSystem, str]:
        from fsspec.core import url_to_fs

        # It remembers listings, which may have changed since an earlier load of this process.
        filesystem, path = _try(f"cannot read {self}", _SECONDS, url_to_fs, self.text, skip_instance_cache=True)
        return filesystem, str(path).rstrip("/")

    @property
    def _filesystem(self) -> AbstractFileSystem:
        return self._opened[0]

    @property
    def _path(self) -> str:
        return self._opened[1]

    @cached_property
    def _info(self) -> dict[str, Any]:
        if self.scheme in _WEB:
            return {"type": "file", "size": None}
        return _try(f"cannot read {self}", _SECONDS, self._filesystem.info, self._path)


@dataclass(frozen=True, slots=True)
class AddressedFile:
    """A file at an address.

    Attributes:
        address: What the user named.
        relative: Its path below that; of a single file, its name.
        below: The end of its address, after that of the user.
        size: In bytes, if known.
    """

    address: Address
    relative: str
    below: str
    size: int | None

    def __str__(self) -> str:
        """Its address."""
        return f"{self.address}{self.below}"

    @property
    def place(self) -> str:
        """Where it is, which is the same however it was found."""
        return str(self)

    @property
    def uri(self) -> str | None:
        """Its address, if a browser opens it."""
        return str(self) if self.address.scheme in _WEB else None

    def is_empty(self) -> bool:
        """Whether it is known to be empty."""
        return self.size == 0

    def open(self) -> IO[bytes]:
        """Open it.

        Raises:
            UnreadableFile: If that fails.
        """
        return self.address.open(self.below)


@dataclass(frozen=True, slots=True)
class Members:
    """The members of an archive that are below a path in it."""

    archive: Path | Address
    below: str


Location: TypeAlias = Path | Address | Members
"""What a user names to be loaded."""


def location(text: str) -> Location:
    """Return what a text names: a path, if that exists on this machine; else an address.

    Raises:
        FileNotFoundError: If it is a path, and there is nothing.
        InputError: If it is an address that cannot be opened.
    """
    path = Path(text)
    found = _ADDRESS.match(text)
    scheme = found[1].lower() if found else ""
    # An address may be too long for a path, which Path.exists raises.
    is_path = os.path.exists(path)  # noqa: PTH110
    if scheme in _LOCAL and not is_path:
        path = Path(text.partition("://")[2])
    if is_path or scheme in ("", *_LOCAL):
        path.stat()
        return path
    below, is_packed, archive = text.partition("://")[2].partition("::")
    if scheme not in _PACKED or not is_packed:
        return Address(text)
    outer = location(archive)
    if isinstance(outer, Members) or suffix_of(PurePosixPath(str(outer))) not in ARCHIVES:
        raise InputError(
            "the address cannot be opened",
            detail=f"{_SECRET.sub('', archive)} is no archive.",
            hint=f"Name one that ends in {', '.join(sorted(ARCHIVES))}.",
        )
    return Members(outer, below.strip("/")) if below.strip("/") else outer


class _Stream(io.RawIOBase):
    """A stream from an address. An error of its library, or a slow server, becomes an OSError that can be shown.

    Args:
        stream: That of the library.
        on_too_slow: Called with the reason if it is given up.
    """

    def __init__(self, stream: IO[bytes], on_too_slow: Callable[[str], object]) -> None:
        self._stream = stream
        self._on_too_slow = on_too_slow
        self._bytes = 0
        self._seconds = 0.0
        self._is_given_up = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 (any buffer)
        most_seconds = _SECONDS + self._bytes / _BYTES_A_SECOND
        began = time.monotonic()
        try:
            data = _within(most_seconds - self._seconds, self._stream.read, min(len(buffer), _MOST_BYTES_AT_ONCE))
        except _TooSlow:
            # The thread still reads from it, so it cannot be closed.
            self._is_given_up = True
            reason = (
                f"The server is too slow: it sent {self._bytes:,} bytes in {most_seconds:.0f} seconds. It has"
                f" {_SECONDS:.0f} seconds for a file, and one more for each {_BYTES_A_SECOND:,} bytes"
            )
            self._on_too_slow(reason)
            raise TimeoutError(reason) from None
        except Exception as error:
            raise OSError(_reason(error)) from error
        # Not the time between the calls, in which documents are stored.
        self._seconds += time.monotonic() - began
        self._bytes += len(data)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self._is_given_up:
            self._stream.close()
        super().close()


class _TooSlow(Exception):
    """A call of a library takes too much time."""


def _within(seconds: float, call: Callable[..., Result], *arguments: object, **named: object) -> Result:
    """Call a library, which may wait for a server without end. After this time it is left alone, in a thread.

    Raises:
        _TooSlow: If it takes longer.
    """
    answer: queue.SimpleQueue[tuple[Result, None] | tuple[None, Exception]] = queue.SimpleQueue()

    def answer_it() -> None:
        try:
            answer.put((call(*arguments, **named), None))
        except Exception as error:
            answer.put((None, error))

    threading.Thread(target=answer_it, daemon=True, name="address").start()
    try:
        result, error = answer.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        raise _TooSlow from None
    if error is not None:
        raise error
    return cast("Result", result)


def _try(message: str, seconds: float, call: Callable[..., Result], *arguments: object, **named: object) -> Result:
    try:
        return _within(seconds, call, *arguments, **named)
    except _TooSlow:
        raise UnreadableFile(message, detail=f"The server does not answer within {seconds:.0f} seconds.") from None
    except Exception as error:
        # Each library has errors of its own.
        raise UnreadableFile(message, detail=f"{_reason(error)}.") from error


def _reason(error: BaseException) -> str:
    """Say why an address cannot be read, without what may be secret."""
    # That of HTTP says "not found" for everything, and has the reason as its cause.
    reason = error.__cause__ if isinstance(error, FileNotFoundError) and error.__cause__ else error
    status = getattr(reason, "status", None)
    if isinstance(reason, PermissionError) or status in _REFUSALS:
        return "Access is refused"
    if isinstance(reason, FileNotFoundError) or status == 404:
        return "There is nothing"
    text = _SECRET.sub("", " ".join(str(reason).split())).rstrip(".")
    return f"{type(reason).__name__}: {text}" if text else type(reason).__name__
