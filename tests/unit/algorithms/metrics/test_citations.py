"""Comparing citations with the passages that should be cited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.algorithms.metrics import CitationScores, citation_scores, supported_citation_scores
from pgclarify.errors import InputError


@pytest.mark.parametrize(
    ("cited", "scores"),
    [
        ([1, 3], CitationScores(1, 1)),
        ([3], CitationScores(1, 0.5)),
        # Superfluous citations reduce precision. A repeated passage counts once.
        ([0, 1, 2, 3], CitationScores(0.5, 1)),
        ([1, 1, 0], CitationScores(0.5, 0.5)),
        ([0], CitationScores(0, 0)),
        ([], CitationScores(0, 0)),
    ],
)
def test_worked_examples(cited: list[int], scores: CitationScores) -> None:
    assert citation_scores(cited, [1, 3], 4) == scores


@pytest.mark.parametrize("place", [4, -1])
def test_a_passage_that_is_not_there_is_never_another_one(place: int) -> None:
    with pytest.raises(InputError):
        citation_scores([1, place], [1, 3], 4)
    with pytest.raises(InputError):
        citation_scores([1], [1, place], 4)


def test_there_is_something_to_cite() -> None:
    with pytest.raises(InputError):
        citation_scores([1], [], 4)


@given(st.lists(st.integers(0, 5)), st.sets(st.integers(0, 5), min_size=1))
def test_laws(cited: list[int], relevant: set[int]) -> None:
    scores = citation_scores(cited, relevant, 6)
    assert 0 <= scores.precision <= 1
    assert 0 <= scores.recall <= 1
    assert citation_scores(cited[::-1], relevant, 6) == scores
    assert citation_scores(sorted(relevant), relevant, 6) == CitationScores(1, 1)


@pytest.mark.parametrize(
    ("alone", "together", "scores"),
    [
        ([True, True], True, CitationScores(1, 1)),
        ([True, False], True, CitationScores(0.5, 1)),
        ([False, False], True, CitationScores(0, 1)),
        ([False, False], False, CitationScores(0, 0)),
        # If one passage supports the reading, several together do, too.
        ([False, True], False, CitationScores(0.5, 1)),
        ([], True, CitationScores(0, 0)),
    ],
)
def test_support_alone_and_together(alone: list[bool], together: bool, scores: CitationScores) -> None:
    assert supported_citation_scores(alone, together=together) == scores
