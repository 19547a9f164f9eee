"""Frozen data of the report of evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pgclarify.evaluated import EvaluatedCase, Evaluation, Summary
from pgclarify.reports.marks import Mark, mark
from pgclarify.reports.verdict_curves import VerdictCurves


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One evaluation with all that it came to.

    Attributes:
        number: What it is called by in charts, from 1.
        evaluation: The evaluation.
        summaries: Its metrics by name; of one that is not finished, over the cases that it has.
        values: The metrics of each case that it has, by ordinal.
        curves: What its verdicts had brought after so many calls; None of methods that have none.
        strata: Its metrics within each stratum, by stratum and name; none while it is not finished.
    """

    number: int
    evaluation: Evaluation
    summaries: Mapping[str, Summary]
    values: Mapping[int, Mapping[str, float]]
    curves: VerdictCurves | None = None
    strata: Mapping[str, Mapping[str, Summary]] = field(default_factory=dict)

    @property
    def mark(self) -> Mark:
        """How it is drawn."""
        return mark(self.number - 1, 7)


@dataclass(frozen=True, slots=True)
class GivenReading:
    """A reading that a method gave.

    Attributes:
        is_known: Whether a known answer stands in its answer; None if none is known.
        is_grounded: Whether the judge found it grounded; None if nobody judged that.
        left_out: How many citations are not shown.
    """

    interpretation: str
    answer: str | None
    support: int
    is_known: bool | None
    is_grounded: bool | None
    citations: Sequence[Mapping[str, Any]]
    left_out: int


@dataclass(frozen=True, slots=True)
class Given:
    """What one evaluation has of a case.

    Attributes:
        readings: The first ones.
        left_out: How many more there are.
    """

    member: Evaluated
    case: EvaluatedCase
    readings: tuple[GivenReading, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case with what all evaluations gave for it.

    Attributes:
        place: Its ordinal: unique on the page, and part of ids.
        known: Its known answers, each in all its spellings.
        known_readings: Its known readings, each a question (or None) and its answers.
        known_documents: Documents that are known to be relevant.
        score: The mean of the leading metric; None if no evaluation has it here.
    """

    place: int
    case_id: str
    question: str
    known: Sequence[Sequence[str]]
    known_readings: Sequence[Mapping[str, Any]]
    known_documents: Sequence[str]
    score: float | None
    given: tuple[Given, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a page.

    Attributes:
        shown: In the order of the data set.
        left_out: How many are not shown, for want of room: the best ones.
        worst: Those with the lowest mean of the leading metric, worst first.
        slowest: Slowest first.
        is_by_model: Whether slow means that the model took long; otherwise, that the answer did.
    """

    shown: tuple[ShownCase, ...]
    left_out: int
    worst: tuple[ShownCase, ...]
    slowest: tuple[ShownCase, ...]
    is_by_model: bool


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """Everything that the page of evaluations shows.

    Attributes:
        members: At least one; all of the same cases, oldest first unless they were named in another order.
        metric: What charts and lists of cases go by; None if there is none of that kind.
        cases: Those that it shows.
        left_out: How many evaluations of these cases are not shown, for want of a case or of room.
        written_at: When it was read.
    """

    members: tuple[Evaluated, ...]
    metric: str | None
    cases: Cases
    left_out: int
    written_at: datetime
