"""Rankings against known relevant ids."""

from __future__ import annotations

from pgclarify.algorithms.metrics import recall_at


def test_recall_counts_different_ids() -> None:
    assert recall_at(["a", "a", "b", "c"], {"b", "c"}, 2) == 0.5
    assert recall_at([], {"b"}, 10) == 0
