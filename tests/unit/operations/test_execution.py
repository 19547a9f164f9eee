"""Only one function ends runs: which errors fail a run, which leave it alone, and which operations are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pgclarify.data.interpretations import Interpretation
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import Outcome, RunStatus, StopCode
from pgclarify.errors import (
    CompletionError,
    ConfigurationError,
    DatabaseBusy,
    DatabaseError,
    EmbeddingError,
    NotReady,
    RunLost,
    ServerUnavailable,
)
from pgclarify.operations import execution
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.execution import execute
from pgclarify.operations.table import OPERATIONS, Operation
from tests.fakes import FakeStore, RunRecord
from tests.fakes.context import context_of


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch):
    """Execute a run of an operation that begins a stage, and then ends or raises."""

    async def carry_out(what: Exception | Ending, store: FakeStore | None = None, attempt: int = 1) -> RunRecord:
        async def operation(context: RunContext) -> Ending:
            context.trace.stop_reason, context.trace.stop_code = "enough", StopCode.LIMIT
            with context.trace.stage("retrieval"):
                if isinstance(what, Exception):
                    raise what
            return what

        monkeypatch.setattr(execution, "OPERATIONS", {"clarify": Operation(operation)})
        store = store or FakeStore()
        run = replace(store.add_run(), attempt=attempt)
        store.runs[run.run_id].run = run
        await execute(context_of(run, store))
        return store.runs[run.run_id]

    return carry_out


async def test_a_run_ends_as_its_operation_says(raising) -> None:
    record = await raising(Ending(RunStatus.PARTIAL))
    assert (record.status, record.error, record.stop_reason) == (RunStatus.PARTIAL, None, "enough")
    assert record.stop_code is StopCode.LIMIT
    assert [stage.name for stage in record.stages] == ["retrieval"]


@pytest.mark.parametrize("kind", [CompletionError, ConfigurationError, EmbeddingError])
async def test_an_error_of_a_model_or_a_setting_fails_it_with_its_stages(raising, kind) -> None:
    record = await raising(kind("it is gone", detail="Since noon."))
    assert (record.status, record.error, record.stop_reason) == (RunStatus.FAILED, "it is gone: Since noon.", "enough")
    assert record.stop_code is None
    assert [stage.name for stage in record.stages] == ["retrieval"]


@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), DatabaseError("no")])
async def test_so_does_any_other_but_without_them(raising, error) -> None:
    record = await raising(error)
    assert record.status is RunStatus.FAILED
    assert record.stages == []


async def test_an_end_that_the_database_refuses_is_a_failure(raising) -> None:
    class Picky(FakeStore):
        async def finish_run(
            self, run: Run, status: RunStatus, interpretations: Sequence[Interpretation], error: str | None, **more
        ) -> None:
            if status is not RunStatus.FAILED or more["stages"]:
                raise DatabaseError("it cannot be kept")
            await super().finish_run(run, status, interpretations, error, **more)

    record = await raising(Ending(), Picky())
    assert (record.status, record.error) == (RunStatus.FAILED, "it cannot be kept")
    record = await raising(CompletionError("it is gone"), Picky())
    assert (record.status, record.error) == (RunStatus.FAILED, "it is gone")


async def test_a_lost_run_is_left_alone(raising) -> None:
    assert (await raising(RunLost("it is another's"))).status is RunStatus.RUNNING


@pytest.mark.parametrize("kind", [ServerUnavailable, DatabaseBusy])
async def test_temporary_errors_of_the_database_are_left_to_the_worker(raising, kind) -> None:
    with pytest.raises(kind):
        await raising(kind("not now"))


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
async def test_a_run_is_put_back_three_times_if_its_worker_lacks_memory(raising, error) -> None:
    for attempt in (1, 2, 3):
        with pytest.raises(MemoryError):
            await raising(error, attempt=attempt)
    assert (await raising(error, attempt=4)).status is RunStatus.FAILED


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.without_model])
async def test_operations_that_need_a_language_model_are_refused_without_one(name: str) -> None:
    store = FakeStore()
    run = store.add_run(operation=name)
    await execute(context_of(run, store, chat=None))
    error = store.runs[run.run_id].error or ""
    assert error.startswith(f"{OPERATIONS[name].without_model[0]} needs a language model")  # type: ignore[index]


async def test_consolidation_that_is_not_installed_is_refused_before_any_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.operations.execution.find_spec", lambda _: None)
    store = FakeStore()
    run = store.add_run(settings={"consolidation": "hdbscan"})
    await execute(context_of(run, store))
    record = store.runs[run.run_id]
    assert record.status is RunStatus.FAILED
    assert "pgclarify[torch]" in (record.error or "")
    assert not record.stages


@pytest.mark.parametrize("name", ["clarify", "search", "investigate", "list_answers", "estimate"])
async def test_a_corpus_that_no_worker_has_opened_is_waited_for_and_then_fails_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FakeStore()
    run = replace(store.add_run("[]", operation=name), embedding_model=None)
    with pytest.raises(NotReady):
        await execute(context_of(run, store))
    monkeypatch.setattr("pgclarify.operations.context._LAST_ATTEMPT", run.attempt)
    await execute(context_of(run, store))
    assert (store.runs[run.run_id].error or "").startswith("the corpus cannot be searched yet")


async def test_a_run_that_is_lost_before_it_can_fail_is_left_alone(raising) -> None:
    class Taken(FakeStore):
        async def finish_run(self, *arguments: object, **more: object) -> None:
            raise RunLost("it is another's")

    assert (await raising(CompletionError("no"), Taken())).status is RunStatus.RUNNING


async def test_an_unknown_operation_fails() -> None:
    store = FakeStore()
    run = store.add_run(operation="guess")
    await execute(context_of(run, store))
    assert store.runs[run.run_id].status is RunStatus.FAILED


async def test_verdicts_that_are_being_stored_when_the_operation_fails_are_kept(monkeypatch) -> None:
    is_storing = asyncio.Event()

    class Slow(FakeStore):
        async def record_verdicts(self, run: Run) -> None:
            unstored, self._unstored = self._unstored, []
            is_storing.set()
            await asyncio.sleep(0.01)
            self._unstored = [*unstored, *self._unstored]
            await super().record_verdicts(run)

    async def operation(context: RunContext) -> Ending:
        context.store.note_verdicts([Verdict(1, Outcome.ABSTAINED)])
        await is_storing.wait()
        raise CompletionError("it is gone")

    monkeypatch.setattr(execution, "OPERATIONS", {"clarify": Operation(operation)})
    monkeypatch.setattr(execution, "_RECORDING_SECONDS", 0.001)
    store = Slow()
    run = store.add_run()
    await execute(context_of(run, store))
    record = store.runs[run.run_id]
    assert (record.status, [*record.verdicts]) == (RunStatus.FAILED, [1])


async def test_a_session_that_locks_the_run_does_not_end_its_calls(monkeypatch) -> None:
    is_refused = asyncio.Event()

    class Locked(FakeStore):
        async def record_verdicts(self, run: Run) -> None:
            if not is_refused.is_set():
                is_refused.set()
                raise DatabaseBusy("another session has locked the run")
            await super().record_verdicts(run)

    async def operation(context: RunContext) -> Ending:
        context.store.note_verdicts([Verdict(1, Outcome.ABSTAINED)])
        await is_refused.wait()
        return Ending()

    monkeypatch.setattr(execution, "OPERATIONS", {"clarify": Operation(operation)})
    monkeypatch.setattr(execution, "_RECORDING_SECONDS", 0.001)
    store = Locked()
    run = store.add_run()
    await execute(context_of(run, store))
    assert store.runs[run.run_id].status is RunStatus.SUCCEEDED
