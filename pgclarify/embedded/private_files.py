"""Files of a data directory that other users of the machine must neither open nor replace: locks and process ids.

They are in a folder of their own, because the system user that runs the server has to enter the data directory.
"""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pgclarify.embedded.process_identity import ProcessIdentity, described
from pgclarify.errors import ConfigurationError, ServerUnavailable

_logger = logging.getLogger(__name__)

_FOLDER = "private"
# A server that recovers from a crash may need two minutes to start, and its starter holds the lock.
_LOCK_SECONDS = 180.0
_NOTICE_SECONDS = 5.0
_POLL_SECONDS = 0.05


def path(data_dir: Path, name: str) -> Path:
    """Return the path of a private file."""
    return data_dir / _FOLDER / name


def make_data_dir(data_dir: Path) -> None:
    """Create a data directory that only we can list, unless it exists, and check that others cannot write into it.

    Raises:
        ConfigurationError: If others can put files into it, or it belongs to another user.
        OSError: If it cannot be created.
    """
    # The system user that runs root's server must enter it.
    data_dir.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    check_data_dir(data_dir)


def check_data_dir(data_dir: Path) -> None:
    """Check that other users can neither put files into a data directory nor replace those in it.

    Write access for a group is taken away: with a common umask, 002, every folder has it.

    Raises:
        ConfigurationError: If others can write into it, or it belongs to another user. Root may use any user's.
        OSError: If it does not exist.
    """
    folder = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        status = os.fstat(folder)
        if os.geteuid() not in (0, status.st_uid):
            raise _refused(data_dir, f"It belongs to the user with the id {status.st_uid}")
        if status.st_mode & stat.S_IWOTH:
            raise _refused(data_dir, "All users of this machine can write into it")
        if status.st_mode & stat.S_IWGRP:
            _logger.warning("a group of users could write into %s; that is no longer allowed (g-w)", data_dir)
            os.fchmod(folder, stat.S_IMODE(status.st_mode) & ~stat.S_IWGRP)
    finally:
        os.close(folder)


def _refused(data_dir: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        "the data directory of the embedded server cannot be used",
        detail=f"{why}: {data_dir}. Its files could be those of other users.",
        hint="Set PGCLARIFY_DATA_DIR to a new folder of your own, in a folder into which only you can write.",
    )


def open_file(data_dir: Path, name: str, flags: int) -> int:
    """Open or create a private file; return its descriptor.

    Neither the folder nor the file is followed if it is a link, because root may work in a user's data directory. For
    the same reason, both must belong to the user of the data directory, and an existing file never changes its owner.

    Args:
        data_dir: A data directory, which exists.
        name: The name of the file.
        flags: Flags of os.open. With O_CREAT, the folder is created, too.

    Raises:
        ConfigurationError: If there is something else in its place, or another user's file.
        OSError: If it cannot be opened.
    """
    owner = data_dir.stat()
    place = data_dir / _FOLDER
    if flags & os.O_CREAT:
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
            os.chown(place, owner.st_uid, owner.st_gid, follow_symlinks=False)
    plain = os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | plain)
    try:
        _check(folder, owner, place, stat.S_IFDIR, 0o700)
        # Another process may create or remove it at the same time. O_NONBLOCK: a pipe would make us wait.
        while True:
            try:
                file = os.open(name, flags & ~os.O_CREAT | plain | os.O_NONBLOCK, dir_fd=folder)
                break
            except FileNotFoundError:
                if not flags & os.O_CREAT:
                    raise
            with suppress(FileExistsError):
                file = os.open(name, flags | os.O_EXCL | plain, 0o600, dir_fd=folder)
                os.fchown(file, owner.st_uid, owner.st_gid)
                break
    finally:
        os.close(folder)
    try:
        _check(file, owner, place / name, stat.S_IFREG, 0o600)
    except BaseException:
        os.close(file)
        raise
    return file


def _check(opened: int, owner: os.stat_result, shown: Path, kind: int, mode: int) -> None:
    """Check that an open file is of a kind and of a user; narrow its rights."""
    status = os.fstat(opened)
    if stat.S_IFMT(status.st_mode) != kind or status.st_uid != owner.st_uid:
        raise ConfigurationError(
            "a file of the embedded server is not its own",
            detail=f"{shown} does not belong to the user of the data directory, or is of another kind.",
            hint="See how it came there; then remove it.",
        )
    if stat.S_IMODE(status.st_mode) != mode:
        os.fchmod(opened, mode)


def replace(file: Path, text: str, owner: os.stat_result | None = None) -> None:
    """Write a new file in the place of another one, which may be a link that a user has put there.

    Args:
        file: Its path.
        text: Its content.
        owner: The user and group to whom it is given; None for ours.
    """
    file.unlink(missing_ok=True)
    opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(opened, "w") as written:
        if owner is not None:
            os.fchown(opened, owner.st_uid, owner.st_gid)
        written.write(text)


@contextmanager
def locked(data_dir: Path) -> Iterator[None]:
    """Lock a data directory for one process. The lock ends with the process.

    Raises:
        ServerUnavailable: If another process keeps it; the error names that process.
        ConfigurationError: As `open_file`.
    """
    file = open_file(data_dir, "lock", os.O_RDWR | os.O_CREAT)
    try:
        lock(file, path(data_dir, "lock"))
        yield
    finally:
        os.close(file)


def lock(file: int, shown: Path) -> None:
    """Lock an open file for this process, and write into it who we are. Closing the file unlocks it.

    Args:
        file: A descriptor.
        shown: The path of the file.

    Raises:
        ServerUnavailable: If another process keeps it for three minutes.
    """
    began = time.monotonic()
    is_noticed = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            waited = time.monotonic() - began
        if waited > _LOCK_SECONDS:
            raise ServerUnavailable(
                "another process keeps the embedded server locked",
                detail=f"{holder(file)} has held {shown} for {waited:.0f} seconds.",
                hint="Wait until it has ended, or end it. Then repeat the command.",
            )
        if waited > _NOTICE_SECONDS and not is_noticed:
            _logger.warning("waiting for a lock: %s holds %s", holder(file), shown)
            is_noticed = True
        time.sleep(_POLL_SECONDS)
    os.truncate(file, 0)
    os.pwrite(file, f"{ProcessIdentity.of(os.getpid())}\n".encode(), 0)


def holder(file: int) -> str:
    """Say which process holds the lock of an open file."""
    recorded = ProcessIdentity.parse(os.pread(file, 200, 0))
    return described(recorded) if recorded is not None and recorded.is_alive() else "A process without a recorded id"
