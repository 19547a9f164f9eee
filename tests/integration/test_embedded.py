"""The real embedded server. Each test has its own data directory."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from pgclarify import embedded
from pgclarify.embedded import server
from pgclarify.errors import ConfigurationError, ServerUnavailable
from tests.servers import folder_of_servers

START = "import sys; from pathlib import Path; from pgclarify import embedded; print(embedded.start(Path(sys.argv[1])))"


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not tmp_path: pytest closes its parent folder to other users, so the server could not read it.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def used_dir() -> Iterator[Path]:
    """The data directory of a server that tests may stop and kill. Each of them starts it."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as name:
        yield Path(name) / "data"
        embedded.stop(Path(name) / "data")


@pytest.fixture
def data_dir(folder: Path) -> Iterator[Path]:
    yield folder / "data"
    embedded.stop(folder / "data")


def postmaster_pid(data_dir: Path) -> int:
    return int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def test_a_server_that_another_installation_started_is_known_by_its_programs(used_dir: Path) -> None:
    embedded.start(used_dir)
    assert embedded.started_elsewhere(used_dir) is None
    with tempfile.TemporaryDirectory() as name:
        environment = Path(name, "their environment")
        programs = environment / "lib" / "bin"
        programs.mkdir(parents=True)
        started = used_dir / "postgres" / "postmaster.opts"
        started.write_text(f'{programs / "postgres"} "-p" "5432"\n')
        assert embedded.started_elsewhere(used_dir) == programs
        (environment / "pyvenv.cfg").touch()
        assert embedded.started_elsewhere(used_dir) == environment
    embedded.stop(used_dir)
    assert embedded.started_elsewhere(used_dir) is None


def test_starts_with_what_pgclarify_needs_and_keeps_its_data(data_dir: Path) -> None:
    assert embedded.running_dsn(data_dir) is None
    assert not data_dir.exists()
    assert not embedded.stop(data_dir)

    dsn = embedded.start(data_dir)
    assert embedded.start(data_dir) == dsn
    assert embedded.running_dsn(data_dir) == dsn
    with psycopg.connect(dsn) as connection:
        assert connection.info.dbname == "pgclarify"
        connection.execute("create extension vector")
        connection.execute("create extension dblink")
        connection.execute("create table kept as select 42 as answer")
        settings: dict[str, str] = dict(
            connection.execute(
                "select name, setting from pg_settings where name = any(%s)",
                [["fsync", "listen_addresses", "max_connections", "server_encoding"]],
            ).fetchall()
        )
        assert settings == {
            "fsync": "on",
            "listen_addresses": "",
            "max_connections": "100",
            "server_encoding": "UTF8",
        }

    assert embedded.stop(data_dir)
    assert embedded.running_dsn(data_dir) is None
    assert not embedded.stop(data_dir)

    with psycopg.connect(embedded.start(data_dir)) as connection:
        assert connection.execute("select answer from kept").fetchone() == (42,)


def test_text_search_knows_letters_from_punctuation(used_dir: Path) -> None:
    with psycopg.connect(embedded.start(used_dir)) as connection:
        query = "select tsvector_to_array(to_tsvector('simple', '“Émile” said—naïve'))"
        assert connection.execute(query).fetchone() == (["naïve", "said", "émile"],)


