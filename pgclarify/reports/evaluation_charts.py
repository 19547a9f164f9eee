"""Charts of evaluations: answers against cost, and precision against recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from pgclarify.algorithms.metrics import bootstrap_interval
from pgclarify.evaluated import Summary
from pgclarify.reports.charts import Chart, Label, Line, Plane, Range
from pgclarify.reports.evaluation_report import Evaluated
from pgclarify.reports.formats import count, figure
from pgclarify.reports.verdict_curves import Curve

# Enough samples for good percentiles; a page has many intervals.
_SAMPLES = 2_000
_ISO = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


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
    """A metric against calls and against tokens, per question. A chart without any calls or tokens is left out.

    Evaluations of clarify also have a line: the share of known answers that their verdicts contained after so many
    calls or tokens, before consolidation.

    Args:
        members: At least one.
        metric: A metric that is a share.
    """
    figures = [
        _cost_figure(members, metric, "calls", "Calls of a model per question", ("calls",)),
        _cost_figure(
            members,
            metric,
            "tokens",
            "Tokens per question, input and output",
            ("prompt_tokens", "completion_tokens"),
        ),
    ]
    return [one for one in figures if any(row.x.value for row in one.rows)]


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
    members: Sequence[Evaluated], metric: str, name: Literal["calls", "tokens"], x_title: str, costs: Sequence[str]
) -> Figure:
    rows = [
        ChartRow(
            one,
            _mean([sum(values.get(cost, 0.0) for cost in costs) for values in one.values.values()]),
            _range(one.summaries[metric]),
        )
        for one in members
        if metric in one.summaries and one.values
    ]
    curves = {row.member.number: _curve(row.member, name) for row in rows if metric == "answer_coverage"}
    reached = chain.from_iterable((x for x, _ in curve) for curve in curves.values())
    plane = Plane(max([*(row.x.high or row.x.value for row in rows), *reached], default=0.0), 1.0)
    y_title = metric.replace("_", " ").capitalize()
    lines = [
        plane.line(curves[row.member.number], f"curve {row.member.mark.color}", f"Verdicts of {_title(row.member)}")
        for row in rows
        if curves.get(row.member.number)
    ]
    return _figure(name, f"{y_title} against {name}", x_title, y_title, plane, rows, lines)


def _curve(member: Evaluated, name: Literal["calls", "tokens"]) -> Curve:
    if member.curves is None:
        return ()
    return member.curves.calls if name == "calls" else member.curves.tokens


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
