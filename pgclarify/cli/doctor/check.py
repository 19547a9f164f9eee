"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rich.text import Text

from pgclarify.cli.rendering import printable


class Level(StrEnum):
    """How serious it is; a problem makes `pgclarify doctor` exit with 1."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


_STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "bold red"}


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor.

    Attributes:
        name: What was checked.
        level: How serious it is.
        finding: What was found, as a part of a sentence without a full stop.
        remedy: What to do about it, in sentences; None if there is nothing to do.
    """

    name: str
    level: Level
    finding: str
    remedy: str | None = None

    def line(self) -> Text:
        """Render it on one line: level, name, finding and remedy."""
        text = Text()
        text.append(self.level.ljust(len(Level.PROBLEM)), style=_STYLES[self.level])
        text.append(f"  {self.name}: ", style="bold")
        text.append(printable(self.finding).rstrip(".") + ".")
        if self.remedy:
            text.append(f" {printable(self.remedy)}", style="cyan")
        return text


def ok(name: str, finding: str, remedy: str | None = None) -> Check:
    """Everything is in order."""
    return Check(name, Level.OK, finding, remedy)


def warning(name: str, finding: str, remedy: str | None = None) -> Check:
    """It works, but not as well as it could."""
    return Check(name, Level.WARNING, finding, remedy)


def problem(name: str, finding: str, remedy: str | None = None) -> Check:
    """Something does not work."""
    return Check(name, Level.PROBLEM, finding, remedy)
