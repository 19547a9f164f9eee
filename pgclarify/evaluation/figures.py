"""The figures of an evaluation: of one case, of all cases together, and of two evaluations compared."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.metrics import (
    answer_coverage,
    answer_f1,
    bootstrap_interval,
    cover_exact_match,
    f1_of_means,
    f1s_of_labels,
    mean,
    paired_bootstrap,
    recall_at,
)
from pgclarify.data.documents import Passage
from pgclarify.data.vocabulary import RunStatus
from pgclarify.declared.forms import Measure
from pgclarify.declared.operations import OPERATIONS
from pgclarify.evaluation.records import Case, Judge, Output, Stated
from pgclarify.language.words import asks_same_words

Row = Mapping[str, float]
Floats = NDArray[np.float64]

DEPTH: Final = 10
_SAMPLES: Final = 2_000
_OF_BASELINES: Final = frozenset({Measure.READINGS, Measure.RANKING})
_LEVEL: Final = 0.05
# In display order, with what is better.
FIGURES: Final[Mapping[str, int]] = {
    "readings": 0,
    "coverage": 1,
    "grounded_precision": 1,
    "grounded_recall": 1,
    "grounded_f1": 1,
    "misled": -1,
    "contested": 0,
    "rightly_silent": 1,
    "answer_em": 1,
    "answer_f1": 1,
    f"recall@{DEPTH}": 1,
    "ambiguity_f1": 1,
    "calls": -1,
    "tokens": -1,
    "cost_usd": -1,
    "seconds": 0,
    "failed": -1,
    "partial": -1,
}
"""All figures in the order in which they are shown: 1 if more is better, -1 if less is better, 0 if neither is."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over several cases.

    Attributes:
        value: Its value.
        low: Lower end of its bootstrap 95 % interval; None for a single case.
        high: Upper end.
        cases: Number of cases that have it.
    """

    value: float
    low: float | None
    high: float | None
    cases: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure in two evaluations, over the cases that have it in both.

    Attributes:
        figure: Its name.
        cases: Number of these cases.
        first: Its value in the first evaluation.
        second: Its value in the second.
        low: Lower end of the paired bootstrap 95 % interval of second - first.
        high: Upper end.
        p: How often a difference of this size in either direction occurs by chance.
    """

    figure: str
    cases: int
    first: float
    second: float
    low: float
    high: float
    p: float

    @property
    def difference(self) -> float:
        """Return second - first."""
        return self.second - self.first

    @property
    def gain(self) -> float:
        """Return the difference, with its sign changed if less is better: negative if the second is worse."""
        return -self.difference if FIGURES.get(self.figure) == -1 else self.difference

    @property
    def verdict(self) -> str:
        """Return better, worse, more, less, the same or may be chance."""
        if self.difference == self.low == self.high == 0:
            return "the same"
        if not ((self.low > 0 or self.high < 0) and self.p < _LEVEL):
            return "may be chance"
        if not FIGURES.get(self.figure):
            return "more" if self.difference > 0 else "less"
        return "better" if self.gain > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Judged:
    """The figures of a case, and whether each of its readings is grounded; None if that was not judged."""

    figures: Row
    supported: tuple[bool, ...] | None


async def measure(
    method: str, case: Case, output: Output, judge: Judge, evidence: Callable[[str], Awaitable[Sequence[Passage]]]
) -> Judged:
    """Compute the figures of a case. A figure that the method has not, or whose gold the case has not, is absent.

    Args:
        method: The method.
        case: The question, with what is known about it.
        output: The output of a method. A failed output counts as an empty one.
        judge: Judges readings.
        evidence: Finds passages of the corpus about a question, the same for all methods.
    """
    failed = output.status is RunStatus.FAILED
    figures: dict[str, float] = {
        "calls": float(output.usage.calls),
        "tokens": float(output.usage.tokens),
        "seconds": output.seconds,
        "failed": float(failed),
        "partial": float(output.status is RunStatus.PARTIAL),
    }
    if output.usage.cost_usd is not None:
        figures["cost_usd"] = output.usage.cost_usd
    measured = OPERATIONS[method].measured if method in OPERATIONS else _OF_BASELINES
    if case.relevant_documents and Measure.RANKING in measured:
        found = [] if failed else [one.document_id for one in output.retrieved]
        figures[f"recall@{DEPTH}"] = recall_at(found, case.relevant_documents, DEPTH)
    if Measure.AMBIGUITY in measured and case.is_ambiguous is not None:
        # A method that failed was wrong.
        called = not case.is_ambiguous if output.is_ambiguous is None else output.is_ambiguous
        figures |= {"label": float(case.is_ambiguous), "called": float(called)}
    if Measure.READINGS not in measured:
        return Judged(figures, None)
    answers = [one.answer for one in output.readings if one.answer]
    figures["readings"] = float(len(output.readings))
    if people := case.known_answers:
        figures["coverage"] = max(answer_coverage(golds, answers) for golds in people)
        figures["answer_f1"] = answer_f1(answers, people)
        figures["answer_em"] = float(
            bool(answers) and any(cover_exact_match(answers[0], names) for golds in people for names in golds)
        )
    if case.wrong_answers:
        wrong = [one for one in output.readings if cover_exact_match(one.answer or "", case.wrong_answers)]
        figures["misled"] = float(any(not one.is_contested for one in wrong))
        figures["contested"] = float(any(one.is_contested for one in wrong))
        if not people and not case.interpretations:
            figures["rightly_silent"] = float(not failed and not output.readings)
    supported: tuple[bool, ...] = ()
    recall: float | None = None
    if output.readings or case.interpretations or case.answer_sets:
        supported, recall = await _grounding(case, output, judge, await evidence(case.question))
    if supported:
        # Without readings, the share of the supported ones is undefined.
        figures["grounded_precision"] = sum(supported) / len(supported)
    if recall is not None:
        figures["grounded_recall"] = recall
    return Judged(figures, supported)


