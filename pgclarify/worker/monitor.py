"""Observes a worker. This monitor keeps nothing; `pgclarify.worker.metrics` has one for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from pgclarify.protocols import Completer


class Monitor:
    """Observes a worker and keeps nothing, so that a worker without metrics imports no library for them."""

    def describe(self, *, version: str, provider: str, model: str) -> None:
        """Note what the worker is.

        Args:
            version: The version of pgclarify.
            provider: openai or extractive.
            model: The language model that it asks.
        """

    def metered(self, completer: Completer) -> Completer:
        """Return a completer that makes the same calls and counts them."""
        return completer

    def note_ready(self, *, is_ready: bool) -> None:
        """Note whether the worker takes runs."""

    def note_end(self, operation: str, status: str, code: str) -> None:
        """Note how a run ended.

        Args:
            operation: The run's operation.
            status: succeeded, partial or failed.
            code: The run's error code, or else its stop code; empty if it has neither.
        """

    def follow(self, runs_running: Callable[[], int]) -> None:
        """Read at each scrape how many runs the worker is carrying out."""
