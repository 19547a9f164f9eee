"""The most calls of a method, before anything is asked."""

from typing import Any

import pytest

from pgclarify.evaluation.estimate import most_calls


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        ({}, 1),
        ({"count": 3}, 1),
        ({"form": "select"}, 21),
        ({"form": "select", "count": 2, "top_k": 3}, 7),
        ({"form": "select", "check": "none"}, 1),
    ],
)
def test_only_reformulations_to_choose_from_are_judged(settings: dict[str, Any], calls: int) -> None:
    assert most_calls("clarifying_questions", settings) == calls
