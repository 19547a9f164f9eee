"""The cases that a page shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgclarify.evaluated import EvaluatedCase
from pgclarify.reports.evaluation_cases import choose_cases
from pgclarify.reports.evaluation_report import Cases
from tests.evaluated_cases import reading
from tests.reported import KeptCases, case, evaluated


def cases(*coverages: float) -> tuple[EvaluatedCase, ...]:
    return tuple(case(place, coverage) for place, coverage in enumerate(coverages, start=1))


async def choose(*those: tuple[EvaluatedCase, ...], metric: str | None = "answer_coverage", **room: int) -> Cases:
    members = [evaluated(number, given) for number, given in enumerate(those, start=1)]
    return await choose_cases(KeptCases(dict(enumerate(those, start=1))), members, metric, **room)


def places(shown: object) -> list[int]:
    return [one.place for one in shown]  # type: ignore[attr-defined]


async def test_cases_are_ranked_by_the_mean_of_all_evaluations() -> None:
    chosen = await choose(cases(0.5, 0.0, 1.0), cases(0.3, 1.0, 1.0))
    assert places(chosen.worst) == [1, 2]
    assert [one.score for one in chosen.shown] == pytest.approx([0.4, 0.5, 1.0])
    assert chosen.left_out == 0


async def test_slow_is_what_took_the_model_long() -> None:
    chosen = await choose(cases(0.5, 0.5, 0.5))
    assert chosen.is_by_model
    assert places(chosen.slowest) == [3, 2, 1]


async def test_without_a_model_slow_is_what_took_long() -> None:
    given = tuple(
        replace(one, values={**one.values, "model_seconds": 0.0, "seconds": 10.0 - one.ordinal})
        for one in cases(0.5, 0.5)
    )
    chosen = await choose(given)
    assert not chosen.is_by_model
    assert places(chosen.slowest) == [1, 2]


async def test_the_best_are_left_out_for_want_of_room() -> None:
    many = cases(*(place / 100 for place in range(100)))
    chosen = await choose(many, most_chars=40_000)
    assert 20 < len(chosen.shown) < 90
    assert chosen.left_out == 100 - len(chosen.shown)
    assert places(chosen.worst) == list(range(1, 11))
    assert {*places(chosen.worst), *places(chosen.slowest)} <= set(places(chosen.shown))
    # The rest are the worst of the other cases.
    assert set(places(chosen.shown)) == {*range(1, len(chosen.shown) - 9), *range(91, 101)}


async def test_without_a_score_none_is_worst() -> None:
    chosen = await choose(cases(0.5, 0.5), metric=None)
    assert chosen.worst == ()
    assert len(chosen.shown) == 2


async def test_long_lists_are_cut_and_say_so() -> None:
    long = reading("Which?", "answer")
    long = {**long, "citations": long["citations"] * 9}
    (first,) = cases(0.5)
    many = replace(first, output={**first.output, "interpretations": [long] * 50})
    (shown,) = (await choose((many,))).shown
    (given,) = shown.given
    assert (len(given.readings), given.left_out) == (20, 30)
    assert (len(given.readings[0].citations), given.readings[0].left_out) == (5, 4)
    assert given.readings[0].is_known


async def test_what_methods_gave_is_read_of_no_more_than_is_shown() -> None:
    many = cases(*(place / 400 for place in range(400)))
    tables = KeptCases({1: many})
    chosen = await choose_cases(tables, [evaluated(1, many)], "answer_coverage", most_chars=40_000)
    assert chosen.left_out == 400 - len(chosen.shown) > 300
    asked = [place for _, ordinals in tables.asked for place in ordinals]
    assert set(places(chosen.shown)) <= set(asked)
    assert len(asked) == len(set(asked)) <= 100


async def test_a_case_that_was_deleted_meanwhile_is_left_out() -> None:
    both = cases(0.5, 0.25)
    chosen = await choose_cases(KeptCases({1: both[:1]}), [evaluated(1, both)], "answer_coverage")
    assert places(chosen.shown) == places(chosen.worst) == places(chosen.slowest) == [1]
