"""The data of the report of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from pgclarify.data.runs import Stage

Row: TypeAlias = Any
"""A row of a statement in database/report_queries.sql, with its columns as attributes."""


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
