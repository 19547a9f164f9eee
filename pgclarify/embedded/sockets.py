"""The Unix socket of the embedded server: the folder it is in, and its name."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from pgclarify.embedded.programs import Account

# Of the Unix socket, whatever the port of TCP: connection strings last.
PORT = 5432
_LONGEST_PORT = 65535
# sockaddr_un.sun_path without its final NUL.
_MAX_PATH_BYTES = 107 if sys.platform == "linux" else 103


def path(folder: Path) -> Path:
    """The socket's path, as connection strings imply it."""
    return folder / f".s.PGSQL.{PORT}"


def make_folder(cluster: Path, account: Account | None) -> Path:
    """The cluster's folder, or a private one with a shorter and plainer name.

    A socket's address is short, and a comma or white space in it separates addresses to libpq, dblink and the server.
    """
    is_plain = re.fullmatch(r"[\w./+@~%-]+", str(cluster))
    if is_plain and len(os.fsencode(cluster / f".s.PGSQL.{_LONGEST_PORT}")) <= _MAX_PATH_BYTES:
        return cluster
    # Not the usual temporary folder, which may be as long. A new folder each time: nobody else can have made it.
    folder = Path(tempfile.mkdtemp(prefix="pgclarify-", dir="/tmp"))
    if account:
        os.chown(folder, account.uid, account.gid)
    return folder


def keep_name(folder: Path, port: int) -> None:
    """Keep the socket's name, of which the port of TCP is a part: a link of the usual name leads to it."""
    usual = path(folder)
    if port != PORT:
        usual.unlink(missing_ok=True)
        usual.symlink_to(f".s.PGSQL.{port}")
    elif usual.is_symlink():
        usual.unlink()


def remove_folder(folder: Path, cluster: Path) -> None:
    """Remove what make_folder has made, once its server has stopped."""
    if folder == cluster:
        return
    with suppress(OSError):
        path(folder).unlink(missing_ok=True)
        folder.rmdir()
