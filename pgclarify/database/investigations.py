"""The steps of investigations."""

from __future__ import annotations

import json
from dataclasses import asdict

from pgclarify.data.investigation import Step
from pgclarify.data.runs import Run
from pgclarify.database.runs import Runs


class StepTables:
    """The steps of the investigations of a worker."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def record_step(self, run: Run, step: Step) -> None:
        """Store a step with its citations; it replaces a step with the same ordinal.

        It is durable when this returns, and visible to others while the run is not over. The candidates that it cites
        must be recorded already.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        await self._runs.fetch(run, "record_step", step=json.dumps(asdict(step)))