def test_starts_at_once_are_one_start_also_beside_an_unfinished_cluster(data_dir: Path) -> None:
    unfinished = data_dir / "postgres.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    processes = [
        subprocess.Popen([sys.executable, "-c", START, str(data_dir)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    # communicate() ends with the pipe: the server must not keep it open.
    dsns = {process.communicate(timeout=300)[0].strip() for process in processes}

    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    assert dsns == {embedded.running_dsn(data_dir)}
    assert not unfinished.exists()


def test_a_server_opens_the_folder_above_for_passing_through_and_does_not_inherit_our_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret")
    monkeypatch.setenv("PGPORT", "1")
    home = folder / "home"
    home.mkdir(mode=0o700)
    try:
        with psycopg.connect(embedded.start(home / "data")) as connection:
            connection.execute("create temporary table environment (line text)")
            connection.execute("copy environment from program 'env'")
            lines = {row[0] for row in connection.execute("select line from environment").fetchall()}
        assert home.stat().st_mode & 0o777 == (0o701 if os.geteuid() == 0 else 0o700)
    finally:
        embedded.stop(home / "data")
    assert any(line.startswith("PGDATA=") for line in lines)
    assert not any(line.startswith(("OPENAI_API_KEY=", "PGPORT=")) for line in lines)


@pytest.mark.parametrize("name", ["long" * 25, "a, \"b\" $(c) 'd'"])
def test_data_directory_whose_name_does_not_suit_a_socket(folder: Path, name: str) -> None:
    data_dir = folder / name
    dsn = embedded.start(data_dir)
    try:
        with psycopg.connect(dsn) as connection:
            row = connection.execute("show unix_socket_directories").fetchone()
            assert row is not None
            socket_dir = Path(row[0])
            assert connection.execute("select 1").fetchone() == (1,)
        assert re.fullmatch(r"[\w/.-]+", str(socket_dir))
        assert socket_dir.stat().st_mode & 0o777 == 0o700
    finally:
        assert embedded.stop(data_dir)
    assert not socket_dir.exists()


def test_starts_again_after_a_crash_with_sessions_open(used_dir: Path) -> None:
    dsn = embedded.start(used_dir)
    with psycopg.connect(dsn) as connection:
        connection.execute("create table kept as select 42 as answer")
    with closing(psycopg.connect(dsn, autocommit=True)) as idle, closing(psycopg.connect(dsn)) as writing:
        idle.execute("select 1")
        writing.execute("delete from kept")
        pids = [pid for (pid,) in idle.execute("select pid from pg_stat_activity").fetchall()]
        os.kill(postmaster_pid(used_dir), signal.SIGKILL)
        wait_until(lambda: embedded.running_dsn(used_dir) is None)
        # PostgreSQL does not start while a process of the dead server is left. A zombie has no working folder.
        wait_until(lambda: not any(Path(f"/proc/{pid}/cwd").exists() for pid in pids))

        with psycopg.connect(embedded.start(used_dir)) as connection:
            assert connection.execute("select answer from kept").fetchone() == (42,)


def test_starts_if_the_server_dies_while_it_is_looked_for(used_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dsn = embedded.start(used_dir)
    find = server._find_postmaster
    dying = find(used_dir / "postgres")
    embedded.stop(used_dir)
    found = iter([dying])
    monkeypatch.setattr(server, "_find_postmaster", lambda cluster: next(found, None) or find(cluster))

    assert embedded.start(used_dir) == dsn


def test_waits_for_a_server_that_recovers_from_the_loss_of_a_process(used_dir: Path) -> None:
    dsn = embedded.start(used_dir)
    for _ in range(3):
        # A server that has not noticed the last loss yet may end this connection.
        with suppress(psycopg.OperationalError), psycopg.connect(dsn) as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)
            connection.execute("select 1")

        assert embedded.start(used_dir) == dsn


def test_process_id_of_a_dead_server_may_be_somebody_elses(used_dir: Path) -> None:
    dsn = embedded.start(used_dir)
    cluster = used_dir / "postgres"
    owner = cluster.stat()
    left_behind = {path: path.read_text() for path in (cluster / "postmaster.pid", cluster / ".s.PGSQL.5432.lock")}
    embedded.stop(used_dir)
    # A process of the server's user: PostgreSQL ignores processes of other users.
    other = subprocess.Popen(["sleep", "600"], user=owner.st_uid if os.geteuid() == 0 else None, cwd="/")
    try:
        for path, text in left_behind.items():
            path.write_text(f"{other.pid}\n" + text.split("\n", 1)[1])
            os.chown(path, owner.st_uid, owner.st_gid)

        assert embedded.running_dsn(used_dir) is None
        assert embedded.start(used_dir) == dsn
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_cluster_that_cannot_start_says_why(used_dir: Path) -> None:
    embedded.start(used_dir)
    embedded.stop(used_dir)
    settings = used_dir / "postgres" / "postgresql.auto.conf"
    before = settings.read_text()
    settings.write_text(f"{before}no_such_setting = 1\n")

    with pytest.raises(ServerUnavailable) as caught:
        embedded.start(used_dir)
    settings.write_text(before)
    assert "no_such_setting" in (caught.value.detail or "")


def test_data_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(ConfigurationError):
        embedded.start(path)


def test_binaries_run() -> None:
    for name in ("psql", "pg_dump", "pgbench"):
        path = embedded.binary(name)
        assert b"18." in subprocess.run([path, "--version"], capture_output=True, check=True).stdout
    with pytest.raises(ConfigurationError):
        embedded.binary("no-such-program")
    assert shutil.which("psql", path=str(embedded.binary("psql").parent))
