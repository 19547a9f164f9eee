"""Other users of a machine, who lock files, plant links, and leave numbers of strangers' processes to be ended.

These tests act as such users, and as root, whose commands they want to misuse.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pgclarify import embedded
from pgclarify.cli import processes
from pgclarify.config import Settings
from pgclarify.embedded import Address
from pgclarify.errors import PgclarifyError
from tests.servers import folder_of_servers

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as other users"),
    pytest.mark.xdist_group("other_users"),
]

ATTACKER, STRANGER = 65534, 65533
# Becomes a user, and locks all files in some places that this user can open, until its input ends. It is started as
# root, because that user may not be able to start Python.
LOCK_ALL = """
import fcntl, os, sys
from pathlib import Path
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
files = []
for place in map(Path, sys.argv[2:]):
    for path in [place, *place.rglob("*")]:
        try:
            files.append(path.open("rb"))
            fcntl.flock(files[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass
print("locked", flush=True)
sys.stdin.read()
"""
START = "import sys; from pathlib import Path; from pgclarify import embedded; embedded.start(Path(sys.argv[1]))"
NEW_USER = """
from pathlib import Path
from pgclarify.embedded import programs
print(programs.server_account(Path("/no/cluster")))
"""


@contextmanager
def locking(*places: Path) -> Iterator[None]:
    with subprocess.Popen(
        [sys.executable, "-I", "-c", LOCK_ALL, str(ATTACKER), *map(str, places)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        yield
        process.communicate()


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of a user who has nothing to do with pgclarify."""
    with subprocess.Popen(["sleep", "600"], user=STRANGER, group=STRANGER, extra_groups=[]) as process:
        yield process
        process.kill()


def theirs(folder: Path) -> Path:
    """A data directory of the attacker, where root may start a server."""
    data_dir = folder / "theirs"
    data_dir.mkdir(mode=0o755)
    os.chown(data_dir, ATTACKER, ATTACKER)
    return data_dir


def plant(path: Path, text: str | Path) -> None:
    """A file of the attacker, or a link to a path."""
    if not path.parent.exists():
        path.parent.mkdir(mode=0o700)
        os.chown(path.parent, ATTACKER, ATTACKER)
    if isinstance(text, Path):
        path.symlink_to(text)
    else:
        path.write_text(text)
    os.chown(path, ATTACKER, ATTACKER, follow_symlinks=False)


def test_they_cannot_stop_a_server_from_starting_by_locking_files(folder: Path) -> None:
    data_dir = folder / "data"
    try:
        embedded.start(data_dir)
        embedded.stop(data_dir)
        with locking(data_dir):
            subprocess.run([sys.executable, "-c", START, str(data_dir)], check=True, timeout=60)
            assert embedded.stop(data_dir)
    finally:
        embedded.stop(data_dir)


def test_they_cannot_delay_the_creation_of_the_servers_user(folder: Path) -> None:
    with locking(Path("/etc/passwd")):
        subprocess.run([sys.executable, "-c", NEW_USER], check=True, timeout=60)


def test_a_stale_number_that_they_lock_ends_no_process(
    folder: Path, stranger: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_RECORD_SECONDS", 0.2)
    # A worker was killed, and its number belongs to another process now.
    pid_file = folder / "private" / "worker.pid"
    pid_file.parent.mkdir(mode=0o755)
    pid_file.write_text(f"{stranger.pid}\n")
    pid_file.chmod(0o644)
    files = processes.WorkerFiles.of(Settings(data_dir=folder, database_url=None))
    with locking(folder), suppress(PgclarifyError):
        processes.stop(files)
    assert stranger.poll() is None


def test_a_number_in_their_own_file_does_not_make_root_end_a_process(
    folder: Path, stranger: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_RECORD_SECONDS", 0.2, raising=False)
    data_dir = theirs(folder)
    # All that a user can find out about a process of another user.
    started = Path(f"/proc/{stranger.pid}/stat").read_text().rpartition(")")[2].split()[19]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    plant(data_dir / "private" / "worker.pid", f"{stranger.pid} {started} {boot}\n")
    files = processes.WorkerFiles.of(Settings(data_dir=data_dir, database_url=None))
    with locking(data_dir), suppress(PgclarifyError):
        processes.stop(files)
    assert stranger.poll() is None


@pytest.mark.parametrize("name", ["lock", "private/lock", "private", "listen"])
def test_a_link_in_their_folder_does_not_make_root_write_elsewhere(folder: Path, name: str) -> None:
    data_dir = theirs(folder)
    (folder / "of root").mkdir(mode=0o700)
    target = folder / "of root" / "lock"
    target.write_text("kept")
    target.chmod(0o600)
    plant(data_dir / name, target.parent if name == "private" else target)
    with suppress(PgclarifyError):
        embedded.listen(data_dir, Address("127.0.0.1", 1))
    assert (target.read_text(), target.stat().st_uid) == ("kept", 0)
    assert target.parent.stat().st_uid == 0


def test_a_server_of_theirs_in_a_lost_folder_of_sockets_is_not_taken_for_ours(folder: Path) -> None:
    data_dir = folder / "data"
    sockets = Path(tempfile.mkdtemp(prefix="pgclarify-", dir="/tmp"))
    cluster = data_dir / "postgres"
    cluster.mkdir(parents=True)
    lines = [str(os.getpid()), str(cluster), "0", "5432", str(sockets), "", "", "ready   "]
    (cluster / "postmaster.pid").write_text("\n".join(lines))
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(sockets / ".s.PGSQL.5432"))
            server.listen()
            assert embedded.running_dsn(data_dir) is not None
            os.chown(sockets, ATTACKER, ATTACKER)
            assert embedded.running_dsn(data_dir) is None
    finally:
        (sockets / ".s.PGSQL.5432").unlink()
        sockets.rmdir()


def test_root_stops_a_worker_that_root_started_in_the_folder_of_a_user(folder: Path) -> None:
    data_dir = theirs(folder)
    files = processes.WorkerFiles.of(Settings(data_dir=data_dir, database_url=None))
    ready = folder / "ready"
    code = "import pathlib, signal, sys; pathlib.Path(sys.argv[1]).touch(); signal.pause()"
    command = [sys.executable, "-c", code, str(ready)]
    assert processes.start(files, ready.exists, command=command, environment=os.environ)
    assert processes.is_running(files)
    assert processes.stop(files)
    assert not processes.is_running(files)
    assert files.pid_file.stat().st_uid == ATTACKER
