"""What a worker notes about a run that it ended."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import RunStatus
from pgclarify.database import runs
from pgclarify.database.pool import Pool
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import Runs


@pytest.mark.parametrize(
    ("status", "error_code", "stored", "code"),
    [
        (RunStatus.SUCCEEDED, None, None, ""),
        (RunStatus.SUCCEEDED, None, "no_passage", "no_passage"),
        (RunStatus.FAILED, "PC013", None, "PC013"),
        (RunStatus.PARTIAL, "PC017", "failed_calls", "PC017"),
        # The alert about budgets looks for this code.
        (RunStatus.PARTIAL, "PC015", "budget", "budget"),
    ],
)
async def test_the_code_of_a_run_is_the_stored_one(
    monkeypatch: pytest.MonkeyPatch, status: RunStatus, error_code: str | None, stored: str | None, code: str
) -> None:
    async def fetch(pool: Pool, name: str, **parameters: Any) -> list[dict[str, Any]]:
        return [{"result": stored}]

    monkeypatch.setattr(runs, "fetch", fetch)
    run = Run(1, 1, "clarify", "rental cars", {}, 1, "all-MiniLM-L6-v2", 384)
    tables = RunTables(Runs(cast("Pool", None), worker_id=1), run)
    await tables.finish_run(run, status, [], None if error_code is None else "an error", error_code=error_code)
    assert (tables.status, tables.code) == (status, code)
