"""The call of a reranker, and how its scores are converted."""

from __future__ import annotations

import pytest

from pgclarify.data.model_calls import Completion
from pgclarify.errors import InvalidReply
from pgclarify.prompts.cross_encoding import reranking

QUESTION = "Who pays tolls?"


def read(reply: str, count: int = 2) -> list[float]:
    return reranking(QUESTION, ["text"] * count, ["d1"]).read(Completion(reply, None, 0, 1.0))


def test_scores_of_any_size_are_between_0_and_1_in_their_order() -> None:
    scores = read("[-8.5, 0, 0.25, 1, 12]", 5)
    assert scores == sorted(scores)
    assert len(set(scores)) == 5
    assert all(0 < score < 1 for score in scores)


def test_scores_of_two_replies_compare() -> None:
    (alone,) = read("[0.25]", 1)
    assert read("[0.25, -3]")[0] == alone


@pytest.mark.parametrize("reply", ["", "null", "{}", "[0.5]", "[0.5, 0.5, 0.5]", '[0.5, "x"]', "[0.5, NaN]"])
def test_anything_else_is_not_read(reply: str) -> None:
    with pytest.raises(InvalidReply):
        read(reply)
