"""Metrics side by side, and the best values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pgclarify.evaluated import EvaluatedCase
from pgclarify.reports.evaluation_report import Evaluated
from pgclarify.reports.metric_table import MetricRow, leading_metric, metric_table
from tests.evaluated_cases import evaluated_case
from tests.reported import evaluated


def cases(*coverages: float, **values: Any) -> list[EvaluatedCase]:
    return [
        replace(evaluated_case(f"case {place}", answer_coverage=coverage, **values), ordinal=place)
        for place, coverage in enumerate(coverages, start=1)
    ]


def evaluation_of(number: int, *coverages: float, plan: Mapping[str, Any] | None = None, **values: Any) -> Evaluated:
    return evaluated(number, cases(*coverages, **{"calls": 5.0, **values}), **(plan or {}))


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


@pytest.mark.parametrize("metric", ["interpretations", "seconds"])
def test_what_says_not_how_well_is_neither_good_nor_bad(metric: str) -> None:
    one: dict[str, Any] = {metric: 1.0}
    other: dict[str, Any] = {metric: 5.0}
    found = row(metric, evaluation_of(1, *LOW, **one), evaluation_of(2, *LOW, **other))
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


def test_only_cases_that_all_have_decide() -> None:
    # The third evaluation is good in cases that the others lack, and bad in the common ones.
    first, second = evaluation_of(1, *LOW, 0.1), evaluation_of(2, *HIGH, 0.1)
    third = evaluated(3, [*cases(*LOW), *(replace(one, ordinal=20 + one.ordinal) for one in cases(*[1.0] * 30))])
    assert third.summaries["answer_coverage"].value > second.summaries["answer_coverage"].value
    assert flags(row("answer_coverage", first, second, third)) == [(False, True), (True, False), (False, True)]
    nowhere = evaluated(4, [replace(one, ordinal=100 + one.ordinal) for one in cases(*HIGH)])
    assert flags(row("answer_coverage", first, nowhere)) == [(False, False), (False, False)]


@pytest.mark.parametrize("left_out", [{"is_finished": False}, {"method": "human"}])
def test_what_is_not_finished_and_people_get_no_sign(left_out: Mapping[str, Any]) -> None:
    low, high = evaluation_of(1, *LOW), evaluation_of(2, *HIGH)
    best = evaluation_of(3, *[1.0] * 8, plan=left_out)
    assert flags(row("answer_coverage", low, high, best)) == [(False, True), (True, False), (False, False)]
    worst = evaluation_of(3, *[0.0] * 8, plan=left_out)
    assert flags(row("answer_coverage", low, high, worst)) == [(False, True), (True, False), (False, False)]
    assert flags(row("answer_coverage", high, worst)) == [(False, False), (False, False)]


@pytest.mark.parametrize("other", [{"judge": "gpt"}, {"judge_version": "lexical-2"}])
def test_what_several_judges_said_is_not_compared(other: Mapping[str, Any]) -> None:
    def flags_of(metric: str, **known: float) -> list[tuple[bool, bool]]:
        low: dict[str, Any] = {"grounded_precision": 0.1, "grounded_recall": 0.1, "citation_recall": 0.1, **known}
        high: dict[str, Any] = {"grounded_precision": 0.9, "grounded_recall": 0.9, "citation_recall": 0.9, **known}
        return flags(row(metric, evaluation_of(1, *LOW, **low), evaluation_of(2, *HIGH, plan=other, **high)))

    unsaid, said = [(False, False), (False, False)], [(False, True), (True, False)]
    for metric in ("grounded_precision", "grounded_f1", "citation_recall"):
        assert flags_of(metric) == unsaid
    # No judge is needed for these metrics: known answers or documents decide.
    assert flags_of("answer_coverage") == said
    assert flags_of("citation_recall", recall_at_5=0.5) == said


def test_people_and_the_unfinished_have_no_say_in_who_judges() -> None:
    low, high = evaluation_of(1, *LOW, grounded_recall=0.1), evaluation_of(2, *LOW, grounded_recall=0.9)
    people = evaluation_of(3, *LOW, grounded_recall=0.5, plan={"method": "human", "judge": "gpt"})
    assert flags(row("grounded_recall", low, high, people)) == [(False, True), (True, False), (False, False)]
