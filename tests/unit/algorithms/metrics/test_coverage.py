"""Coverage of known answers against calls and tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.algorithms.metrics import answer_coverage, coverage_curve
from pgclarify.errors import InputError

GOLDS = [["Jean Ping"], ["Zuma", "Dlamini-Zuma"], ["1919"]]


def test_what_was_found_stays() -> None:
    found = [(1, 300, ["Jean Ping"]), (2, 610, []), (4, 900, ["chairwoman Dlamini-Zuma", "Jean Ping"])]
    curve = coverage_curve(found, GOLDS)
    assert [(calls, tokens) for calls, tokens, _ in curve] == [(1, 300), (2, 610), (4, 900)]
    assert [share for _, _, share in curve] == pytest.approx([1 / 3, 1 / 3, 2 / 3])


def test_nothing_found_and_nothing_known() -> None:
    assert coverage_curve([], GOLDS) == []
    with pytest.raises(InputError):
        coverage_curve([(1, 300, ["Jean Ping"])], [])


@given(st.lists(st.lists(st.sampled_from(["Jean Ping", "Zuma", "in 1919", "nobody"]), max_size=2)))
def test_it_never_falls_and_ends_with_the_coverage_of_all(texts: list[list[str]]) -> None:
    shares = [share for _, _, share in coverage_curve([(0, 0, brought) for brought in texts], GOLDS)]
    assert shares == sorted(shares)
    assert (shares or [0])[-1] == answer_coverage(GOLDS, [text for brought in texts for text in brought])
