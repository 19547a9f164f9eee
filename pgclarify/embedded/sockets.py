"""The Unix socket of the embedded server: its folder and its name."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from pgclarify.embedded.programs import Account

# The port in the name of the Unix socket. It does not follow the TCP port, so that connection strings stay valid.
PORT = 5432
_LONGEST_PORT = 65535
# sockaddr_un.sun_path without its final NUL.
_MAX_PATH_BYTES = 107 if sys.platform == "linux" else 103
_OUTSIDE, _PREFIX = Path("/tmp"), "pgclarify-"  # noqa: S108 - each folder in it is private


def path(folder: Path) -> Path:
    """The socket's path, as connection strings imply it."""
    return folder / f".s.PGSQL.{PORT}"


def make_folder(cluster: Path, account: Account | None) -> Path:
    """Return the cluster's folder, or create a private one with a shorter and plainer name.

    A socket's path must be short. libpq, dblink and the server separate paths at commas and white space.
    """
    is_plain = re.fullmatch(r"[\w./+@~%-]+", str(cluster))
    if is_plain and len(os.fsencode(cluster / f".s.PGSQL.{_LONGEST_PORT}")) <= _MAX_PATH_BYTES:
        return cluster
    # Not in TMPDIR, whose path may be as long. A new folder each time, so that no other user can have created it.
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_OUTSIDE))
    if account:
        os.chown(folder, account.uid, account.gid)
    return folder


def is_own(folder: Path, cluster: Path) -> bool:
    """Whether a folder, as a cluster names it, can have the sockets of its server only.

    After a restart of the machine, another user may create a folder of the same name in /tmp, with a server that looks
    like ours.
    """
    if folder == cluster:
        return True
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return False
    is_private = stat.S_ISDIR(status.st_mode) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return is_private and status.st_uid == cluster.stat().st_uid


def keep_name(folder: Path, port: int) -> None:
    """Keep the socket's name, which contains the TCP port, valid: a link with the usual name points to it."""
    usual = path(folder)
    if port != PORT:
        usual.unlink(missing_ok=True)
        usual.symlink_to(f".s.PGSQL.{port}")
    elif usual.is_symlink():
        usual.unlink()


def remove_folder(folder: Path, cluster: Path) -> None:
    """Remove the folder of make_folder, after its server has stopped."""
    if folder.parent != _OUTSIDE or not folder.name.startswith(_PREFIX) or not is_own(folder, cluster):
        return
    with suppress(OSError):
        path(folder).unlink(missing_ok=True)
        folder.rmdir()
