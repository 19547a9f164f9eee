"""The command install-extension: the files of CREATE EXTENSION pgclarify."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from pgclarify.cli import terminal
from pgclarify.errors import ConfigurationError

INSTALL_EXTENSION_EXAMPLES = terminal.examples(
    "sudo pgclarify install-extension",
    "pgclarify install-extension --pg-config /usr/lib/postgresql/18/bin/pg_config",
    "pgclarify install-extension --directory extension",
)


def install_extension(
    pg_config: Annotated[
        str,
        typer.Option(metavar="PATH", help="The server's pg_config, which says where the server looks for extensions."),
    ] = "pg_config",
    directory: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the files here instead, to copy them to the server."),
    ] = None,
) -> None:
    """Put the files of CREATE EXTENSION pgclarify where a PostgreSQL server on this machine finds them."""
    from pgclarify.install.create_extension.files import write_files

    if directory is None:
        folder = _extension_directory(pg_config)
    else:
        folder = directory
        folder.mkdir(parents=True, exist_ok=True)
    for path in write_files(folder):
        typer.echo(path)
    if directory is None:
        terminal.notices().print("Now, in each database, as a superuser: create extension pgclarify cascade;")


def _extension_directory(pg_config: str) -> Path:
    try:
        found = subprocess.run([pg_config, "--sharedir"], stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConfigurationError(
            "pg_config cannot be run",
            detail=f"{error.strerror if isinstance(error, OSError) else error}.",
            hint="Pass the server's: pgclarify install-extension --pg-config PATH. Some systems have it in a package of"
            " their own, such as libpq-dev or postgresql-server-dev.",
        ) from None
    return Path(found.stdout.strip(), "extension")