async def _grounding(
    case: Case, output: Output, judge: Judge, evidence: Sequence[Passage]
) -> tuple[tuple[bool, ...], float | None]:
    """Judge whether each reading is supported, and which share of the grounded gold the supported readings are.

    The gold has the supported readings without repetitions, and those readings of people that the corpus answers. A
    reading of people that a supported reading matches counts once.

    Returns:
        Whether each reading is supported by the passage that it cites first, or else by the evidence; and the recall,
        None if the gold is empty, no reading of people is known, or this judge cannot judge any.

    Source: VERDICT, Eq. 19 and 20, and Eq. 22 for the gold. The recall is ours: by Eq. 21 as it is printed, a method
        that cites nothing finds all of the gold.
    """
    stated = [Stated(one.interpretation, (one.answer,) if one.answer else ()) for one in output.readings]
    shown = [[one.citations[0].passage] if one.citations else evidence for one in output.readings]
    supported = tuple(await judge.supports(list(zip(stated, shown, strict=True)))) if stated else ()
    people = [Stated(one.interpretation, one.answers) for one in case.interpretations]
    if not people and case.answer_sets:
        # The person who knows most: the readings of several people do not add up.
        people = [Stated(None, names) for names in max(case.answer_sets, key=len) if names]
    judgeable = [one for one in people if any(one.answers) or not judge.needs_answers]
    if not judgeable:
        return supported, None
    # A reading that repeats the question differs from others by its answer alone.
    own = [
        Stated(None, one.answers) if asks_same_words(case.question, one.interpretation or "") and one.answers else one
        for one, is_supported in zip(stated, supported, strict=True)
        if is_supported
    ]
    matched = await judge.matches(case.question, judgeable, own) if own else [False] * len(judgeable)
    missed = [one for one, is_matched in zip(judgeable, matched, strict=True) if not is_matched]
    answered = sum(await judge.supports([(one, evidence) for one in missed])) if missed and evidence else 0
    distinct = await _distinct(case.question, own, judge)
    return supported, distinct / (distinct + answered) if distinct + answered else None


async def _distinct(question: str, readings: Sequence[Stated], judge: Judge) -> int:
    """Count readings without those that match an earlier one."""
    kept: list[Stated] = []
    for one in readings:
        if not kept or not (await judge.matches(question, [one], kept))[0]:
            kept.append(one)
    return len(kept)


def _columns(name: str, row: Row) -> list[float] | None:
    """Return the inputs of a figure from a case; None if it lacks one. Either input of grounded_f1 may be NaN."""
    if name == "grounded_f1":
        # A question without readings has no precision, and still counts for the recall.
        both = [row.get(one, math.nan) for one in ("grounded_precision", "grounded_recall")]
        return None if all(map(math.isnan, both)) else both
    names = ("label", "called") if name == "ambiguity_f1" else (name,)
    values = [row.get(one) for one in names]
    return None if None in values else [value for value in values if value is not None]


def _statistic(name: str) -> Callable[[Floats], Floats]:
    if name == "grounded_f1":
        return f1_of_means
    if name == "ambiguity_f1":
        return lambda samples: f1s_of_labels(samples[..., 0] > 0, samples[..., 1] > 0)
    return lambda samples: mean(samples[..., 0])


def summarize(rows: Sequence[Row]) -> dict[str, Figure]:
    """Return each figure over the cases that have it, with a bootstrap 95 % interval over cases, in display order."""
    found: dict[str, Figure] = {}
    for name in FIGURES:
        values = np.array([one for row in rows if (one := _columns(name, row)) is not None])
        # A column of NaN alone: no case has a recall.
        if not len(values) or np.isnan(values[:, -1]).all():
            continue
        statistic = _statistic(name)
        low, high = bootstrap_interval(values, statistic, samples=_SAMPLES) if len(values) > 1 else (None, None)
        found[name] = Figure(float(statistic(values[None])[0]), low, high, len(values))
    return found


def compare(pairs: Sequence[tuple[Row, Row]]) -> list[Difference]:
    """Compare all figures that both sides have. Cases are resampled in pairs, so a hard case adds no noise.

    Args:
        pairs: The figures of each case on the first side and on the second.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3.
    """
    found = []
    for name in FIGURES:
        both = [
            (one, other)
            for first, second in pairs
            if (one := _columns(name, first)) is not None and (other := _columns(name, second)) is not None
        ]
        if both:
            first, second = (np.array([pair[side] for pair in both]) for side in (0, 1))
            if np.isnan(first[:, -1]).all() or np.isnan(second[:, -1]).all():
                continue
            statistic = _statistic(name)
            values = [float(statistic(side[None])[0]) for side in (first, second)]
            drawn = paired_bootstrap(first, second, statistic, samples=_SAMPLES)
            found.append(Difference(name, len(both), values[0], values[1], drawn.low, drawn.high, drawn.p))
    return found
