"""Confirmation before something is removed for good, or paid for."""

from __future__ import annotations

import sys

import typer

from pgclarify.cli import terminal
from pgclarify.errors import InputError


def confirm(what: str, *, is_confirmed: bool) -> None:
    """Ask on a terminal whether to continue; a script must pass --yes.

    Args:
        what: What would happen, as a clause that begins with "this would".
        is_confirmed: Whether --yes was given.

    Raises:
        InputError: If --yes is missing, and standard input is not a terminal. typer.Exit: If the answer is no; the exit
            code is 1.
    """
    if is_confirmed:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(
            f"{what}, so it needs a confirmation", detail="Nothing has changed.", hint="Repeat the command with --yes."
        )
    if not typer.confirm(f"{what[0].upper()}{what[1:]}. Go on?", default=False, err=True):
        terminal.notices().print("Nothing has changed.")
        raise typer.Exit(1)
