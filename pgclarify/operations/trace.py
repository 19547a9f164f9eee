"""The stages of a run, as `explain` shows them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from pgclarify import tracing
from pgclarify.data.runs import Stage, Tally
from pgclarify.data.vocabulary import StopCode

# A stage notes that its calls waited so long for the limits of an endpoint.
_LONG_WAIT_SECONDS: Final = 1.0


class Trace:
    """The stages of one run, in the order in which they began.

    Attributes:
        stop_reason: Why the run stopped early; None if it did not.
        stop_code: Why it has no result, or only a part of it, if the tables do not show it; else None.
    """

    def __init__(self) -> None:
        self.stop_reason: str | None = None
        self.stop_code: StopCode | None = None
        self._stages: list[Stage | None] = []

    @property
    def stages(self) -> list[Stage]:
        """The stages that are over."""
        return [stage for stage in self._stages if stage is not None]

    @contextmanager
    def stage(self, name: str, *, batch: int | None = None, step_ordinal: int | None = None) -> Iterator[Tally]:
        """Time a stage, even if it raises. Stages may overlap.

        Args:
            name: One of those that `Stage` lists.
            batch: Its batch, from 1; None if there are no batches.
            step_ordinal: Its step of an investigation; None for other operations.
        """
        stage = Stage(name=name, started_at=datetime.now(UTC), batch=batch, step_ordinal=step_ordinal)
        place = len(self._stages)
        self._stages.append(None)
        began = time.perf_counter()
        with tracing.span(name, {"pgclarify.batch": batch, "pgclarify.step": step_ordinal}):
            try:
                yield stage
            finally:
                self._end(place, stage, time.perf_counter() - began)

    def _end(self, place: int, stage: Stage, seconds: float) -> None:
        stage.duration_ms = 1000 * seconds
        if stage.waited_ms >= 1000 * _LONG_WAIT_SECONDS:
            waited = f"calls waited {stage.waited_ms / 1000:.0f} s for the endpoint's requests and tokens a minute"
            stage.note = f"{stage.note}; {waited}" if stage.note else waited
        self._stages[place] = stage
        tracing.note(
            {
                "pgclarify.rows": stage.rows,
                "pgclarify.calls": stage.calls,
                "pgclarify.reused_calls": stage.reused_calls,
            }
        )
