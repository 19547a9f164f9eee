"""The two streams of the command line: results on stdout, everything said about them on stderr."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# Where no one looks at the screen's width, lines break late.
_PIPE_WIDTH = 120
_COMMAND = re.compile(r"(?<![\w./-])pgclarify (?=[a-z])")


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    # Nothing that is printed is read as markup: most of it comes from corpora, models and users.
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False, width=width)


def results() -> Console:
    """What a command was asked for."""
    return _console(stderr=False)


def notices() -> Console:
    """Progress, remarks and errors."""
    return _console(stderr=True)


def print_json(row: Mapping[str, Any]) -> None:
    """Write one JSON line; times and decimals as text."""
    sys.stdout.write(json.dumps(row, ensure_ascii=True, default=str) + "\n")


def examples(*commands: str) -> str:
    """The last lines of a command's help."""
    from rich.markup import escape

    return "\n".join(("[bold]Examples[/bold]", *(escape(f"$ {command}") for command in commands)))


def commands(text: str) -> str:
    """Text with commands of ours, as they can be typed here: by the program's path where its name is not found."""
    ours = Path(sys.executable).parent / "pgclarify"
    found = shutil.which("pgclarify")
    if not ours.exists() or (found is not None and ours.samefile(found)):
        return text
    here = Path.cwd()
    path = str(ours)
    # In that very folder, its name alone would be looked for elsewhere.
    if ours.is_relative_to(here) and ours.parent != here:
        path = str(ours.relative_to(here))
    return _COMMAND.sub(lambda _: f"{shlex.quote(path)} ", text)


def survive_any_encoding() -> None:
    """Let a terminal without UTF-8 show a question mark where it lacks a letter, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
