"""The two streams of the command line: results on stdout, all messages on stderr."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

STANDARD_STREAM = "-"
"""The name of a file that means standard output, or standard input."""
# Line width if the output is not a terminal.
_PIPE_WIDTH = 120
_moving: list[Console] = []
_COMMAND = re.compile(r"(?<![\w./-])pgclarify (?=[a-z])")


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    # Output is never parsed as markup, because most of it comes from corpora, models and users.
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False, width=width)


def results() -> Console:
    """Return the console for a command's results."""
    return _console(stderr=False)


def notices() -> Console:
    """Return the console for progress, remarks and errors.

    While something moves on one, it is that console: text of another would be written into the line that moves.
    """
    return _moving[-1] if _moving else _console(stderr=True)


def warn(message: str, hint: str | None) -> None:
    """Print a warning, which may be foreign text: one sentence, then what to do."""
    from pgclarify.cli.rendering import warning

    notices().print(warning(message, hint), soft_wrap=True)


@contextmanager
def moving(console: Console) -> Iterator[None]:
    """While the block runs, something moves on a console, so notices are printed above it."""
    _moving.append(console)
    try:
        yield
    finally:
        _moving.remove(console)


def print_json(row: Mapping[str, Any]) -> None:
    """Write one JSON line; times and decimals as text."""
    sys.stdout.write(json.dumps(row, ensure_ascii=True, default=str) + "\n")


def write_page(page: str, output: str) -> None:
    """Write an HTML page into a file, or to standard output."""
    if output == STANDARD_STREAM:
        # Independent of the terminal's encoding, because the page declares UTF-8.
        sys.stdout.buffer.write(page.encode())
        return
    Path(output).write_text(page, encoding="utf-8", newline="\n")
    notices().print(f"Wrote {output} ({math.ceil(len(page) / 1000):,} kB)", soft_wrap=True)


def examples(*commands: str) -> str:
    """Return the examples at the end of a command's help."""
    from rich.markup import escape

    return "\n".join(("[bold]Examples[/bold]", *(escape(f"$ {command}") for command in commands)))


def commands(text: str) -> str:
    """Replace our commands in a text by commands that work here: with the program's path if its name is not found."""
    ours = Path(sys.executable).parent / "pgclarify"
    found = shutil.which("pgclarify")
    if not ours.exists() or (found is not None and ours.samefile(found)):
        return text
    here = Path.cwd()
    path = str(ours)
    # In that very folder, a shell would not find the plain name.
    if ours.is_relative_to(here) and ours.parent != here:
        path = str(ours.relative_to(here))
    return _COMMAND.sub(lambda _: f"{shlex.quote(path)} ", text)


def survive_any_encoding() -> None:
    """Replace letters that the terminal's encoding does not have by question marks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
