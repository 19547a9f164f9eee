"""The steps of investigations."""

from __future__ import annotations

import json
from dataclasses import asdict

from pgclarify.data.investigation import Step
from pgclarify.data.runs import Run
from pgclarify.database.pool import fetch
from pgclarify.database.runs import Runs


class StepTables:
    """`pgclarify.protocols.StepStore` for the runs of a worker."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def record_step(self, run: Run, step: Step) -> None:
        """See StepStore."""
        await fetch(
            self._runs.pool, "record_step", run_id=run.run_id, attempt=run.attempt, step=json.dumps(asdict(step))
        )
