"""The stages of a run, as `explain` shows them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pgclarify.data.model_calls import Completion
from pgclarify.data.runs import Stage
from pgclarify.data.vocabulary import StopCode

# A stage notes that its calls waited so long for the limits of an endpoint.
_LONG_WAIT_SECONDS: Final = 1.0


@dataclass(slots=True)
class Tally:
    """Counts the work of one stage; see `Stage` for the attributes."""

    rows: int | None = None
    calls: int = 0
    reused_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reused_prompt_tokens: int = 0
    reused_completion_tokens: int = 0
    model_ms: float = 0.0
    waited_ms: float = 0.0
    note: str | None = None

    def count(self, completion: Completion, *, is_reused: bool) -> None:
        """Count a reply that was paid for, or that came from the ledger. Unknown token counts are taken as zero."""
        if is_reused:
            self.reused_calls += 1
            self.reused_prompt_tokens += completion.prompt_tokens or 0
            self.reused_completion_tokens += completion.completion_tokens or 0
        else:
            self.calls += 1
            self.prompt_tokens += completion.prompt_tokens or 0
            self.completion_tokens += completion.completion_tokens or 0
        self.model_ms += completion.latency_ms
        self.waited_ms += completion.waited_ms

    @property
    def full_note(self) -> str | None:
        """The note, and how long calls waited for the limits of an endpoint, if that was long."""
        seconds = self.waited_ms / 1000
        waited = f"calls waited {seconds:.0f} s for the endpoint's requests and tokens a minute"
        return "; ".join(filter(None, (self.note, waited if seconds >= _LONG_WAIT_SECONDS else None))) or None


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
        tally = Tally()
        place = len(self._stages)
        self._stages.append(None)
        started_at = datetime.now(UTC)
        began = time.perf_counter()
        try:
            yield tally
        finally:
            self._stages[place] = Stage(
                name=name,
                started_at=started_at,
                duration_ms=1000 * (time.perf_counter() - began),
                rows=tally.rows,
                calls=tally.calls,
                reused_calls=tally.reused_calls,
                prompt_tokens=tally.prompt_tokens,
                completion_tokens=tally.completion_tokens,
                reused_prompt_tokens=tally.reused_prompt_tokens,
                reused_completion_tokens=tally.reused_completion_tokens,
                model_ms=tally.model_ms,
                batch=batch,
                step_ordinal=step_ordinal,
                note=tally.full_note,
            )
