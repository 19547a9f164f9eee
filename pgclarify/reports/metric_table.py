"""The table of metrics: every evaluation beside every other, and which differences may be chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pgclarify.evaluated import Summary
from pgclarify.evaluation.paired_metrics import (
    LOWER_IS_BETTER,
    METRICS,
    NEITHER_IS_BETTER,
    compare_metrics,
)
from pgclarify.evaluation.summaries import TOGETHER
from pgclarify.reports.evaluation_report import Evaluated

# The first of those that there are heads charts and lists of cases.
_LEADING = ("answer_coverage", "grounded_recall", "recall", "answer_f1", "recall@10")
# What no single case has, by the metrics of a case that it is made of.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "grounded_f1": ("grounded_precision", "grounded_recall"),
    **dict.fromkeys(("accuracy", "f1", "average_precision"), ("label", "predicted", "probability")),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric of an evaluation.

    Attributes:
        summary: Its value with its interval; None if it has none.
        is_best: Whether none has a better one; False for all where neither more nor less is better.
        is_worse: Whether it is worse than the best beyond chance.
    """

    summary: Summary | None
    is_best: bool = False
    is_worse: bool = False


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of all evaluations.

    Attributes:
        metric: Its name.
        better: higher, lower, or neither.
        cells: In the order of the evaluations.
    """

    metric: str
    better: str
    cells: tuple[Cell, ...]


def leading_metric(members: Sequence[Evaluated]) -> str | None:
    """The metric that charts and lists of cases go by; None if there is none of that kind."""
    return next((name for name in _LEADING if any(name in one.summaries for one in members)), None)


def metric_table(members: Sequence[Evaluated]) -> list[MetricRow]:
    """Put the metrics of evaluations side by side.

    Of each metric, every evaluation is compared with the best one, over the cases that both have: beyond chance is what
    compare_metrics says, with its interval and its test.

    Args:
        members: At least one.
    """
    there = {name for one in members for name in one.summaries}
    names = [name for name in METRICS if name in there] + sorted(there - set(METRICS))
    best = {name: best for name in names if (best := _best(name, members)) is not None}
    worse = _worse(members, best)
    return [
        MetricRow(
            name,
            "neither" if name in NEITHER_IS_BETTER else "lower" if name in LOWER_IS_BETTER else "higher",
            tuple(
                Cell(
                    one.summaries.get(name),
                    is_best=name in best and _equal(one.summaries.get(name), best[name].summaries[name]),
                    is_worse=(name, one.number) in worse,
                )
                for one in members
            ),
        )
        for name in names
    ]


def _best(name: str, members: Sequence[Evaluated]) -> Evaluated | None:
    """The first of those with the best value; None unless there are several, and one is better than another."""
    having = [one for one in members if name in one.summaries]
    if name in NEITHER_IS_BETTER or len({one.summaries[name].value for one in having}) < 2:
        return None
    sign = -1 if name in LOWER_IS_BETTER else 1
    return max(having, key=lambda one: sign * one.summaries[name].value)


def _equal(one: Summary | None, other: Summary) -> bool:
    return one is not None and one.value == other.value


def _worse(members: Sequence[Evaluated], best: Mapping[str, Evaluated]) -> set[tuple[str, int]]:
    led: defaultdict[int, list[str]] = defaultdict(list)
    for name, one in best.items():
        led[one.number].append(name)
    found = set()
    for leader in members:
        for other in members:
            if other is not leader and (names := led[leader.number]):
                found |= {(name, other.number) for name in _beyond_chance(names, leader, other)}
    return found


def _beyond_chance(names: Iterable[str], leader: Evaluated, other: Evaluated) -> set[str]:
    """Of these metrics, those in which the other is worse than the leader beyond chance."""
    wanted = set(names)
    columns = {part for name in wanted for part in (_PARTS[name] if name in TOGETHER else (name,))}
    theirs = {case.case_id: case.values for case in other.cases}
    pairs = [
        (_only(case.values, columns), _only(theirs[case.case_id], columns))
        for case in leader.cases
        if case.case_id in theirs
    ]
    if not pairs:
        return set()
    return {one.metric for one in compare_metrics(pairs) if one.metric in wanted and one.verdict == "worse"}


def _only(values: Mapping[str, float], names: set[str]) -> dict[str, float]:
    return {name: value for name, value in values.items() if name in names}
