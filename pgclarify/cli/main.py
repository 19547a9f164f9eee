"""The command `pgclarify`: its subcommands, and how errors are shown.

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from pgclarify.cli.commands import COMMANDS
from pgclarify.data.vocabulary import LOADING
from pgclarify.errors import PgclarifyError

_INSTALL = "Run: pip install 'pgclarify[worker]', or 'pgclarify[embedded]' to have a PostgreSQL server, too."


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
    try:
        _run(arguments)
    except SystemExit as ending:
        _leave_searches(ending.code)
        raise
    sys.exit(0)


def _run(arguments: Sequence[str] | None) -> None:
    from pgclarify.cli.terminal import survive_any_encoding

    survive_any_encoding()
    try:
        all_commands()(args=arguments, prog_name="pgclarify")
    except Exception as error:
        if os.environ.get("PGCLARIFY_DEBUG") == "1":
            raise
        from pgclarify.cli import hints, rendering, terminal

        message, detail, hint = explain(error)
        hint = hint and hints.on_the_command_line(hint)
        terminal.notices().print(rendering.failure(message, detail, hint), soft_wrap=True)
        sys.exit(1)


def _leave_searches(code: str | int | None) -> None:
    """End the process at once if a thread searches for a model: Python would wait for it, for a minute or more."""
    if not any(thread.name.startswith(LOADING) for thread in threading.enumerate()):
        return
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    if code is None:
        os._exit(0)
    # sys.exit with a text ends a process with 1.
    os._exit(code if isinstance(code, int) else 1)


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
        from pgclarify.database.errors import CLIENT_REFUSALS, translation

        return explain(translation(error, CLIENT_REFUSALS))
    return (
        f"unexpected {type(error).__name__}",
        str(error) or None,
        "Set PGCLARIFY_DEBUG=1 to see where it happened.",
    )
