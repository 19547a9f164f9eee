"""The data of the report of a run, as one role sees it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import psycopg
from psycopg.rows import DictRow, namedtuple_row

from pgclarify.data.runs import Stage
from pgclarify.database.binary import reading_binary
from pgclarify.database.queries import queries
from pgclarify.errors import InputError, NotFound

Row: TypeAlias = Any
"""A row of a statement in database/report_queries.sql, with its columns as attributes."""
_OPERATIONS = ("clarify", "consolidate", "investigate", "list_answers", "search")


@dataclass(frozen=True, slots=True)
class RunReport:
    """Everything that the page of a run shows. Texts are None if this role may not read them, or if they are gone.

    Attributes:
        head: How the run was asked, its state and its cost.
        findings: Readings, steps or listed answers by ordinal, each with its citations in proofs.
        passages: What the run found, by rank, with the verdicts.
        stages: In the order in which they began; empty while the run is not over.
        explanation: The lines of `explain`.
        written_at: When the data was read.
    """

    head: Row
    findings: Sequence[Row]
    passages: Sequence[Row]
    stages: Sequence[Stage]
    explanation: Sequence[str]
    written_at: datetime


def read_run(database: psycopg.Connection[DictRow], run_id: int) -> RunReport:
    """Read a run with everything that it recorded, in one snapshot.

    Args:
        database: In autocommit; its role decides what is visible.
        run_id: The run; it may not be over yet.

    Raises:
        NotFound: If the run does not exist, or the role may not see it.
        InputError: If its operation has no report.
    """
    with database.transaction():
        database.execute(queries["report_begin"])
        seen = _rows(database, "report_run", run_id=run_id)
        if not seen:
            raise NotFound(
                "no such run",
                detail=f"There is no run {run_id}, or none that you may see.",
                hint="See which there are: pgclarify doctor",
            )
        (head,) = seen
        if head.operation not in _OPERATIONS:
            raise InputError(
                f"there is no report of {head.operation}",
                detail=f"Run {run_id} is none of {', '.join(_OPERATIONS)}.",
                hint=f"See what it did: pgclarify explain {run_id}",
            )
        proofs: defaultdict[int, list[Row]] = defaultdict(list)
        for citation in _rows(database, "report_citations", run_id=run_id):
            proofs[citation.ordinal].append(citation)
        return RunReport(
            head=head,
            findings=[
                finding._replace(proofs=proofs[finding.ordinal])
                for finding in _rows(database, "report_findings", run_id=run_id)
            ],
            passages=_rows(database, "report_passages", run_id=run_id, corpus_id=head.corpus_id),
            stages=[Stage(**row._asdict()) for row in _rows(database, "report_stages", run_id=run_id)],
            explanation=[row.line for row in _rows(database, "report_explain", run_id=run_id)],
            written_at=datetime.now(UTC),
        )


def _rows(database: psycopg.Connection[DictRow], name: str, **parameters: object) -> list[Row]:
    with reading_binary(psycopg.Cursor(database, row_factory=namedtuple_row)) as cursor:
        return cursor.execute(queries[name], parameters).fetchall()
