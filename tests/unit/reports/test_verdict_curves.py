"""Known answers found by verdicts, by number of calls."""

from __future__ import annotations

from typing import Any

import pytest

from pgclarify.algorithms.metrics import answer_coverage
from pgclarify.reports.verdict_curves import verdict_curves

ONE_ANSWER = {"answer_sets": [[["a"]]]}


def test_coverage_rises_with_what_is_found() -> None:
    curves = verdict_curves([({"answer_sets": [[["a"], ["b"]]]}, [[1, 100, None], [2, 210, "a"], [3, 330, "the b"]])])
    assert curves is not None
    assert curves.calls == [(0.0, 0.0), (1.0, 0.0), (2.0, 0.5), (3.0, 1.0)]
    assert curves.tokens == [(0.0, 0.0), (100.0, 0.0), (210.0, 0.5), (330.0, 1.0)]


def test_cases_that_brought_nothing_count_as_such() -> None:
    # One case was answered, one abstained, one failed before its first verdict, and one has no known answer.
    curves = verdict_curves(
        [
            (ONE_ANSWER, [[1, 10, "a"]]),
            (ONE_ANSWER, [[1, 10, None], [2, 20, None]]),
            (ONE_ANSWER, ()),
            ({"answer_sets": []}, [[1, 10, "a"]]),
        ]
    )
    assert curves is not None
    assert [calls for calls, _ in curves.calls] == [0.0, 1.0, 2.0]
    assert [share for _, share in curves.calls] == pytest.approx([0.0, 1 / 3, 1 / 3])


def test_of_several_people_the_one_counts_who_is_met_best() -> None:
    people = [[["a"], ["b"]], [["c"], ["d"], ["e"]]]
    given = [[1, 10, "c"], [2, 20, "a"], [3, 30, "b"]]
    curves = verdict_curves([({"answer_sets": people}, given)])
    assert curves is not None
    assert [share for _, share in curves.calls] == pytest.approx([0.0, 1 / 3, 1 / 2, 1.0])
    assert curves.calls[-1][1] == max(answer_coverage(golds, ["c", "a", "b"]) for golds in people)


def test_answers_of_readings_are_those_of_one_person() -> None:
    gold = {"interpretations": [{"answers": ["a", "an a"]}, {"answers": []}, {"answers": ["b"]}]}
    curves = verdict_curves([({**gold, "answer_sets": [[["z"]]]}, [[1, 10, "a"]])])
    assert curves is not None
    assert curves.calls[-1] == (1.0, 0.5)
    bare = {"interpretations": [{"answers": []}], "answer_sets": [[["z"]]]}
    curves = verdict_curves([(bare, [[1, 10, "z"]])])
    assert curves is not None
    assert curves.calls[-1] == (1.0, 1.0)


@pytest.mark.parametrize("steps", [[], [[0, 0, "a"]]])
def test_without_calls_there_is_nothing_to_follow(steps: list[Any]) -> None:
    curves = verdict_curves([(ONE_ANSWER, steps)])
    assert curves is not None
    assert (curves.calls, curves.tokens) == ((), ())


def test_without_known_answers_there_is_no_curve() -> None:
    assert verdict_curves([({"interpretations": [], "answer_sets": []}, [[1, 10, "a"]])]) is None


def test_a_long_curve_is_thinned_and_keeps_its_end() -> None:
    curves = verdict_curves([(ONE_ANSWER, [[call, call, "a" if call == 500 else None] for call in range(1, 501)])])
    assert curves is not None
    assert len(curves.calls) == 61
    assert curves.calls[-1] == (500.0, 1.0)
