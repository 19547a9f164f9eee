"""Starts, finds and stops the embedded server.

PostgreSQL refuses to run as root. If we are root, it runs as the system user `pgclarify`, which is created if
necessary.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pgclarify.embedded import access, listening, private_files, sockets
from pgclarify.embedded.access import SUPERUSER
from pgclarify.embedded.listening import Address
from pgclarify.embedded.process_identity import has_proc
from pgclarify.embedded.programs import Account, binary, open_path, run, server_account
from pgclarify.errors import ConfigurationError, InputError, ServerUnavailable

_DATABASE = "pgclarify"
# Recovery after a crash comes before the first connection, and may take some time.
_START_SECONDS = 120
# A server that has been ready recovers within seconds after one of its processes was killed.
_RECOVERY_SECONDS = 15
_STOP_SECONDS = 60
_LOG = "server.log"
# The text search parser recognizes letters by LC_CTYPE: with C, every non-ASCII character is a letter.
_LOCALE = "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8"
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "2GB",
}
if sys.platform == "linux":
    # Parallel index builds need maintenance_work_mem of shared memory, and /dev/shm of a container has 64 MB.
    _SETTINGS["dynamic_shared_memory_type"] = "sysv"
    # After a crash, one system call instead of one for each file.
    _SETTINGS["recovery_init_sync_method"] = "syncfs"


def start(data_dir: Path) -> str:
    """Start the server, with a new cluster and database if there are none. It outlives this process.

    Does nothing if the server runs. Several processes may call this at the same time.

    Args:
        data_dir: The folder of the server's data; created if it does not exist.

    Returns:
        libpq connection URL of the database "pgclarify", as superuser.

    Raises:
        ConfigurationError: If the package is not installed, or the data directory cannot be used.
        ServerUnavailable: If the server does not start, or another process keeps the data directory locked.
    """
    binary("pg_ctl")
    data_dir = _absolute(data_dir)
    cluster = data_dir / "postgres"
    with _usable(data_dir):
        private_files.make_data_dir(data_dir)
        with private_files.locked(data_dir):
            postmaster = _find_postmaster(cluster)
            if postmaster is None or not _ensure_database(postmaster, cluster):
                postmaster = _start_stopped(data_dir)
                if not _ensure_database(postmaster, cluster):
                    raise _stopped_at_once(cluster)
            return postmaster.dsn(_DATABASE)


def _start_stopped(data_dir: Path) -> _Postmaster:
    cluster = data_dir / "postgres"
    address = listening.kept(data_dir)
    account = server_account(cluster)
    if account:
        open_path(data_dir, account)
        open_path(binary("postgres").parent, account)
    if not cluster.exists():
        _create_cluster(cluster, account)
    return _start_postmaster(cluster, account, address)


def stop(data_dir: Path) -> bool:
    """Stop the server; open transactions are rolled back.

    Returns:
        True if it was running.

    Raises:
        ConfigurationError: If the package is not installed, or the data directory cannot be used.
        ServerUnavailable: If the server does not stop, or another process keeps the data directory locked.
    """
    data_dir = _absolute(data_dir)
    cluster = data_dir / "postgres"
    with _usable(data_dir):
        if not cluster.exists():
            return False
        private_files.check_data_dir(data_dir)
        with private_files.locked(data_dir):
            postmaster = _find_postmaster(cluster)
            if postmaster is None:
                return False
            _stop_postmaster(postmaster, cluster, server_account(cluster))
            sockets.remove_folder(postmaster.socket_dir, cluster)
            return True


def listen(data_dir: Path, address: Address | None) -> bool:
    """Open or close TCP, now and for all later starts.

    A running server is restarted if its address changes, which ends its connections. If it cannot start with the new
    address, it keeps the old one. A stopped server is not started.

    Args:
        data_dir: The folder of the server's data; created if it does not exist.
        address: The new address; None means the Unix socket alone.

    Returns:
        True if a server was restarted.

    Raises:
        ConfigurationError: If the package is not installed, or the data directory cannot be used.
        ServerUnavailable: If it cannot listen there; or if it does not stop in time, and then ends later. The address
            has not changed.
    """
    binary("pg_ctl")
    data_dir = _absolute(data_dir)
    cluster = data_dir / "postgres"
    with _usable(data_dir):
        private_files.make_data_dir(data_dir)
        with private_files.locked(data_dir):
            postmaster = _find_postmaster(cluster)
            before = postmaster.address if postmaster else None
            must_restart = postmaster is not None and before != address
            if postmaster is not None and must_restart:
                account = server_account(cluster)
                _stop_postmaster(postmaster, cluster, account)
                # The same folder as before, because connection strings and workers use it.
                socket_dir = postmaster.socket_dir
                try:
                    _start_postmaster(cluster, account, address, socket_dir)
                except ServerUnavailable:
                    _start_postmaster(cluster, account, before, socket_dir)
                    raise
            listening.keep(data_dir, address)
            return must_restart


def listens_on(data_dir: Path) -> Address | None:
    """Return the TCP address of the running server; None without TCP, or if it does not run.

    Raises:
        ConfigurationError: If the data directory cannot be used.
    """
    data_dir = _absolute(data_dir)
    with _usable(data_dir):
        postmaster = _find_postmaster(data_dir / "postgres")
        return postmaster.address if postmaster else None


def running_dsn(data_dir: Path) -> str | None:
    """Return the connection URL of the database "pgclarify", as superuser, if the server runs. Changes nothing.

    Raises:
        ConfigurationError: If the data directory cannot be used.
    """
    data_dir = _absolute(data_dir)
    with _usable(data_dir):
        postmaster = _find_postmaster(data_dir / "postgres")
        return postmaster.dsn(_DATABASE) if postmaster and postmaster.is_ready else None


def started_elsewhere(data_dir: Path) -> Path | None:
    """Return the folder of another installation whose programs run the server; None if they are ours, or none run.

    Raises:
        ConfigurationError: If the data directory cannot be used.
    """
    cluster = _absolute(data_dir) / "postgres"
    with _usable(data_dir):
        if _find_postmaster(cluster) is None:
            return None
        # The command line of the server's last start, as the server wrote it.
        program, _, _ = (cluster / "postmaster.opts").read_text(errors="surrogateescape").partition(' "')
    installed = Path(program).parent
    if installed.resolve() == binary("postgres").parent.resolve():
        return None
    environments = (folder for folder in installed.parents if (folder / "pyvenv.cfg").exists())
    return next(environments, installed)


def is_own(data_dir: Path, url: str) -> bool:
    """Tell whether a connection string is the one that running_dsn returns, or would return for a running server.

    If the sockets are in another folder than the data directory, this is known only while the server runs.
    """
    cluster = _absolute(data_dir) / "postgres"
    try:
        given = conninfo_to_dict(url)
        postmaster = _find_postmaster(cluster) or _Postmaster(cluster, is_ready=False, address=None, process_id=0)
    except (psycopg.ProgrammingError, OSError):
        return False
    return given == conninfo_to_dict(postmaster.dsn(_DATABASE))


@dataclass(frozen=True, slots=True)
class _Postmaster:
    """A server that answers."""

    socket_dir: Path
    is_ready: bool
    address: Address | None
    process_id: int

    def dsn(self, database: str) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(self.socket_dir), safe='')}&port={sockets.PORT}"


def _absolute(data_dir: Path) -> Path:
    return data_dir.expanduser().resolve()


@contextmanager
def _usable(data_dir: Path) -> Iterator[None]:
    """Convert errors of the file system into ours."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            "the data directory of the embedded server cannot be used",
            detail=f"{data_dir}: {error}.",
            hint="Run as the user it belongs to, or set PGCLARIFY_DATA_DIR to your own folder.",
        ) from error


