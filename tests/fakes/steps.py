"""The steps of investigations, in memory."""

from __future__ import annotations

import numpy as np

from pgclarify.data.investigation import Step
from pgclarify.data.runs import Run
from pgclarify.database.investigations import StepTables
from tests.fakes.store import FakeStore


class FakeStepStore(StepTables):
    """The steps of the runs of a `FakeStore`, in memory.

    Args:
        store: The store of the runs.

    Attributes:
        steps: By run_id, in order.
    """

    def __init__(self, store: FakeStore) -> None:
        self.steps: dict[int, list[Step]] = {}
        self._store = store

    async def record_step(self, run: Run, step: Step) -> None:
        """Store a step.

        Raises:
            ValueError: If it is none that the table takes.
        """
        record = await self._store.record(run)
        # The invariants that the tables check.
        is_answered = step.outcome == "answered"
        ranks = {candidate.rank for candidate in record.candidates}
        if (
            is_answered != (step.answer is not None)
            or is_answered != (step.confidence is not None)
            or is_answered != bool(step.citations)
            or not all(citation.candidate_rank in ranks for citation in step.citations)
            or (step.abstention_code is not None and step.outcome != "not_in_corpus")
            or not (step.confidence is None or 0 < np.float32(step.confidence) <= 1)
        ):
            raise ValueError(f"no table takes {step}")
        kept = [one for one in self.steps.get(run.run_id, []) if one.ordinal != step.ordinal]
        self.steps[run.run_id] = sorted([*kept, step], key=lambda one: one.ordinal)
