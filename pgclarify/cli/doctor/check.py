"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is; a problem makes `pgclarify doctor` exit with 1."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's.

    Attributes:
        name: What was looked at.
        level: How bad it is.
        finding: What was found, as half a sentence without a full stop.
        remedy: What to do about it, in whole sentences; None if there is nothing to do.
    """

    name: str
    level: Level
    finding: str
    remedy: str | None = None


def ok(name: str, finding: str) -> Check:
    """All is well."""
    return Check(name, Level.OK, finding)


def warning(name: str, finding: str, remedy: str | None = None) -> Check:
    """It works, but not as well as it could."""
    return Check(name, Level.WARNING, finding, remedy)


def problem(name: str, finding: str, remedy: str | None = None) -> Check:
    """Something does not work."""
    return Check(name, Level.PROBLEM, finding, remedy)
