"""The command `pgclarify`: its subcommands, and how errors are shown.

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from pgclarify.cli import hints
from pgclarify.cli.commands import COMMANDS
from pgclarify.errors import PgclarifyError

if TYPE_CHECKING:
    import psycopg

# Objects are missing because the schema is missing: schema, table, function, type.
_NOT_INSTALLED = frozenset({"3F000", "42P01", "42883", "42704"})

# The server is shutting down, has crashed or is starting. 57014, a cancelled statement, is not included.
_SERVER_GOES = ("57P01", "57P02", "57P03")
_NOT_ALLOWED = "42501"
_LET_IN = "The owner of a corpus lets a role in: select pgclarify.grant_access('CORPUS', 'ROLE', 'user');"
_REPEAT = "Wait until it is back, and repeat the command: what was stored is kept."
_DISK_FULL = "53100"
_MAKE_ROOM = "Make room there and repeat the command: what was stored is kept. pgclarify doctor says more."
_INSTALL = "Run: pip install 'pgclarify[worker]', or 'pgclarify[embedded]' to have a PostgreSQL server, too."
_RUN_FAILED = "PC003"


class _Commands(TyperGroup):
    """Lists the commands on one screen, without frames: typer's own list has twice as many lines."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Print the usage, and the commands by group."""
        lines = ["Usage: pgclarify COMMAND …   asks PostgreSQL vague questions   (--help after a command, --version)"]
        group = ""
        for command in COMMANDS:
            if command.rich_help_panel != group:
                group = str(command.rich_help_panel)
                lines.append(group)
            lines.append(f"  {command.name:<20} {command.help}")
        formatter.write("\n".join(lines))


_app = typer.Typer(
    name="pgclarify",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@_app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", metavar="", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from pgclarify import __version__

        typer.echo(f"pgclarify {__version__}")
        raise typer.Exit


@cache
def all_commands() -> TyperGroup:
    """All commands, created once in a process."""
    group = cast("TyperGroup", typer.main.get_command(_app))
    for command in COMMANDS:
        group.add_command(command)
    return group


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    Args:
        arguments: Without the program's name; None reads them from the process.
    """
    from pgclarify.cli.terminal import survive_any_encoding

    survive_any_encoding()
    try:
        all_commands()(args=arguments, prog_name="pgclarify")
    except Exception as error:
        if os.environ.get("PGCLARIFY_DEBUG") == "1":
            raise
        from pgclarify.cli import rendering, terminal

        terminal.notices().print(rendering.failure(*explain(error)), soft_wrap=True)
        sys.exit(1)
    sys.exit(0)


def explain(error: Exception) -> tuple[str, str | None, str | None]:
    """Return message, detail and hint for any error of a command."""
    if isinstance(error, PgclarifyError):
        return error.message, error.detail, error.hint
    if isinstance(error, OSError):
        place = f"The path is {error.filename}." if error.filename else None
        return (error.strerror or type(error).__name__).lower(), place, None
    if isinstance(error, ModuleNotFoundError):
        return f"this needs {error.name}, which is not installed", None, _INSTALL
    if isinstance(error, UnicodeEncodeError):
        # Python decodes an invalid byte as a lone surrogate.
        return "an argument is no valid text", f"Its character {error.start + 1} is none.", "Type it in UTF-8."
    # If psycopg raised the error, it is imported already. So this import costs nothing.
    import psycopg

    if isinstance(error, psycopg.Error):
        return _explain_database_error(error)
    return (
        f"unexpected {type(error).__name__}",
        str(error) or None,
        "Set PGCLARIFY_DEBUG=1 to see where it happened.",
    )


def _explain_database_error(error: psycopg.Error) -> tuple[str, str | None, str | None]:
    from psycopg import OperationalError

    diagnostic = error.diag
    if diagnostic.message_primary is None:
        # The error is not from the server: the connection broke, or the driver refused a value.
        is_lost = isinstance(error, OperationalError)
        message = "the connection to the database server was lost" if is_lost else "the database driver failed"
        advice = _REPEAT if is_lost else None
        return message, str(error) or None, advice
    if diagnostic.sqlstate == _RUN_FAILED:
        advice = f"{hints.hint_of(diagnostic) or ''} pgclarify doctor says more.".strip()
        return diagnostic.message_primary, diagnostic.message_detail, advice
    if (diagnostic.sqlstate or "").startswith(_SERVER_GOES):
        return (
            "the database server went away",
            f"It said: {diagnostic.message_primary}.",
            _REPEAT,
        )
    if diagnostic.sqlstate == _DISK_FULL:
        return "the disk of the database server is full", f"It said: {diagnostic.message_primary}.", _MAKE_ROOM
    if diagnostic.sqlstate == _NOT_ALLOWED and diagnostic.message_hint is None:
        return diagnostic.message_primary, diagnostic.message_detail, _LET_IN
    is_ours = "pgclarify" in diagnostic.message_primary
    if diagnostic.message_hint is None and diagnostic.sqlstate in _NOT_INSTALLED and is_ours:
        return (
            "pgclarify is not installed in this database, or in another version",
            f"The server says: {diagnostic.message_primary}.",
            "Run: pgclarify init",
        )
    return diagnostic.message_primary, diagnostic.message_detail, hints.hint_of(diagnostic)
