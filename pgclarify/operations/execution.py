"""Executes a run. Only this module ends runs, for all operations."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Final

from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import (
    CompletionError,
    ConfigurationError,
    DatabaseBusy,
    DatabaseError,
    EmbeddingError,
    NotReady,
    RunLost,
    ServerUnavailable,
    code_of,
    describe,
)
from pgclarify.ledger.tasks import cause_of, to_the_end
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.missing_models import no_hdbscan, no_language_model
from pgclarify.operations.table import OPERATIONS
from pgclarify.operations.trace import Trace

_logger = logging.getLogger(__name__)

# So often a run is put back that found no memory or no room for a thread. Then it may be the cause itself.
_MOST_STARVED: Final = 3
_NO_THREAD: Final = "can't start new thread"
# The time until a caller who watches the run sees a verdict. Verdicts of this time share a statement.
_RECORDING_SECONDS: Final = 0.2


async def execute(context: RunContext) -> None:
    """Execute a run, and write its end.

    Any error ends it as failed, except the first four below. If the run was cancelled or taken over meanwhile, this
    returns without an error: no more calls are made, replies to calls in flight are stored later, and nothing else is
    written.

    Args:
        context: The run, and the resources of its operation.

    Raises:
        ServerUnavailable: If the connection broke. The run continues when a worker takes it over.
        DatabaseBusy: If the database is busy for a while. Likewise.
        MemoryError: If this process lacks memory, in the first attempts of the run. Likewise.
        NotReady: If no worker has loaded the model of a new corpus yet, in the first attempts of the run. Likewise.
        DatabaseError: If the store does not even accept the failure.
    """
    run_id = context.run.run_id
    try:
        await _carry_out(context)
    except (ServerUnavailable, DatabaseBusy, NotReady):
        raise
    except RunLost as lost:
        _logger.info("run %d was left: %s", run_id, lost.message)
    except (CompletionError, ConfigurationError, EmbeddingError) as error:
        # No traceback: the cause is a model or a user's settings.
        _logger.warning("run %d failed: %s", run_id, describe(error))
        await _fail(context, error)
    except Exception as error:
        if _lacks_memory(error) and context.run.attempt <= _MOST_STARVED:
            raise MemoryError(str(error)) from error
        _logger.exception("run %d failed", run_id)
        await _fail(replace(context, trace=Trace()), error)


def _lacks_memory(error: Exception) -> bool:
    # Python has no class for the second one.
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and str(error) == _NO_THREAD)


async def _carry_out(context: RunContext) -> None:
    name = context.run.operation
    operation = OPERATIONS.get(name)
    if operation is None:
        raise DatabaseError(f"this version of pgclarify does not know the operation {name}")
    has_calls = operation.most_calls(context.run.settings) != 0
    if operation.without_model is not None and has_calls and context.models.chat is None:
        raise no_language_model(*operation.without_model)
    if context.run.settings.get("consolidation") == "hdbscan" and find_spec("hdbscan") is None:
        # Before any model is called, because calls would be paid for.
        raise no_hdbscan()
    try:
        async with asyncio.TaskGroup() as tasks:
            recording = tasks.create_task(_record_verdicts(context))
            ending = await operation.carry_out(replace(context, storing=tasks))
            recording.cancel()
            if ending.status is RunStatus.FAILED:
                _logger.warning("run %d failed: %s", context.run.run_id, ending.error)
            await _finish(context, ending)
    except BaseExceptionGroup as group:
        raise cause_of(group) from group


async def _record_verdicts(context: RunContext) -> None:
    """Store verdicts while the run is being carried out. The end of the run stores the last ones."""
    while True:
        await context.store.has_noted.wait()
        await asyncio.sleep(_RECORDING_SECONDS)
        # A session that locks the run must not cancel calls that are paid for.
        with suppress(DatabaseBusy):
            # If the operation ends meanwhile, these verdicts must not be lost.
            await to_the_end(context.store.record_verdicts(context.run))


async def _fail(context: RunContext, error: Exception) -> None:
    ending = Ending(RunStatus.FAILED, error=describe(error), error_code=code_of(error))
    with suppress(RunLost):
        try:
            await _finish(context, ending)
        except (ServerUnavailable, DatabaseBusy):
            raise
        except DatabaseError:
            # The database may have refused one of the stages.
            await _finish(replace(context, trace=Trace()), ending)


async def _finish(context: RunContext, ending: Ending) -> None:
    trace = context.trace
    await context.store.finish_run(
        context.run,
        ending.status,
        ending.interpretations,
        ending.error,
        error_code=ending.error_code,
        stages=trace.stages,
        stop_reason=trace.stop_reason,
        # The error of a failed run says why.
        stop_code=None if ending.status is RunStatus.FAILED else trace.stop_code,
    )
