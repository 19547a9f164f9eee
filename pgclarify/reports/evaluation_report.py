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
    """One evaluation with its results.

    Attributes:
        number: Its number in charts, from 1.
        evaluation: The evaluation.
        summaries: Its metrics by name. If it is not finished, over the cases that are done.
        values: The metrics of each finished case, by ordinal.
        curves: The coverage of its verdicts after so many calls; None for methods without verdicts.
        strata: Its metrics within each stratum, by stratum and name; empty if it is not finished.
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
        is_known: Whether its answer contains a known answer; None if no answer is known.
        is_grounded: Whether the judge found it grounded; None if it was not judged.
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
    """The output of one evaluation for a case.

    Attributes:
        readings: The first readings.
        left_out: How many more there are.
    """

    member: Evaluated
    case: EvaluatedCase
    readings: tuple[GivenReading, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case with the outputs of all evaluations.

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
        left_out: How many of the best cases are not shown, because there is no room.
        worst: Cases with the lowest mean of the leading metric, worst first.
        slowest: Slowest first.
        is_by_model: Whether times are those of the model; otherwise, those of the whole answer.
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
        members: At least one, all of the same cases; in the given order, else oldest first.
        metric: The metric of charts and lists; None if no metric is suitable.
        cases: The cases that are shown.
        left_out: How many evaluations of these cases are not shown, because they have no case or there is no room.
        written_at: When the data was read.
    """

    members: tuple[Evaluated, ...]
    metric: str | None
    cases: Cases
    left_out: int
    written_at: datetime
