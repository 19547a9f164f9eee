"""The table of metrics: all evaluations side by side, and which differences may be due to chance."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from pgclarify.evaluated import Summary
from pgclarify.evaluation.metric_names import JUDGED, LOWER_IS_BETTER, METRICS, NEITHER_IS_BETTER
from pgclarify.evaluation.paired_metrics import Direction, ValuePair, compare_metric, has_metric, metric_of
from pgclarify.evaluation.strata import FEWEST_CASES, count_cases, in_order
from pgclarify.reports.evaluation_report import Evaluated

# The first of these that exists is used for charts and lists of cases.
_LEADING = ("answer_coverage", "grounded_recall", "recall", "answer_f1", "recall@10", "bleu", "question_f1")
# If no documents are known, a judge decides these.
_CITATIONS = ("citation_precision", "citation_recall")


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric of an evaluation.

    Attributes:
        summary: Its value with its interval; None if it has none.
        is_best: Whether no other has a better value over the cases that all have; False for all if nothing is compared.
        is_worse: Whether it is significantly worse than the best, over the same cases.
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
    """Return the metric for charts and lists of cases; None if no metric is suitable."""
    return next((name for name in _LEADING if any(name in one.summaries for one in members)), None)


def metric_table(members: Sequence[Evaluated]) -> list[MetricRow]:
    """Put the metrics of evaluations side by side.

    For each metric, every evaluation is compared with the best one, over the cases that all of them have.
    compare_metric decides, with its interval and its test, whether a difference is significant. Not compared are
    unfinished evaluations, the method human (the reference), and metrics of different judges.

    Args:
        members: At least one.
    """
    there = {name for one in members for name in one.summaries}
    return [_row(name, members) for name in _ordered(there)]


def _row(name: str, members: Sequence[Evaluated]) -> MetricRow:
    compared = _compared(name, members)
    best = {one.number for one in compared.best}
    worse = {one.number for one in compared.worse}
    return MetricRow(
        name,
        _better(name),
        tuple(
            Cell(one.summaries.get(name), is_best=one.number in best, is_worse=one.number in worse) for one in members
        ),
    )


@dataclass(frozen=True, slots=True)
class StratumTable:
    """The metrics of all evaluations within a stratum.

    Attributes:
        stratum: Its name.
        cases: How many cases it has.
        rows: As in the table of all cases, without marks; empty if it has fewer than FEWEST_CASES.
    """

    stratum: str
    cases: int
    rows: tuple[MetricRow, ...]

    def row(self, metric: str | None) -> MetricRow | None:
        """The row of a metric; None if there is none."""
        return next((one for one in self.rows if one.metric == metric), None)


def stratum_tables(members: Sequence[Evaluated]) -> list[StratumTable]:
    """Put the metrics of evaluations within each stratum side by side.

    They are not compared: among so many differences, some are large by chance.

    Args:
        members: At least one.
    """
    tables = []
    for stratum in in_order({stratum for one in members for stratum in one.strata}):
        cases = max(count_cases(one.strata[stratum]) for one in members if stratum in one.strata)
        there = {name for one in members for name in one.strata.get(stratum, ())} if cases >= FEWEST_CASES else set()
        rows = [
            MetricRow(name, _better(name), tuple(Cell(one.strata.get(stratum, {}).get(name)) for one in members))
            for name in _ordered(there)
        ]
        tables.append(StratumTable(stratum, cases, tuple(rows)))
    return tables


def _ordered(there: AbstractSet[str]) -> list[str]:
    return [name for name in METRICS if name in there] + sorted(there - set(METRICS))


def _better(name: str) -> str:
    return "neither" if name in NEITHER_IS_BETTER else "lower" if name in LOWER_IS_BETTER else "higher"


class _Compared(NamedTuple):
    best: Sequence[Evaluated] = ()
    worse: Sequence[Evaluated] = ()


def _compared(name: str, members: Sequence[Evaluated]) -> _Compared:
    """Return which evaluation is best, and which are significantly worse; none if all are equal."""
    having = [one for one in members if name in one.summaries and _takes_part(one)]
    if name in NEITHER_IS_BETTER or (_is_judged(name, having) and len({_judge(one) for one in having}) > 1):
        return _Compared()
    rows = [{place: row for place, row in one.values.items() if has_metric(name, row)} for one in having]
    common = sorted(set.intersection(*(set(those) for those in rows))) if rows else []
    if not common:
        return _Compared()
    values = [metric_of(name, [those[place] for place in common]) for those in rows]
    if len(set(values)) < 2:
        return _Compared()
    top = (min if name in LOWER_IS_BETTER else max)(values)
    leader = rows[values.index(top)]
    others = [place for place, value in enumerate(values) if value != top]
    return _Compared(
        [one for one, value in zip(having, values, strict=True) if value == top],
        [having[other] for other in others if _is_worse(name, [(leader[at], rows[other][at]) for at in common])],
    )


def _takes_part(one: Evaluated) -> bool:
    return one.evaluation.finished_at is not None and one.evaluation.plan.method != "human"


def _judge(one: Evaluated) -> tuple[str, str]:
    return one.evaluation.plan.judge, one.evaluation.plan.judge_version


def _is_judged(name: str, having: Sequence[Evaluated]) -> bool:
    """Whether a judge decided this metric in any case."""
    if name not in _CITATIONS:
        return name in JUDGED
    # A case with known documents also has recall@5.
    known = [(one.summaries.get("recall@5"), one.summaries[name]) for one in having]
    return any(ranked is None or ranked.cases < cited.cases for ranked, cited in known)


def _is_worse(name: str, pairs: Sequence[ValuePair]) -> bool:
    compared = compare_metric(name, pairs)
    return compared is not None and compared.verdict is Direction.WORSE
