"""The data of the report of a run, as one role sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, TypeAlias

import psycopg
from psycopg.rows import DictRow

from pgclarify.database.binary import reading_binary
from pgclarify.database.queries import queries
from pgclarify.errors import NotFound

Row: TypeAlias = Any
"""A row, with its columns as attributes: the comments of sql/explain describe them."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """Everything that the page of a run shows. Texts are None if this role may not read them, or if they are gone.

    Attributes:
        head: How the run was asked, its state and its cost.
        noun: What its findings are called; None if it looks for none, such as a search.
        findings: Readings, steps or listed answers by ordinal, each with its citations; is_shown is false for less sure
            readings.
        passages: What the run found, by rank, with the verdicts.
        stages: In the order in which they began; empty while the run is not over.
        lines: The lines of `explain`.
        written_at: When the data was read.
    """

    head: Row
    noun: str | None
    findings: Sequence[Row]
    passages: Sequence[Row]
    stages: Sequence[Row]
    lines: Sequence[Row]
    written_at: datetime


def read_run(database: psycopg.Connection[DictRow], run_id: int) -> RunReport:
    """Read a run with everything that it recorded.

    Args:
        database: Its role decides what is visible.
        run_id: The run; it may not be over yet.

    Raises:
        NotFound: If the run does not exist, or the role may not see it.
    """
    with reading_binary(database.cursor()) as cursor:
        head = cursor.execute(queries["report_run"], {"run_id": run_id}).fetchone()
    return report_of(head, run_id, datetime.now(UTC))


def no_run(run_id: int) -> NotFound:
    """Return the error of a run that does not exist, or that the role may not see."""
    return NotFound(
        "no such run",
        detail=f"There is no run {run_id}, or none that you may see.",
        hint="See which there are: pgclarify doctor",
    )


def report_of(row: Mapping[str, Any] | None, run_id: int, written_at: datetime) -> RunReport:
    """Make a report of the row of statement `report_run`.

    Args:
        row: The row; None if there is none.
        run_id: The run that was asked for.
        written_at: When it was read.

    Raises:
        NotFound: If there is no row.
    """
    if row is None:
        raise no_run(run_id)
    head = dict(row)
    report = head.pop("report")
    return RunReport(
        head=SimpleNamespace(**head),
        noun=report["noun"],
        findings=_rows(report["findings"]),
        passages=_rows(report["passages"]),
        stages=_rows(report["stages"]),
        lines=_rows(report["lines"]),
        written_at=written_at,
    )


def _rows(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    return [SimpleNamespace(**row) for row in rows]
