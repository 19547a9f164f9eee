"""What a worker notes about a run, and stores later."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from pgclarify.data.model_calls import Completion
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import Outcome, RunStatus
from pgclarify.database import ledger, run_tables, runs
from pgclarify.database.pool import Pool
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import Runs
from pgclarify.errors import DatabaseBusy, RunLost
from tests.unit.ledger.buying import request

RUN = Run(1, 1, "clarify", "rental cars", {}, 1, "all-MiniLM-L6-v2", 384)


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
    tables = RunTables(Runs(cast("Pool", None), worker_id=1), RUN)
    await tables.finish_run(RUN, status, [], None if error_code is None else "an error", error_code=error_code)
    assert (tables.status, tables.code) == (status, code)


async def test_the_end_stores_the_last_verdict_on_each_passage_even_if_a_lock_delayed_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored: list[list[int | str]] = []

    async def fetch(pool: Pool, name: str, **parameters: Any) -> list[dict[str, Any]]:
        if name == "record_verdicts":
            raise DatabaseBusy("another session has locked the run")
        stored.extend([one["rank"], one["outcome"]] for one in json.loads(parameters["verdicts"]))
        return [{"result": None}]

    monkeypatch.setattr(runs, "fetch", fetch)
    tables = RunTables(Runs(cast("Pool", None), worker_id=1), RUN)
    for rank, outcome in ((1, Outcome.FAILED), (2, Outcome.ABSTAINED), (1, Outcome.ABSTAINED)):
        tables.note_verdicts([Verdict(rank, outcome)])
    with pytest.raises(DatabaseBusy):
        await tables.record_verdicts(RUN)
    await tables.finish_run(RUN, RunStatus.SUCCEEDED, [], None)
    assert stored == [[1, "abstained"], [2, "abstained"]]


async def test_replies_wait_for_the_last_one_of_their_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[list[int]] = []

    async def fetch(pool: Pool, name: str, **parameters: Any) -> list[dict[str, Any]]:
        if name == "store_completions":
            stored.append([one["completion_id"] for one in json.loads(parameters["completions"])])
            return []
        claimed = {"is_ours": True, "is_own": True, "is_sent": False, "reply": None, "refusal": None}
        return [
            claimed | {"ordinal": number, "completion_id": number, "leased_until": datetime.now(UTC)}
            for number, _ in enumerate(json.loads(parameters["calls"]), start=1)
        ]

    for module in (ledger, runs):
        monkeypatch.setattr(module, "fetch", fetch)
    monkeypatch.setattr(runs, "_STORING_SECONDS", 60.0)
    tables = RunTables(Runs(cast("Pool", None), worker_id=1), RUN)
    claims = await tables.claim_completions([request(text) for text in ("one", "two", "three")])
    reply = Completion("yes", prompt_tokens=1, completion_tokens=1, latency_ms=1.0)

    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        for claim in claims:
            assert claim.completion_id is not None
            tasks.create_task(tables.store_completion(claim.completion_id, reply))
            await asyncio.sleep(0.01)

    assert stored == [[1, 2, 3]]


@pytest.mark.parametrize("is_slow", [False, True])
async def test_a_run_ends_while_its_last_replies_are_being_stored_but_is_not_sent_before_them(
    monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    sent: list[str] = []
    may_store = asyncio.Event()
    awaited: list[int] = []

    async def fetch(pool: Pool, name: str, **parameters: Any) -> list[dict[str, Any]]:
        sent.append(name)
        if name == "store_completions":
            await may_store.wait()
        if name == "finish_run":
            awaited.extend(parameters["replies"])
        return [{"result": None}]

    monkeypatch.setattr(runs, "fetch", fetch)
    monkeypatch.setattr(run_tables, "_AWAITED_SECONDS", 0.0 if is_slow else 60.0)
    tables = RunTables(Runs(cast("Pool", None), worker_id=1), RUN)
    reply = Completion("yes", prompt_tokens=1, completion_tokens=1, latency_ms=1.0)
    storing = asyncio.create_task(tables.store_completion(7, reply))
    await asyncio.sleep(0)
    await tables.finish_run(RUN, RunStatus.SUCCEEDED, [], None)
    assert sent == ["store_completions", "finish_run"]
    assert awaited == [7]
    assert tables.may_lack_cost is is_slow
    may_store.set()
    await storing


async def test_the_end_does_not_wait_for_verdicts_that_are_being_stored_and_stores_them_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored: list[list[int | str]] = []
    may_record = asyncio.Event()

    async def fetch(pool: Pool, name: str, **parameters: Any) -> list[dict[str, Any]]:
        if name == "record_verdicts":
            await may_record.wait()
            raise RunLost("the run is over")
        stored.extend([one["rank"], one["outcome"]] for one in json.loads(parameters["verdicts"]))
        return [{"result": None}]

    monkeypatch.setattr(runs, "fetch", fetch)
    tables = RunTables(Runs(cast("Pool", None), worker_id=1), RUN)
    tables.note_verdicts([Verdict(1, Outcome.FAILED)])
    tables.note_verdicts([Verdict(2, Outcome.ABSTAINED)])
    recording = asyncio.create_task(tables.record_verdicts(RUN))
    await asyncio.sleep(0)
    tables.note_verdicts([Verdict(1, Outcome.ABSTAINED)])
    await tables.finish_run(RUN, RunStatus.SUCCEEDED, [], None)
    assert stored == [[1, "abstained"], [2, "abstained"]]
    may_record.set()
    with pytest.raises(RunLost):
        await recording
