"""Detached workers of `up --detach`: one for each database, with a log and a pid file in the data directory.

A detached worker inherits an exclusive lock on its pid file. The kernel releases the lock when the process ends, for
any reason. So the lock, not the number in the file, shows whether the worker is alive.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pgclarify.config import Settings
from pgclarify.errors import DatabaseError

_POLL_SECONDS = 0.05
# Most of this is for loading a language model from a file on a slow disk.
_START_SECONDS = 320.0
# A worker that is stopping lets calls in flight end.
_STOP_SECONDS = 30.0
_LOG_LINES_SHOWN = 5
# A process that checks whether a worker is alive holds its lock for a moment. That must not look like a worker.
_LOCK_ATTEMPTS = 5
_LOCK_PAUSE_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class WorkerFiles:
    """The pid file and the log of the detached worker of a database."""

    pid_file: Path
    log_file: Path

    @classmethod
    def of(cls, settings: Settings) -> WorkerFiles:
        """Return the files for the database in use.

        Their names have a hash of the connection string, which may contain a password.
        """
        name = "worker"
        if settings.database_url is not None:
            name += "-" + hashlib.sha256(settings.database_url.encode()).hexdigest()[:12]
        folder = settings.data_dir.expanduser().absolute()
        return cls(folder / f"{name}.pid", folder / f"{name}.log")


@contextmanager
def _locked(pid_file: Path) -> Iterator[TextIO | None]:
    """Lock the pid file; None if a live worker holds the lock."""
    with pid_file.open("a+") as file:
        for _ in range(_LOCK_ATTEMPTS):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_LOCK_PAUSE_SECONDS)
            else:
                yield file
                return
        yield None


def is_running(files: WorkerFiles) -> bool:
    """Whether the detached worker is alive."""
    if not files.pid_file.exists():
        return False
    with _locked(files.pid_file) as file:
        return file is None


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
        DatabaseError: If the worker ends, or is not ready in time.
    """
    files.pid_file.parent.mkdir(parents=True, exist_ok=True)
    with _locked(files.pid_file) as file:
        if file is not None:
            file.truncate(0)
            # The child inherits the file with our lock, and keeps the lock when we close the file.
            os.set_inheritable(file.fileno(), True)
            process_id = os.posix_spawn(
                command[0],
                command,
                environment,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, str(files.log_file), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                    (os.POSIX_SPAWN_DUP2, 1, 2),
                ],
                setsid=True,
            )
            file.write(f"{process_id}\n")
    is_new = file is not None
    deadline = time.monotonic() + _START_SECONDS
    while not is_ready():
        has_ended = not is_running(files)
        if has_ended or time.monotonic() > deadline:
            raise DatabaseError(
                "the worker ended as it started" if has_ended else "the worker does not get ready",
                detail=_last_lines(files.log_file),
                hint=f"The whole log is {files.log_file}.",
            )
        time.sleep(_POLL_SECONDS)
    return is_new


def stop(files: WorkerFiles) -> bool:
    """Stop the detached worker and wait for its end; kill it if it does not end in time.

    Returns:
        False if none was running.
    """
    while is_running(files):
        # The file is empty for a moment, between locking and writing the number.
        if written := files.pid_file.read_text().strip():
            _stop_process(files, int(written))
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _stop_process(files: WorkerFiles, process_id: int) -> None:
    # Sent once, because a second signal would ask for a faster stop.
    with suppress(ProcessLookupError):
        os.kill(process_id, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while is_running(files):
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
            return
        time.sleep(_POLL_SECONDS)


def worker_command() -> list[str]:
    """Return the command of a worker process, with the Python and the packages in use here."""
    return [sys.executable, "-m", "pgclarify.cli", "worker"]


def _last_lines(log_file: Path) -> str:
    lines = [line for line in log_file.read_text(errors="replace").splitlines() if line.strip()]
    return "\n  ".join(("Its log ends:", *lines[-_LOG_LINES_SHOWN:])) if lines else "It wrote nothing into its log."
