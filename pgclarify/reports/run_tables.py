"""Reads the data of the report of a run, as one role sees it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import DictRow

from pgclarify.data.runs import Stage
from pgclarify.database.queries import queries
from pgclarify.errors import InputError, NotFound
from pgclarify.reports.run_report import Finding, Proof, RunHead, RunReport, SeenPassage

# The statements for an operation's findings and for their citations; None if it only has passages.
_FINDINGS: Mapping[str, tuple[str, str] | None] = {
    "clarify": ("report_interpretations", "report_citations"),
    "consolidate": ("report_interpretations", "report_citations"),
    "investigate": ("report_steps", "report_citations"),
    "list_answers": ("report_answers", "report_citations"),
    "search": None,
}


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
        head = RunHead(**seen[0])
        if head.operation not in _FINDINGS:
            raise InputError(
                f"there is no report of {head.operation}",
                detail=f"Run {run_id} is none of {', '.join(_FINDINGS)}.",
                hint=f"See what it did: pgclarify explain {run_id}",
            )
        passages = _rows(database, "report_passages", run_id=run_id, corpus_id=head.corpus_id)
        return RunReport(
            head=head,
            findings=_findings(database, run_id, _FINDINGS[head.operation]),
            passages=tuple(SeenPassage(**{**row, "vector": _vector(row["vector"])}) for row in passages),
            stages=tuple(Stage(**row) for row in _rows(database, "report_stages", run_id=run_id)),
            explanation=tuple(row["line"] for row in _rows(database, "report_explain", run_id=run_id)),
            written_at=datetime.now(UTC),
        )


def _findings(
    database: psycopg.Connection[DictRow], run_id: int, statements: tuple[str, str] | None
) -> tuple[Finding, ...]:
    if statements is None:
        return ()
    proofs: defaultdict[int, list[Proof]] = defaultdict(list)
    for row in _rows(database, statements[1], run_id=run_id):
        proofs[row.pop("ordinal")].append(Proof(**row))
    return tuple(_finding(row, proofs[row["ordinal"]]) for row in _rows(database, statements[0], run_id=run_id))


def _finding(row: Mapping[str, Any], proofs: Sequence[Proof]) -> Finding:
    variants = tuple(variant for variant in row.get("variants", ()) if variant != row["answer"])
    return Finding(**{"question": None, **row, "variants": variants, "proofs": tuple(proofs)})


def _rows(database: psycopg.Connection[DictRow], name: str, **parameters: object) -> list[DictRow]:
    return database.execute(queries[name], parameters).fetchall()


def _vector(text: str | None) -> NDArray[np.float32] | None:
    # As text, so that the type's schema does not matter; the extension may be installed in any.
    return None if text is None else np.asarray(json.loads(text), dtype=np.float32)
