"""Charts of evaluations: what is found for what it costs, and precision against recall."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np

from pgclarify.algorithms.metrics import bootstrap_interval, coverage_curve
from pgclarify.evaluated import EvaluatedCase, Summary, Usage
from pgclarify.evaluation.changes import known_answers
from pgclarify.reports.charts import Chart, Label, Line, Plane, Range
from pgclarify.reports.evaluation_report import Evaluated
from pgclarify.reports.formats import count, figure

# Percentiles are good with so many, and a page has many of them.
_SAMPLES = 2_000
_MOST_STEPS = 60
_ISO = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# Calls and tokens so far, and the share of the known answers that is covered.
_Steps: TypeAlias = Sequence[tuple[int, int, float]]


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A row of the table beside a chart: one evaluation's point."""

    member: Evaluated
    x: Range
    y: Range


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with the table of its points."""

    chart: Chart
    rows: tuple[ChartRow, ...]
    has_curves: bool = False


def cost_figures(members: Sequence[Evaluated], metric: str) -> list[Figure]:
    """A metric against calls and against tokens, per question.

    An evaluation of clarify has a line as well: the share of the known answers that its verdicts had brought after so
    many calls or tokens, before they were consolidated.

    Args:
        members: At least one.
        metric: One that is a share.
    """
    has_lines = metric == "answer_coverage"
    followed = {one.number: _followed(one.cases) if has_lines else [] for one in members}
    return [
        _cost_figure(members, metric, followed, "calls", "Calls of a model per question", 0, lambda used: used.calls),
        _cost_figure(
            members,
            metric,
            followed,
            "tokens",
            "Tokens per question, input and output",
            1,
            lambda used: used.prompt_tokens + used.completion_tokens,
        ),
    ]


def precision_figure(members: Sequence[Evaluated]) -> Figure | None:
    """Grounded precision against grounded recall, with lines of equal F1; None if no evaluation has both."""
    rows = [
        ChartRow(one, _range(one.summaries["grounded_recall"]), _range(one.summaries["grounded_precision"]))
        for one in members
        if {"grounded_recall", "grounded_precision"} <= one.summaries.keys()
    ]
    if not rows:
        return None
    plane = Plane(1.0, 1.0)
    labels = [Label(plane.x(1.0) + 2, plane.y(score / (2 - score)) + 4, f"{score:.1f}") for score in _ISO[::2]]
    return _figure(
        "precision", "Grounded precision against grounded recall", "Grounded recall", "Grounded precision", plane, rows,
        [_iso(plane, score) for score in _ISO], labels,
    )  # fmt: skip


def _cost_figure(
    members: Sequence[Evaluated],
    metric: str,
    followed: Mapping[int, Sequence[_Steps]],
    name: str,
    x_title: str,
    column: int,
    cost: Callable[[Usage], float],
) -> Figure:
    rows = [
        ChartRow(one, _mean([cost(case.usage) for case in one.cases]), _range(one.summaries[metric]))
        for one in members
        if metric in one.summaries and one.cases
    ]
    curves = {row.member.number: _curve(followed[row.member.number], column) for row in rows}
    reached = chain.from_iterable((x for x, _ in curve) for curve in curves.values())
    plane = Plane(max([*(row.x.high or row.x.value for row in rows), *reached], default=0.0), 1.0)
    y_title = metric.replace("_", " ").capitalize()
    lines = [
        plane.line(curves[row.member.number], f"curve {row.member.mark.color}", f"Verdicts of {_title(row.member)}")
        for row in rows
        if curves[row.member.number]
    ]
    return _figure(name, f"{y_title} against {name}", x_title, y_title, plane, rows, lines)


def _figure(
    name: str,
    title: str,
    x_title: str,
    y_title: str,
    plane: Plane,
    rows: Sequence[ChartRow],
    lines: Sequence[Line],
    labels: Sequence[Label] = (),
) -> Figure:
    dots = tuple(
        plane.dot(
            row.x,
            row.y,
            row.member.mark,
            str(row.member.number),
            f"{_title(row.member)}: {x_title.lower()} {_shown(row.x.value)}, {y_title.lower()} {figure(row.y.value)}",
        )
        for row in rows
    )
    chart = Chart(name, title, x_title, y_title, plane.x_ticks(), plane.y_ticks(), dots, tuple(lines), tuple(labels))
    return Figure(chart, tuple(rows), has_curves=any(line.style.startswith("curve") for line in lines))


def _title(member: Evaluated) -> str:
    return f"{member.number}. {member.evaluation.plan.name}"


def _shown(value: float) -> str:
    return count(value) if value >= 100 else figure(value)


def _range(summary: Summary) -> Range:
    return Range(summary.value, summary.low, summary.high)


def _mean(values: Sequence[float]) -> Range:
    mean = float(np.mean(values))
    if len(values) < 2:
        return Range(mean)
    return Range(mean, *bootstrap_interval(values, samples=_SAMPLES))


def _iso(plane: Plane, score: float) -> Line:
    """Where precision and recall have this harmonic mean."""
    # A hyperbola: with u = 2 * recall - score and v = 2 * precision - score, it is u * v = score ** 2.
    ends = score**2 / (2 - score), 2 - score
    points = [((float(u) + score) / 2, (score**2 / float(u) + score) / 2) for u in np.geomspace(*ends, 40)]
    return plane.line(points, "iso", f"F1 of {score}")


def _followed(cases: Sequence[EvaluatedCase]) -> list[_Steps]:
    """Of each case that can tell: calls, tokens and coverage after each verdict."""
    found: list[_Steps] = []
    for case in cases:
        steps, known = case.output.get("notes", {}).get("answers_by_call"), known_answers(case.gold)
        if steps and known:
            texts = [(calls, tokens, [answer] if answer else []) for calls, tokens, answer in steps]
            found.append(coverage_curve(texts, known))
    return found


def _curve(followed: Sequence[_Steps], column: int) -> list[tuple[float, float]]:
    """Mean coverage over cases, after so many calls (column 0) or tokens (column 1)."""
    curves = [[(float(step[column]), step[2]) for step in steps] for steps in followed]
    ends = sorted({x for curve in curves for x, _ in curve})
    if not ends or not ends[-1]:
        return []
    places = range(len(ends)) if len(ends) <= _MOST_STEPS else np.linspace(0, len(ends) - 1, _MOST_STEPS).round()
    steps = [ends[int(place)] for place in places]
    return [(x, float(np.mean([_at(curve, x) for curve in curves]))) for x in (0.0, *steps)]


def _at(curve: Sequence[tuple[float, float]], x: float) -> float:
    place = bisect_right(curve, x, key=lambda point: point[0])
    return curve[place - 1][1] if place else 0.0
