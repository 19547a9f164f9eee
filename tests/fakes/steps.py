"""The steps of investigations, in memory."""

from __future__ import annotations

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
        """Store a step."""
        await self._store.record(run)
        kept = [one for one in self.steps.get(run.run_id, []) if one.ordinal != step.ordinal]
        self.steps[run.run_id] = sorted([*kept, step], key=lambda one: one.ordinal)
