"""The measure of a list of answers."""

from __future__ import annotations

import pytest

from tests.benchmark.answer_sets import Fit, answer_set_fit, covers

GOLDS = [["Moussa Faki", "Moussa Faki Mahamat"], ["Jean Ping"], ["Zuma"]]


@pytest.mark.parametrize(
    ("predicted", "fit"),
    [
        (["jean ping", "The Zuma.", "Moussa Faki Mahamat"], Fit(1, 1, 1)),
        (["Jean Ping"], Fit(0.5, 1, 1 / 3)),
        (["Jean Ping", "Ada Berg"], Fit(0.4, 0.5, 1 / 3)),
        # A known answer is hit once, and the same answer counts once.
        (["Moussa Faki", "Moussa Faki Mahamat"], Fit(0.4, 0.5, 1 / 3)),
        (["Jean Ping", "jean  ping"], Fit(0.5, 1, 1 / 3)),
        (["Chairman Jean Ping"], Fit(0, 0, 0)),
        ([], Fit(0, 0, 0)),
    ],
)
def test_one_to_one(predicted: list[str], fit: Fit) -> None:
    assert answer_set_fit(predicted, [GOLDS]) == fit


def test_the_most_pairs_are_made() -> None:
    golds = [["x y", "x"], ["x y"]]
    assert answer_set_fit(["x y", "x z"], [golds], covers).f1 == 1
    assert answer_set_fit(["x z", "x y"], [golds], covers).f1 == 1


def test_the_set_that_fits_best_counts() -> None:
    assert answer_set_fit(["1919"], [[["October 1919"]], [["1919"]]]) == Fit(1, 1, 1)
