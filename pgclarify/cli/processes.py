"""Detached workers of `up --detach`: one for each database, with a log and a pid file in the data directory.

A detached worker inherits an exclusive lock on its pid file. The kernel releases the lock when the process ends, for
any reason. So the lock, not the number in the file, shows whether the worker is alive. The file says which process it
is, with the time of its start. A signal is sent only to this process: its number may belong to another one by now.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgclarify.config import Settings
from pgclarify.embedded import private_files
from pgclarify.embedded.process_identity import ProcessIdentity, Signals, owner_of
from pgclarify.errors import DatabaseError, ServerUnavailable

_POLL_SECONDS = 0.05
# Most of this is for loading a language model from a file on a slow disk.
_START_SECONDS = 320.0
# A worker that is stopping lets calls in flight end.
_STOP_SECONDS = 30.0
_LOG_LINES_SHOWN = 5
# A process that checks whether a worker is alive holds its lock for a moment. That must not look like a worker.
_LOCK_ATTEMPTS = 5
_LOCK_PAUSE_SECONDS = 0.01
# A worker that is being started writes its number within milliseconds after locking.
_RECORD_SECONDS = 5.0
_LONGEST_RECORD = 200


@dataclass(frozen=True, slots=True)
class WorkerFiles:
    """The pid file and the log of the detached worker of a database."""

    data_dir: Path
    name: str

    @classmethod
    def of(cls, settings: Settings) -> WorkerFiles:
        """Return the files for the database in use.

        Their names have a hash of the connection string, which may contain a password.
        """
        name = "worker"
        if settings.database_url is not None:
            name += "-" + hashlib.sha256(settings.database_url.encode()).hexdigest()[:12]
        return cls(settings.data_dir.expanduser().resolve(), name)

    @property
    def pid_file(self) -> Path:
        """The path of the pid file."""
        return private_files.path(self.data_dir, f"{self.name}.pid")

    @property
    def log_file(self) -> Path:
        """The path of the log."""
        return private_files.path(self.data_dir, f"{self.name}.log")

    def open(self, path: Path, flags: int) -> int:
        """Open one of the files; as `private_files.open_file`."""
        return private_files.open_file(self.data_dir, path.name, flags)


@contextmanager
def _pid_file(files: WorkerFiles, flags: int = 0) -> Iterator[int]:
    file = files.open(files.pid_file, os.O_RDWR | flags)
    try:
        yield file
    finally:
        os.close(file)


def _can_lock(file: int) -> bool:
    """Lock the pid file, until it is closed. False if a live worker holds the lock."""
    for _ in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE_SECONDS)
        else:
            return True
    return False


def is_running(files: WorkerFiles) -> bool:
    """Whether the detached worker is alive.

    Raises:
        ConfigurationError: If its files are another user's.
    """
    try:
        with _pid_file(files) as file:
            return not _can_lock(file)
    except FileNotFoundError:
        return False


def start(
    files: WorkerFiles, is_ready: Callable[[], bool], *, command: list[str], environment: Mapping[str, str]
) -> bool:
    """Start a detached worker unless one is running, and wait until it is ready.

    Args:
        files: Its pid and log files.
        is_ready: Called repeatedly until it returns True.
        command: The command to run.
        environment: The environment of the process.

    Returns:
        False if one was running already.

    Raises:
        ConfigurationError: If the files are another user's, or other users can write into the data directory.
        DatabaseError: If the worker ends, or is not ready in time.
    """
    private_files.make_data_dir(files.data_dir)
    with _pid_file(files, os.O_CREAT) as file:
        if is_new := _can_lock(file):
            os.truncate(file, 0)
            worker = ProcessIdentity.of(_spawn(files, file, command, environment))
            os.pwrite(file, f"{worker}\n".encode(), 0)
    deadline = time.monotonic() + _START_SECONDS
    while not is_ready():
        has_ended = not is_running(files)
        if has_ended or time.monotonic() > deadline:
            raise DatabaseError(
                "the worker ended as it started" if has_ended else "the worker does not get ready",
                detail=_last_lines(files),
                hint=f"The whole log is {files.log_file}.",
            )
        time.sleep(_POLL_SECONDS)
    return is_new


def _spawn(files: WorkerFiles, pid_file: int, command: list[str], environment: Mapping[str, str]) -> int:
    # The child inherits the file with our lock, and keeps the lock when we close the file.
    os.set_inheritable(pid_file, True)
    log = files.open(files.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        return os.posix_spawn(
            command[0],
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ],
            setsid=True,
        )
    finally:
        os.close(log)


def stop(files: WorkerFiles) -> bool:
    """Stop the detached worker and wait for its end; kill it if it does not end in time.

    Returns:
        False if none was running.

    Raises:
        ServerUnavailable: If a process holds its lock that is not the recorded worker.
        ConfigurationError: If its files are another user's.
    """
    try:
        with _pid_file(files) as file:
            return _stop_recorded(files, file)
    except FileNotFoundError:
        return False


def _stop_recorded(files: WorkerFiles, file: int) -> bool:
    deadline = time.monotonic() + _RECORD_SECONDS
    # The file is empty for a moment, between locking and writing.
    while not _can_lock(file):
        worker = ProcessIdentity.parse(os.pread(file, _LONGEST_RECORD, 0))
        if worker is not None and _end(worker, files, file):
            return True
        if time.monotonic() > deadline:
            shown = "no process" if worker is None else f"process {worker.number}"
            raise ServerUnavailable(
                "another process holds the lock of the detached worker",
                detail=f"{files.pid_file} names {shown}, which is not its worker on this machine or in this container.",
                hint=f"Find it with: fuser {files.pid_file}   Then end it, or stop the worker where it was started.",
            )
        time.sleep(_POLL_SECONDS)
    return False


def _is_recorded(worker: ProcessIdentity, file: int) -> bool:
    """Whether the process of a number is the worker that a pid file names.

    The user of a data directory can write into its files, and must not choose processes of others that root then ends.
    """
    is_its_users = owner_of(worker.number) in (None, os.fstat(file).st_uid)
    return worker.is_alive() and (is_its_users or worker.holds(file))


def _end(worker: ProcessIdentity, files: WorkerFiles, file: int) -> bool:
    """End a worker and wait until it has ended, if the process of its number is the worker that a pid file names.

    Args:
        worker: Its process.
        files: Its files.
        file: The open pid file.

    Returns:
        False if it is not.
    """
    try:
        signals = Signals(worker.number)
    except ProcessLookupError:
        return False
    try:
        # Only now, because from here on signals reach no later process of this number.
        if not _is_recorded(worker, file):
            return False
        # Sent once, because a second signal would ask for a faster stop.
        signals.send(signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        while is_running(files):
            if time.monotonic() > deadline:
                signals.send(signal.SIGKILL)
                break
            time.sleep(_POLL_SECONDS)
        return True
    finally:
        signals.close()


def _last_lines(files: WorkerFiles) -> str:
    with os.fdopen(files.open(files.log_file, os.O_RDONLY), errors="replace") as log:
        lines = [line for line in log.read().splitlines() if line.strip()]
    return "\n  ".join(("Its log ends:", *lines[-_LOG_LINES_SHOWN:])) if lines else "It wrote nothing into its log."
