"""Shows that a command is at work, and how far it is: on a terminal by what moves, in a pipe by a line now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from pgclarify.cli import terminal

# Seconds between two lines in a pipe. A log stays short, and its reader sees that the command is alive.
SECONDS = 10.0


@contextmanager
def waiting(what: str) -> Iterator[Callable[[str], None]]:
    """Show what is waited for, while the block runs.

    Args:
        what: Such as `Reading passages`; it may be foreign text.

    Yields:
        A function that shows something else from then on.
    """
    console = terminal.notices()
    if console.is_terminal:
        with terminal.moving(console), console.status(Text(what)) as status:
            yield lambda text: status.update(Text(text))
        return
    shown = what

    def show(text: str) -> None:
        nonlocal shown
        shown = text

    with _lines(lambda: shown):
        yield show


@contextmanager
def bars() -> Iterator[Progress]:
    """Show tasks, each with how much of it is done, while the block runs."""
    console = terminal.notices()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    if console.is_terminal:
        with terminal.moving(console), progress:
            yield progress
        return
    with _lines(lambda: _described(progress)):
        yield progress


def _described(progress: Progress) -> str:
    """Describe all tasks: `Indexing passages: 400 of 1,200`."""
    described = []
    for task in progress.tasks:
        whole = "" if task.total is None else f" of {task.total:,.0f}"
        described.append(f"{Text.from_markup(task.description).plain}: {task.completed:,.0f}{whole}")
    return "; ".join(described)


@contextmanager
def _lines(describe: Callable[[], str]) -> Iterator[None]:
    """Write a line every ten seconds, while the block runs."""
    is_over = threading.Event()
    began = time.monotonic()

    def write() -> None:
        while not is_over.wait(SECONDS):
            if described := describe():
                terminal.notices().print(f"{described} ({time.monotonic() - began:.0f} s)", soft_wrap=True)

    # Without `daemon`, an interrupt would wait for the next line.
    writer = threading.Thread(target=write, name="progress", daemon=True)
    writer.start()
    try:
        yield
    finally:
        is_over.set()
        writer.join()