def _find_postmaster(cluster: Path) -> _Postmaster | None:
    """Find the server by its postmaster.pid.

    Only a live server answers on its socket. The process id alone may belong to another process by now.

    Raises:
        PermissionError: If the cluster belongs to another user, who could read what we send to its server.
    """
    try:
        if os.geteuid() not in (0, cluster.stat().st_uid):
            raise PermissionError(errno.EACCES, "it belongs to another user", str(cluster))
        lines = os.fsdecode((cluster / "postmaster.pid").read_bytes()).splitlines()
    except FileNotFoundError:
        return None
    # Lines: pid, data directory, start time, port, socket directory, listen address, shared memory, status.
    if len(lines) < 5 or not lines[0].isdecimal() or not lines[4]:
        return None
    socket_dir = Path(lines[4])
    if not sockets.is_own(socket_dir, cluster):
        return None
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        # A server that is too busy to answer is alive.
        with suppress(TimeoutError):
            try:
                client.connect(str(sockets.path(socket_dir)))
            except (FileNotFoundError, ConnectionRefusedError):
                return None
    address = None
    if len(lines) > 5 and lines[5]:
        # A person may have written a host name into postgresql.conf, which we never do.
        with suppress(InputError):
            host = "0.0.0.0" if lines[5] == "*" else lines[5]  # noqa: S104 - what is, not what is to be
            address = Address.parse(f"[{host}]:{lines[3]}" if ":" in host else f"{host}:{lines[3]}")
    is_ready = len(lines) > 7 and lines[7].strip() == "ready"
    return _Postmaster(socket_dir, is_ready=is_ready, address=address, process_id=int(lines[0]))


def _create_cluster(cluster: Path, account: Account | None) -> None:
    """Run initdb in another folder, and move the result to its place, so that no cluster is incomplete."""
    unfinished = cluster.with_suffix(".new")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir(mode=0o700)
    if account:
        os.chown(unfinished, account.uid, account.gid, follow_symlinks=False)
    arguments = ["-U", SUPERUSER, "--encoding=UTF8", f"--locale={_LOCALE}"]
    # For people who start it by other means; our own rules replace these.
    arguments += ["--auth-local=peer", "--auth-host=scram-sha-256"]
    arguments += [f"--set={name}={value}" for name, value in _SETTINGS.items()]
    if sys.platform == "linux":
        # One system call instead of one for each file: a sixth of the time.
        arguments.append("--sync-method=syncfs")
    exit_code, output = run("initdb", arguments, unfinished, account)
    if exit_code != 0:
        raise ServerUnavailable("the embedded server could not create its cluster", detail=output)
    unfinished.rename(cluster)


