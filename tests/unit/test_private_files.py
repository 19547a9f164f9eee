"""Locks and process ids in a data directory: who may open them, who holds them, and which process they mean."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgclarify.embedded import private_files
from pgclarify.embedded.process_identity import ProcessIdentity, Signals
from pgclarify.errors import ConfigurationError, ServerUnavailable

# Locks the data directory, as a command does, and holds the lock until its input ends.
HOLD = """
import sys
from pathlib import Path
from pgclarify.embedded import private_files
with private_files.locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""
# A command that gives up at once.
HURRIED = """
import sys
from pgclarify.embedded import private_files
from pgclarify.cli.main import main
private_files._LOCK_SECONDS = 0.2
main(sys.argv[1:])
"""


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    private_files.make_data_dir(tmp_path / "data")
    return tmp_path / "data"


@contextmanager
def held(data_dir: Path) -> Iterator[int]:
    """Another process holds the lock; its process id."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process.pid
        process.communicate()


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_only_their_user_can_open_locks_also_if_rights_were_wider(data_dir: Path) -> None:
    before = os.umask(0)
    try:
        with private_files.locked(data_dir):
            pass
    finally:
        os.umask(before)
    lock = private_files.path(data_dir, "lock")
    assert (mode(lock), mode(lock.parent)) == (0o600, 0o700)
    lock.chmod(0o666)
    lock.parent.chmod(0o777)
    with private_files.locked(data_dir):
        pass
    assert (mode(lock), mode(lock.parent)) == (0o600, 0o700)


def test_a_new_data_directory_cannot_be_listed_by_others(tmp_path: Path) -> None:
    private_files.make_data_dir(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == (0o711 if os.geteuid() == 0 else 0o700)


def test_a_data_directory_into_which_others_can_write_is_refused_and_of_a_group_narrowed(data_dir: Path) -> None:
    data_dir.chmod(0o775)
    private_files.make_data_dir(data_dir)
    assert mode(data_dir) == 0o755
    data_dir.chmod(0o777)
    with pytest.raises(ConfigurationError):
        private_files.make_data_dir(data_dir)
    data_dir.chmod(0o1777)
    with pytest.raises(ConfigurationError):
        private_files.check_data_dir(data_dir)


@pytest.mark.parametrize("name", ["private", "private/lock"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder or file"])
def test_what_is_no_file_of_ours_is_not_opened(data_dir: Path, tmp_path: Path, name: str, kind: str) -> None:
    is_folder = name == "private"
    target = tmp_path / "target"
    target.mkdir() if is_folder else target.write_text("kept")
    planted = data_dir / name
    planted.parent.mkdir(exist_ok=True)
    match kind:
        case "link":
            planted.symlink_to(target)
        case "pipe":
            os.mkfifo(planted)
        case _:
            planted.touch() if is_folder else planted.mkdir()
    with pytest.raises((ConfigurationError, OSError)), private_files.locked(data_dir):
        pass
    assert [*target.iterdir()] == [] if is_folder else target.read_text() == "kept"


def test_a_file_takes_the_place_of_a_link_and_not_of_what_it_points_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, file = tmp_path / "target", tmp_path / "file"
    target.write_text("kept")
    file.symlink_to(target)
    private_files.replace(file, "new")
    assert (target.read_text(), file.read_text(), mode(file), file.is_symlink()) == ("kept", "new", 0o600, False)
    # A link that is there again right after the old file was removed.
    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda path, **how: (unlink(path, **how), path.symlink_to(target)))
    with pytest.raises(FileExistsError):
        private_files.replace(file, "new")
    assert target.read_text() == "kept"


def test_a_lock_that_is_held_names_its_holder_and_gives_up(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_files, "_LOCK_SECONDS", 0.2)
    with held(data_dir) as process_id:
        with pytest.raises(ServerUnavailable) as caught, private_files.locked(data_dir):
            pass
        assert f"{process_id} ({sys.executable}" in (caught.value.detail or "")
    with private_files.locked(data_dir):
        pass


def test_a_waiting_command_goes_on_when_the_lock_is_free(data_dir: Path) -> None:
    with held(data_dir):
        waiting = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(data_dir)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
    assert waiting.communicate(timeout=60)[0] == "locked\n"


def test_a_command_that_gives_up_a_lock_ends_with_an_error_and_no_traceback(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir()
    environment = {**os.environ, "PGCLARIFY_DATA_DIR": str(data_dir), "PGCLARIFY_DATABASE_URL": ""}
    with held(data_dir) as process_id:
        ended = subprocess.run(
            [sys.executable, "-c", HURRIED, "down"], env=environment, capture_output=True, text=True, timeout=120
        )
    assert ended.returncode == 1
    assert str(process_id) in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_process_is_known_by_more_than_its_number(tmp_path: Path) -> None:
    # The kernel writes the name of a program in parentheses, before the time of its start.
    program = shutil.copy(shutil.which("sleep") or "", tmp_path / "a) (b 1")
    with subprocess.Popen([program, "600"]) as process:
        identity = ProcessIdentity.of(process.pid)
        same = ProcessIdentity.parse(f"{identity}\n".encode())
        earlier = ProcessIdentity(process.pid, str(int(identity.started) - 1), identity.boot)
        before_a_restart = ProcessIdentity(process.pid, identity.started, identity.boot[::-1])
        number_alone = ProcessIdentity.parse(str(process.pid).encode())
        assert same is not None
        assert number_alone is not None
        assert same.is_alive()
        assert not any(other.is_alive() for other in (earlier, before_a_restart, number_alone))
        process.kill()
    assert not same.is_alive()


@pytest.mark.parametrize("text", [b"", b"\n", b"0", b"-1", b"-1 5 ab", b"12x", b"1 2", b"99999999999999", b"\xff"])
def test_text_that_names_no_process_is_none(text: bytes) -> None:
    assert ProcessIdentity.parse(text) is None


def test_signals_reach_no_process_that_came_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "600"]) as process:
        signals = Signals(process.pid)
        process.kill()
    # Its number is free now. No signal may go by number.
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("by number"))
    signals.send(signal.SIGTERM)
    signals.close()
