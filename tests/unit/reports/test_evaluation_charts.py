"""Charts of evaluations."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pgclarify.reports.charts import HEIGHT, WIDTH, Plane, Range
from pgclarify.reports.evaluation_charts import cost_figures, precision_figure
from pgclarify.reports.marks import mark
from tests.reported import case, evaluated, evaluation_report


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_coverage_rises_with_calls_and_tokens() -> None:
    calls, tokens = cost_figures(evaluation_report().members, "answer_coverage")
    assert [len(shown.rows) for shown in (calls, tokens)] == [3, 3]
    assert calls.has_curves
    # There is no answer after one call, the first one after five, and the second one after ten.
    line = points(calls.chart.lines[0].path)
    plane = Plane(10.0, 1.0)
    assert line == [(plane.x(x), plane.y(y)) for x, y in ((0, 0), (1, 0), (5, 0.5), (10, 1.0))]
    tokens_line = points(tokens.chart.lines[0].path)
    assert [y for _, y in tokens_line] == [y for _, y in line]


def test_without_calls_there_is_no_line() -> None:
    without = case(1, 0.5)
    without.output["notes"]["answers_by_call"] = [[0, 0, "answer"]]
    calls, _ = cost_figures([evaluated(1, (without,))], "answer_coverage")
    assert not calls.has_curves


def test_what_nobody_took_has_no_chart() -> None:
    without = replace(case(1, 0.5), values={"answer_coverage": 0.5, "calls": 10.0, "prompt_tokens": 0.0})
    assert [shown.chart.name for shown in cost_figures([evaluated(1, (without,))], "answer_coverage")] == ["calls"]


@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.5, 1.0)])
def test_numbers_beside_points_are_inside_the_drawing(x: float, y: float) -> None:
    plane = Plane(1.0, 1.0)
    label = plane.dot(Range(x), Range(y), mark(29), "30", "the thirtieth").label
    width, height = 24, 19
    left = label.x - width if label.anchor == "end" else label.x
    assert left >= 0
    assert left + width <= WIDTH
    assert label.y - height >= 0
    assert label.y <= HEIGHT


def test_another_metric_has_no_line() -> None:
    calls, _ = cost_figures(evaluation_report().members, "grounded_recall")
    assert not calls.has_curves
    assert calls.chart.title == "Grounded recall against calls"


def test_precision_is_drawn_where_it_is_known() -> None:
    shown = precision_figure(evaluation_report().members)
    assert shown is not None
    assert [row.x.value for row in shown.rows] == pytest.approx([0.125, 0.375, 0.375])
    bare = evaluated(1, (case(1, 0.5),))
    assert precision_figure([bare]) is not None
    bare.summaries.pop("grounded_recall")  # type: ignore[attr-defined]
    assert precision_figure([bare]) is None


def test_lines_of_equal_f1_go_through_what_has_that_f1() -> None:
    shown = precision_figure(evaluation_report().members)
    assert shown is not None
    plane = Plane(1.0, 1.0)
    (half,) = [line for line in shown.chart.lines if line.text == "F1 of 0.5"]
    width, height = plane.x(1.0) - plane.x(0.0), plane.y(0.0) - plane.y(1.0)
    for x, y in points(half.path):
        recall, precision = (x - plane.x(0.0)) / width, (plane.y(0.0) - y) / height
        assert 2 * recall * precision / (recall + precision) == pytest.approx(0.5, abs=0.003)
        assert recall <= 1.001
        assert precision <= 1.001


@pytest.mark.parametrize(
    ("most", "labels"),
    [
        (0.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (21.0, ["0", "5", "10", "15", "20", "25"]),
        (7200.0, ["0", "2,000", "4,000", "6,000", "8,000"]),
        (0.003, ["0.0000", "0.0005", "0.0010", "0.0015", "0.0020", "0.0025", "0.0030"]),
    ],
)
def test_axes_have_round_numbers(most: float, labels: list[str]) -> None:
    plane = Plane(most, most)
    assert [tick.label for tick in plane.x_ticks()] == labels
    assert plane.x(most) <= plane.x_ticks()[-1].place


def test_thirty_five_groups_look_different() -> None:
    assert len({mark(group) for group in range(35)}) == 35
    assert all(
        mark(group).color != mark(group + 1).color and mark(group).path != mark(group + 1).path for group in range(34)
    )
