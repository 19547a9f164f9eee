"""Metrics side by side: means, intervals, wins, and the meaning of differences."""

from __future__ import annotations

import pytest

from pgclarify.evaluation.metric_names import METRICS
from pgclarify.evaluation.paired_metrics import (
    Direction,
    MetricComparison,
    compare_metric,
    compare_metrics,
    has_metric,
    metric_of,
)


def compared(first: dict[str, list[float]], second: dict[str, list[float]]) -> dict[str, MetricComparison]:
    """Columns of values, by metric."""
    pairs = [
        tuple({name: values[place] for name, values in side.items()} for side in (first, second))
        for place in range(len(next(iter(first.values()))))
    ]
    return {one.metric: one for one in compare_metrics([(one, other) for one, other in pairs])}


def test_a_difference_with_its_interval_wins_and_losses() -> None:
    one = compared({"answer_coverage": [0.0, 0.5, 1.0, 0.5]}, {"answer_coverage": [1.0, 0.5, 0.5, 1.0]})[
        "answer_coverage"
    ]
    assert (one.cases, one.first, one.second, one.difference) == (4, 0.5, 0.75, 0.25)
    assert (one.wins, one.losses, one.ties) == (2, 1, 1)
    assert one.low < 0.25 < one.high
    assert one.verdict is Direction.MAY_BE_CHANCE


def test_where_lower_is_better() -> None:
    one = compared({"calls": [9.0] * 20}, {"calls": [8.0] * 19 + [10.0]})["calls"]
    assert (one.wins, one.losses, one.ties) == (19, 1, 0)
    assert one.difference == pytest.approx(-0.9)
    assert one.gain == pytest.approx(0.9)
    assert one.verdict is Direction.BETTER
    assert compared({"calls": [8.0] * 20}, {"calls": [9.0] * 20})["calls"].verdict is Direction.WORSE


def test_the_most_readings_are_not_the_best() -> None:
    assert compared({"interpretations": [1.0] * 20}, {"interpretations": [3.0] * 20})["interpretations"].verdict == (
        Direction.MORE
    )
    assert compared({"interpretations": [3.0] * 20}, {"interpretations": [1.0] * 20})["interpretations"].verdict == (
        Direction.LESS
    )


def test_few_cases_prove_nothing() -> None:
    one = compared({"answer_coverage": [0.0] * 3}, {"answer_coverage": [1.0] * 3})["answer_coverage"]
    assert (one.low, one.high) == (1.0, 1.0)
    assert one.p_value > 0.05
    assert one.verdict is Direction.MAY_BE_CHANCE


def test_of_equal_sides_there_is_nothing_to_draw() -> None:
    one = compared({"recall": [0.2, 0.7]}, {"recall": [0.2, 0.7]})["recall"]
    assert one.is_equal
    assert (one.difference, one.low, one.high, one.p_value, one.ties) == (0.0, 0.0, 0.0, 1.0, 2)
    assert not compared({"recall": [0.2, 0.7]}, {"recall": [0.7, 0.2]})["recall"].is_equal


def test_grounded_f1_is_of_the_means_and_has_no_wins() -> None:
    # VERDICT, Table 2: the harmonic mean of 83.72 and 8.14 is 14.84.
    first = {"grounded_precision": [0.8372, 0.8372], "grounded_recall": [0.0, 0.1628]}
    second = {"grounded_precision": [1.0, 0.0], "grounded_recall": [0.0, 1.0]}
    one = compared(first, second)["grounded_f1"]
    assert one.first == pytest.approx(0.1484, abs=5e-5)
    assert one.second == pytest.approx(0.5)
    assert one.wins is None


def test_labels_are_compared_together() -> None:
    label = [1.0, 1.0, 0.0, 0.0]
    first = {"label": label, "predicted": [1.0, 0.0, 1.0, 0.0], "probability": [0.9, 0.4, 0.6, 0.1]}
    second = {"label": label, "predicted": [1.0, 1.0, 0.0, 0.0], "probability": [0.9, 0.8, 0.2, 0.1]}
    found = compared(first, second)
    assert "label" not in found
    assert (found["accuracy"].first, found["accuracy"].second) == (0.5, 1.0)
    assert (found["f1"].first, found["f1"].second) == (0.5, 1.0)
    # The labels in the order of the ranking: true, false, true, false.
    assert found["average_precision"].first == pytest.approx((1 + 2 / 3) / 2)
    assert found["average_precision"].second == 1.0


def test_what_a_detector_did_not_say_is_wrong() -> None:
    said: dict[str, float] = {"label": 1.0, "predicted": 1.0, "probability": 0.9}
    found = {one.metric: one for one in compare_metrics([(said, said), (said, {"label": 1.0})])}
    assert (found["accuracy"].cases, found["accuracy"].first, found["accuracy"].second) == (2, 1.0, 0.5)


def test_only_cases_that_have_a_metric_on_both_sides_count() -> None:
    pairs: list[tuple[dict[str, float], dict[str, float]]] = [
        ({"recall": 1.0, "calls": 3.0}, {"recall": 0.0, "calls": 3.0}),
        ({"recall": 0.0, "calls": 3.0}, {"calls": 3.0}),
        ({"calls": 3.0, "mrr@10": 1.0}, {"calls": 3.0}),
    ]
    found = {one.metric: one for one in compare_metrics(pairs)}
    assert {name: one.cases for name, one in found.items()} == {"recall": 1, "calls": 3}


def test_columns_that_no_case_has_together_make_nothing() -> None:
    precise, complete = {"grounded_precision": 1.0}, {"grounded_recall": 1.0}
    found = [one.metric for one in compare_metrics([(precise, precise), (complete, complete)])]
    assert found == ["grounded_precision", "grounded_recall"]


def test_they_come_in_the_order_in_which_people_read_them() -> None:
    values = {name: [1.0] for name in ("zeta", "seconds", "calls", "recall@5", "answer_coverage")}
    found = list(compared(values, values))
    assert found == ["answer_coverage", "recall@5", "calls", "seconds", "zeta"]
    assert len(set(METRICS)) == len(METRICS)


def test_seconds_that_the_ledger_saved_are_no_gain() -> None:
    assert compared({"seconds": [9.0] * 20}, {"seconds": [0.1] * 20})["seconds"].verdict is Direction.LESS
    found = compared({"model_seconds": [9.0] * 20}, {"model_seconds": [0.1] * 20})
    assert found["model_seconds"].verdict is Direction.BETTER


def test_one_metric_alone_is_compared_as_among_others() -> None:
    pairs = [
        (
            {"recall": 0.1 * place, "grounded_precision": 0.2, "grounded_recall": 0.1 * place},
            {"recall": 0.5, "grounded_precision": 0.9, "grounded_recall": 0.5},
        )
        for place in range(9)
    ]
    together = {one.metric: one for one in compare_metrics(pairs)}
    for name in ("recall", "grounded_f1"):
        assert compare_metric(name, pairs) == together[name]
        assert metric_of(name, [first for first, _ in pairs]) == pytest.approx(together[name].first)
        assert has_metric(name, pairs[0][0])
    for name in ("mrr@10", "accuracy"):
        assert compare_metric(name, pairs) is None
        assert not has_metric(name, pairs[0][0])
