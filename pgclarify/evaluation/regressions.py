"""Finds answers that are known to be wrong, and are given again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.database.evaluations import EvaluatedCase


@dataclass(frozen=True, slots=True)
class Regression:
    """A reading of an evaluation whose answer is known to be wrong.

    Attributes:
        case_id: The case.
        question: Its question.
        interpretation: The reading.
        answer: Its answer.
        run_id: The run; None for baselines, or once it was deleted.
    """

    case_id: str
    question: str
    interpretation: str
    answer: str
    run_id: int | None


def regressions(cases: Iterable[EvaluatedCase]) -> Iterator[Regression]:
    """Yield the readings whose answers are known to be wrong, by case."""
    for case in cases:
        known = case.gold.get("wrong_answers", ())
        for reading in case.output["interpretations"]:
            answer = reading["answer"] or ""
            if cover_exact_match(answer, known):
                yield Regression(case.case_id, case.question, reading["interpretation"], answer, case.run_id)
