"""When a wait for indexing ends with the error of the corpus."""

from __future__ import annotations

import pytest

from pgclarify.client.indexing_watch import IndexingWatch
from pgclarify.errors import EmbeddingError


def watch(*pending_passages: int, error: str | None, after: int = 0) -> None:
    """Look at a corpus every 20 seconds. after: how many looks before there is the error."""
    now = 0.0
    watched = IndexingWatch(lambda: now)
    for look, passages in enumerate(pending_passages):
        watched.check("insurance", pending=2, pending_passages=passages, error=error if look >= after else None)
        now += 20


def test_an_error_is_ignored_while_passages_are_indexed() -> None:
    watch(9, 9, 9, 8, 8, 10, 9, 9, 9, error="the embedding endpoint failed")


def test_an_error_counts_after_a_minute_in_which_nothing_was_indexed() -> None:
    with pytest.raises(EmbeddingError, match="nothing of insurance is being indexed") as caught:
        watch(9, 8, 8, 9, 9, error="its budget is spent.")
    assert caught.value.detail == "its budget is spent. Documents that are stored and wait: 2."


def test_a_slow_worker_does_not_make_a_new_error_count_at_once() -> None:
    watch(9, 9, 9, 9, 9, 9, error="the embedding endpoint failed", after=5)