def _start_postmaster(
    cluster: Path, account: Account | None, address: Address | None, socket_dir: Path | None = None
) -> _Postmaster:
    _remove_stale_lock_files(cluster)
    socket_dir = socket_dir or sockets.make_folder(cluster, account)
    # TCP stays closed, even if a person wrote an address into postgresql.conf.
    settings = {"unix_socket_directories": str(socket_dir), "listen_addresses": ""}
    port = sockets.PORT
    if address is not None:
        port = address.port
        settings["listen_addresses"] = address.host
    settings |= access.write(cluster, address, account)
    sockets.keep_name(socket_dir, port)
    options = " ".join([f"-p {port}", *(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())])
    place = "" if address is None else f" at {address}"
    _run_pg_ctl(
        cluster,
        ["start", "-w", "-t", str(_START_SECONDS), "-l", _LOG, "-o", options],
        account,
        f"start{place}",
        "To choose another address, or none: pgclarify up --listen HOST:PORT, or off." if place else "",
    )
    postmaster = _find_postmaster(cluster)
    if postmaster is None:
        raise _stopped_at_once(cluster)
    return postmaster


def _stopped_at_once(cluster: Path) -> ServerUnavailable:
    return ServerUnavailable("the embedded server stopped right after its start", detail=_log_end(cluster))


def _stop_postmaster(postmaster: _Postmaster, cluster: Path, account: Account | None) -> None:
    # A socket can be reached from another container. There the process id means another process, or none.
    if _works_in(postmaster.process_id, cluster) is False:
        raise ServerUnavailable(
            "the embedded server does not run on this machine or in this container",
            detail=f"It answers, but process {postmaster.process_id} is not the server of {cluster}.",
            hint="Stop it where it was started.",
        )
    _run_pg_ctl(
        cluster,
        ["stop", "-m", "fast", "-w", "-t", str(_STOP_SECONDS)],
        account,
        "stop in time",
        "It takes no connections any more, and ends once those are closed that it has. Then start it: pgclarify up.",
    )


def _remove_stale_lock_files(cluster: Path) -> None:
    """Remove a dead server's lock files if its process id now belongs to another program.

    PostgreSQL would take that program for a running server. This is common in containers: process ids repeat after a
    restart, and dead processes keep theirs if they are not reaped. Two servers still cannot share a cluster: PostgreSQL
    ensures that with shared memory, whose key is the cluster's inode.
    """
    for lock_file in (cluster / "postmaster.pid", *cluster.glob(".s.PGSQL.*.lock")):
        try:
            pid = int(lock_file.read_bytes().split(maxsplit=1)[0])
        except FileNotFoundError:
            continue
        except (ValueError, IndexError):
            # PostgreSQL itself must judge it.
            continue
        if _works_in(pid, cluster) is False:
            lock_file.unlink(missing_ok=True)


def _works_in(process_id: int, cluster: Path) -> bool | None:
    """Whether a process has the cluster as its working folder, as its server has; None if we cannot know."""
    if not has_proc():
        return None
    try:
        return Path(f"/proc/{process_id}/cwd").samefile(cluster)
    except FileNotFoundError:
        return False
    except PermissionError:
        # Another user's process.
        return None


def _ensure_database(postmaster: _Postmaster, cluster: Path) -> bool:
    """Create the database if it is missing. Returns False if the server turns out to have stopped."""
    deadline = time.monotonic() + (_RECOVERY_SECONDS if postmaster.is_ready else _START_SECONDS)
    while True:
        try:
            with psycopg.connect(postmaster.dsn("postgres"), autocommit=True, connect_timeout=10) as connection:
                found = connection.execute("select 1 from pg_database where datname = %s", [_DATABASE]).fetchone()
                if not found:
                    connection.execute(sql.SQL("create database {}").format(sql.Identifier(_DATABASE)))
                return True
        except psycopg.OperationalError as error:
            # A server that was killed answers on its socket for some moments.
            if _find_postmaster(cluster) is None:
                return False
            # The server may be starting, or recovering from the loss of one of its processes.
            if time.monotonic() > deadline:
                raise ServerUnavailable(
                    "the embedded server runs but accepts no connections", detail=f"{error}\n{_log_end(cluster)}"
                ) from error
            time.sleep(0.1)


def _run_pg_ctl(cluster: Path, arguments: list[str], account: Account | None, verb: str, advice: str) -> None:
    exit_code, output = run("pg_ctl", arguments, cluster, account)
    if exit_code != 0:
        raise ServerUnavailable(
            f"the embedded server did not {verb}",
            detail=f"{output}\n{_log_end(cluster)}".strip(),
            hint=f"{advice} Its log is {cluster / _LOG}.".strip(),
        )


def _log_end(cluster: Path) -> str:
    """Return the last lines of the server's log."""
    try:
        # Root may read it, and must not show what a link points to.
        with os.fdopen(os.open(cluster / _LOG, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 2000))
            return log.read().decode(errors="replace").strip()
    except OSError:
        return ""
