"""The progress of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pgclarify.cli import terminal

if TYPE_CHECKING:
    from pgclarify.evaluation.runner import Progress


@dataclass(slots=True)
class Bar:
    """A bar on stderr with the results so far; nothing if stderr is not a terminal.

    Attributes:
        title: The text before the bar.
        last: The last progress; None before the first.
    """

    title: str
    last: Progress | None = None
    _progress: Any = field(init=False)
    _task: Any = field(init=False)

    def __enter__(self) -> Bar:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = terminal.notices()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(self.title, total=None, told="")
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, progress: Progress) -> None:
        """Show the progress."""
        from pgclarify.cli.evaluation_rendering import progress_told

        self.last = progress
        told = progress_told(progress)
        self._progress.update(self._task, total=progress.total, completed=progress.done, told=told)
        if progress.is_summing_up:
            # No further progress is reported before the end.
            self._progress.refresh()
