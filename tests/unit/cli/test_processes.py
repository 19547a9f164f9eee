"""Detached processes: started once, found again, stopped."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgclarify.cli import processes
from pgclarify.config import Settings
from pgclarify.errors import DatabaseError

# A program that makes a file when it is ready, and then waits for a signal.
SERVE = "import pathlib, signal, sys; pathlib.Path(sys.argv[1]).touch(); signal.pause()"


@pytest.fixture
def files(tmp_path: Path) -> Iterator[processes.WorkerFiles]:
    files = processes.WorkerFiles.of(Settings(data_dir=tmp_path / "data", database_url=None))
    yield files
    processes.stop(files)


def start(files: processes.WorkerFiles, ready: Path, code: str = SERVE) -> bool:
    return processes.start(
        files, ready.exists, command=[sys.executable, "-c", code, str(ready)], environment=os.environ
    )


def test_a_worker_is_started_once_and_stopped_once(files: processes.WorkerFiles, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    assert not processes.is_running(files)
    assert start(files, ready)
    assert processes.is_running(files)
    first = files.pid_file.read_text()
    assert not start(files, ready)
    assert files.pid_file.read_text() == first
    assert processes.stop(files)
    assert not processes.is_running(files)
    assert not processes.stop(files)


def test_a_killed_worker_is_not_taken_for_a_living_one(files: processes.WorkerFiles, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    start(files, ready)
    killed = int(files.pid_file.read_text())
    os.kill(killed, signal.SIGKILL)
    os.waitpid(killed, 0)
    assert not processes.is_running(files)
    assert start(files, ready)
    assert int(files.pid_file.read_text()) != killed


def test_a_worker_that_ends_at_once_is_an_error_with_its_last_words(
    files: processes.WorkerFiles, tmp_path: Path
) -> None:
    with pytest.raises(DatabaseError) as caught:
        start(files, tmp_path / "never", "import sys; sys.exit('there is no model')")
    assert caught.value.detail == "Its log ends:\n  there is no model"
    assert str(files.log_file) in str(caught.value.hint)
    assert not processes.is_running(files)


def test_a_connection_string_does_not_show_in_the_names_of_files(tmp_path: Path) -> None:
    embedded = processes.WorkerFiles.of(Settings(data_dir=tmp_path, database_url=None))
    one = processes.WorkerFiles.of(Settings(data_dir=tmp_path, database_url="postgresql://me:sesame@one/app"))
    two = processes.WorkerFiles.of(Settings(data_dir=tmp_path, database_url="postgresql://me:sesame@two/app"))
    assert len({embedded.pid_file, one.pid_file, two.pid_file}) == 3
    assert "sesame" not in str(one.pid_file)
    assert one == processes.WorkerFiles.of(Settings(data_dir=tmp_path, database_url="postgresql://me:sesame@one/app"))
