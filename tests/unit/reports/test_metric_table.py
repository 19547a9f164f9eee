"""Metrics side by side, and what is best."""

from __future__ import annotations

from typing import Any

from pgclarify.reports.evaluation_report import Evaluated
from pgclarify.reports.metric_table import MetricRow, leading_metric, metric_table
from tests.evaluated_cases import evaluated_case
from tests.reported import evaluated


def evaluation_of(number: int, *coverages: float, calls: float = 5.0, **values: Any) -> Evaluated:
    return evaluated(
        number,
        tuple(
            evaluated_case(f"case {place}", answer_coverage=coverage, calls=calls, **values)
            for place, coverage in enumerate(coverages)
        ),
    )


def row(name: str, *members: Evaluated) -> MetricRow:
    (found,) = [one for one in metric_table(members) if one.metric == name]
    return found


def flags(found: MetricRow) -> list[tuple[bool, bool]]:
    return [(cell.is_best, cell.is_worse) for cell in found.cells]


LOW, HIGH = (0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.2, 0.3), (0.9, 0.8, 0.9, 0.8, 0.9, 0.8, 0.9, 0.8)


def test_what_is_worse_in_every_case_is_worse_beyond_chance() -> None:
    assert flags(row("answer_coverage", evaluation_of(1, *LOW), evaluation_of(2, *HIGH))) == [
        (False, True),
        (True, False),
    ]


def test_what_differs_in_one_case_may_be_chance() -> None:
    other = (*LOW[:-1], 0.4)
    assert flags(row("answer_coverage", evaluation_of(1, *LOW), evaluation_of(2, *other))) == [
        (False, False),
        (True, False),
    ]


def test_of_costs_the_least_is_best() -> None:
    found = row("calls", evaluation_of(1, *LOW, calls=3.0), evaluation_of(2, *HIGH, calls=9.0))
    assert found.better == "lower"
    assert flags(found) == [(True, False), (False, True)]


def test_equal_ones_are_best_together_or_not_at_all() -> None:
    one, same, less = evaluation_of(1, *HIGH), evaluation_of(2, *HIGH), evaluation_of(3, *LOW)
    assert [best for best, _ in flags(row("answer_coverage", one, same, less))] == [True, True, False]
    assert [best for best, _ in flags(row("answer_coverage", one, same))] == [False, False]


def test_the_number_of_readings_is_neither_good_nor_bad() -> None:
    found = row(
        "interpretations", evaluation_of(1, *LOW, interpretations=1.0), evaluation_of(2, *LOW, interpretations=5.0)
    )
    assert found.better == "neither"
    assert flags(found) == [(False, False), (False, False)]


def test_who_has_no_such_metric_has_no_value() -> None:
    found = row("recall@10", evaluation_of(1, *LOW, recall_at_10=0.5), evaluation_of(2, *LOW))
    assert [cell.summary is None for cell in found.cells] == [False, True]
    assert flags(found) == [(False, False), (False, False)]


def test_what_no_single_case_has_is_compared_as_well() -> None:
    good = evaluation_of(1, *HIGH, grounded_precision=0.9, grounded_recall=0.9)
    bad = evaluation_of(2, *HIGH, grounded_precision=0.1, grounded_recall=0.2)
    assert flags(row("grounded_f1", good, bad)) == [(True, False), (False, True)]


def test_coverage_leads_where_it_is_known() -> None:
    assert leading_metric([evaluation_of(1, *LOW, recall_at_10=0.5)]) == "answer_coverage"
    assert leading_metric([evaluated(1, (evaluated_case("one", recall_at_10=0.5),))]) == "recall@10"
    assert leading_metric([evaluated(1, (evaluated_case("one", calls=1.0),))]) is None
