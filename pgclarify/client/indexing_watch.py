"""Decides when a wait for indexing must end, because nothing is indexed any longer."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from pgclarify.errors import EmbeddingError

# Seconds. A worker that cannot use a model tries again every 30 seconds.
_LONGEST_STANDSTILL = 60.0


class IndexingWatch:
    """Watches one corpus while its passages are indexed.

    The error of a corpus alone does not end a wait. It may be temporary or out of date, or concern one worker of
    several.

    Args:
        clock: Returns seconds since any fixed moment.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pending_passages = inf
        self._progressed_at = clock()

    def check(self, corpus: str, *, pending: int, pending_passages: int, error: str | None) -> None:
        """Check the present state of the corpus.

        Args:
            corpus: Its name.
            pending: How many of its documents are not indexed yet.
            pending_passages: About how many passages these have.
            error: Why they wait; None if there is no reason.

        Raises:
            EmbeddingError: If there has been an error for a minute in which nothing was indexed.
        """
        now = self._clock()
        # A worker that is only slow leaves no error. Another session may add documents meanwhile, so compare with the
        # last state, not with the lowest.
        if error is None or pending_passages < self._pending_passages:
            self._progressed_at = now
        self._pending_passages = pending_passages
        if error is None or now - self._progressed_at < _LONGEST_STANDSTILL:
            return
        raise EmbeddingError(
            f"nothing of {corpus} is being indexed",
            detail=f"{error.removesuffix('.')}. Documents that are stored and wait: {pending}.",
            hint="Remove the cause, and workers index what waits. If there is no such model, use another corpus.",
        )
