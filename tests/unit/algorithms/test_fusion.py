"""Reciprocal rank fusion."""

from hypothesis import given
from hypothesis import strategies as st

from pgclarify.algorithms.fusion import fuse

rankings = st.lists(st.lists(st.integers(0, 9), unique=True), max_size=4)


def test_passages_that_several_rankings_rank_high_come_first():
    # 2/62 > 1/61 + 1/64 > 1/61 > 1/63 = 1/63. Of the two equals, the one of the first ranking comes first.
    assert fuse(["a", "b", "c", "d"], ["e", "b", "f", "a"]) == ["b", "a", "e", "c", "f", "d"]


def test_two_places_near_the_sixtieth_count_as_much_as_one_first_place():
    others, more = [f"other {place}" for place in range(60)], [f"another {place}" for place in range(61)]
    # 1/121 + 1/122 > 1/61 = 1/122 + 1/122.
    assert fuse(["first", *others[1:], "both"], [*more, "both"])[0] == "both"
    assert fuse(["first", *others, "both"], [*more, "both"])[0] == "first"


def test_a_single_ranking_stays_as_it_is():
    assert fuse([3, 1, 2]) == [3, 1, 2]
    assert fuse([], [3, 1, 2]) == [3, 1, 2]


@given(rankings)
def test_everything_is_in_it_once(given_rankings):
    fused = fuse(*given_rankings)
    assert sorted(fused) == sorted({one for ranking in given_rankings for one in ranking})
