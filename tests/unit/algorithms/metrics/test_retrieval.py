"""Rankings against known relevant ids."""

from __future__ import annotations

import pytest

from pgclarify.algorithms.metrics import pooled, recall_at
from pgclarify.errors import InputError


def test_recall_counts_different_ids() -> None:
    assert recall_at(["a", "a", "b", "c"], {"b", "c"}, 2) == 0.5
    assert recall_at([], {"b"}, 10) == 0
    for relevant, k in ((set[str](), 1), ({"a"}, 0)):
        with pytest.raises(InputError):
            recall_at(["a"], relevant, k)


def test_rankings_are_pooled_place_by_place() -> None:
    assert pooled([["a", "b"], ["c"], ["b", "d"]]) == ["a", "c", "b", "d"]
    assert pooled([]) == []
