"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How serious it is; a problem makes `pgclarify doctor` exit with 1."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


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


def ok(name: str, finding: str, remedy: str | None = None) -> Check:
    """Everything is in order."""
    return Check(name, Level.OK, finding, remedy)


def warning(name: str, finding: str, remedy: str | None = None) -> Check:
    """It works, but not as well as it could."""
    return Check(name, Level.WARNING, finding, remedy)


def problem(name: str, finding: str, remedy: str | None = None) -> Check:
    """Something does not work."""
    return Check(name, Level.PROBLEM, finding, remedy)
