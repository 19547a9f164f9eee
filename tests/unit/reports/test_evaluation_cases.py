"""Which cases a page shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgclarify.evaluated import EvaluatedCase
from pgclarify.reports.evaluation_cases import choose_cases
from tests.evaluated_cases import reading
from tests.reported import case, evaluated


def cases(*coverages: float) -> tuple[EvaluatedCase, ...]:
    return tuple(case(place, coverage) for place, coverage in enumerate(coverages, start=1))


def places(shown: object) -> list[int]:
    return [one.place for one in shown]  # type: ignore[attr-defined]


def test_cases_are_ranked_by_the_mean_of_all_evaluations() -> None:
    chosen = choose_cases([evaluated(1, cases(0.5, 0.0, 1.0)), evaluated(2, cases(0.3, 1.0, 1.0))], "answer_coverage")
    assert places(chosen.worst) == [1, 2]
    assert [one.score for one in chosen.shown] == pytest.approx([0.4, 0.5, 1.0])
    assert chosen.left_out == 0


def test_slow_is_what_took_the_model_long() -> None:
    chosen = choose_cases([evaluated(1, cases(0.5, 0.5, 0.5))], "answer_coverage")
    assert chosen.is_by_model
    assert places(chosen.slowest) == [3, 2, 1]


def test_without_a_model_slow_is_what_took_long() -> None:
    given = tuple(
        replace(one, usage=replace(one.usage, model_seconds=0.0), seconds=10.0 - one.ordinal) for one in cases(0.5, 0.5)
    )
    chosen = choose_cases([evaluated(1, given)], "answer_coverage")
    assert not chosen.is_by_model
    assert places(chosen.slowest) == [1, 2]


def test_the_best_are_left_out_for_want_of_room() -> None:
    many = cases(*(place / 100 for place in range(100)))
    chosen = choose_cases([evaluated(1, many)], "answer_coverage", most_chars=40_000)
    assert 20 < len(chosen.shown) < 90
    assert chosen.left_out == 100 - len(chosen.shown)
    assert places(chosen.worst) == list(range(1, 11))
    assert {*places(chosen.worst), *places(chosen.slowest)} <= set(places(chosen.shown))
    # The rest is the worst of what remains.
    assert set(places(chosen.shown)) == {*range(1, len(chosen.shown) - 9), *range(91, 101)}


def test_without_a_score_none_is_worst() -> None:
    chosen = choose_cases([evaluated(1, cases(0.5, 0.5))], None)
    assert chosen.worst == ()
    assert len(chosen.shown) == 2


def test_long_lists_are_cut_and_say_so() -> None:
    long = reading("Which?", "answer")
    long = {**long, "citations": long["citations"] * 9}
    (first,) = cases(0.5)
    many = replace(first, output={**first.output, "interpretations": [long] * 50})
    (shown,) = choose_cases([evaluated(1, (many,))], "answer_coverage").shown
    (given,) = shown.given
    assert (len(given.readings), given.left_out) == (20, 30)
    assert (len(given.readings[0].citations), given.readings[0].left_out) == (5, 4)
    assert given.readings[0].is_known
