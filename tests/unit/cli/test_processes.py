"""Detached processes: started once, found again, stopped."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgclarify.cli import processes
from pgclarify.config import Settings
from pgclarify.errors import DatabaseError, ServerUnavailable

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


def process_id(files: processes.WorkerFiles) -> int:
    return int(files.pid_file.read_text().split()[0])


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
    killed = process_id(files)
    os.kill(killed, signal.SIGKILL)
    os.waitpid(killed, 0)
    assert not processes.is_running(files)
    assert start(files, ready)
    assert process_id(files) != killed


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


class TestWhoIsEnded:
    """A pid file may be stale, or locked by something else; then no process is ended."""

    @pytest.fixture
    def stranger(self) -> Iterator[subprocess.Popen[bytes]]:
        with subprocess.Popen(["sleep", "600"]) as process:
            yield process
            process.kill()

    @pytest.fixture(autouse=True)
    def hurry(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(processes, "_RECORD_SECONDS", 0.2)

    @pytest.mark.parametrize("record", ["{} 1 {boot}", "{}", "", "no process"])
    def test_a_stale_number_behind_a_lock_ends_no_process(
        self, files: processes.WorkerFiles, tmp_path: Path, stranger: subprocess.Popen[bytes], record: str
    ) -> None:
        start(files, tmp_path / "ready")
        processes.stop(files)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        files.pid_file.write_text(record.format(stranger.pid, boot=boot))
        with files.pid_file.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with pytest.raises(ServerUnavailable) as caught:
                processes.stop(files)
        assert str(files.pid_file) in (caught.value.detail or "")
        assert stranger.poll() is None

    def test_a_worker_that_does_not_end_is_killed(
        self, files: processes.WorkerFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(processes, "_STOP_SECONDS", 0.2)
        start(files, tmp_path / "ready", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVE)
        worker = process_id(files)
        assert processes.stop(files)
        assert os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) == -signal.SIGKILL

    def test_files_of_a_worker_are_its_users_alone(self, files: processes.WorkerFiles, tmp_path: Path) -> None:
        before = os.umask(0)
        try:
            start(files, tmp_path / "ready")
        finally:
            os.umask(before)
        assert [path.stat().st_mode & 0o777 for path in (files.pid_file.parent, files.pid_file, files.log_file)] == [
            0o700,
            0o600,
            0o600,
        ]

    def test_a_log_is_not_written_through_a_link(self, files: processes.WorkerFiles, tmp_path: Path) -> None:
        start(files, tmp_path / "ready")
        processes.stop(files)
        files.log_file.unlink()
        files.log_file.symlink_to(tmp_path / "target")
        with pytest.raises(OSError):
            start(files, tmp_path / "never")
        assert not (tmp_path / "target").exists()
