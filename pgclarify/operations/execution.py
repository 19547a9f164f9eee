"""From a run that was started to its end: the one place where a run succeeds or fails, whatever its operation."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec

from pgclarify.errors import (
    CompletionError,
    ConfigurationError,
    DatabaseBusy,
    DatabaseError,
    EmbeddingError,
    RunLost,
    ServerUnavailable,
    code_of,
    describe,
)
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.missing_models import no_hdbscan, no_language_model
from pgclarify.operations.table import OPERATIONS
from pgclarify.operations.trace import Trace
from pgclarify.vocabulary import RunStatus

_logger = logging.getLogger(__name__)


async def execute(context: RunContext) -> None:
    """Carry out a run, and write its end.

    Any error ends it as failed, but for those of the first two below. If the run was cancelled or taken over meanwhile,
    it is left alone, without an error: calls in flight are cancelled, leases given back, nothing more is written.

    Args:
        context: The run, and what its operation may use.

    Raises:
        ServerUnavailable: If the connection broke. The run goes on when somebody takes it over.
        DatabaseBusy: If something stood in the way that passes. Likewise.
        DatabaseError: If the store refuses even to keep the failure.
    """
    run_id = context.run.run_id
    try:
        await _finish(context, await _carry_out(context))
    except (ServerUnavailable, DatabaseBusy):
        raise
    except RunLost as lost:
        _logger.info("run %d was left: %s", run_id, lost.message)
    except (CompletionError, ConfigurationError, EmbeddingError) as error:
        # Where it was raised says nothing: a model or somebody's settings are at fault.
        _logger.warning("run %d failed: %s", run_id, describe(error))
        await _fail(context, error)
    except Exception as error:
        _logger.exception("run %d failed", run_id)
        await _fail(replace(context, trace=Trace()), error)


async def _carry_out(context: RunContext) -> Ending:
    name = context.run.operation
    operation = OPERATIONS.get(name)
    if operation is None:
        raise DatabaseError(f"this version of pgclarify does not know the operation {name}")
    if operation.without_model is not None and context.models.chat is None:
        raise no_language_model(*operation.without_model)
    if context.run.settings.get("consolidation") == "hdbscan" and find_spec("hdbscan") is None:
        # Said before a model is called, since what it says would be paid for.
        raise no_hdbscan()
    return await operation.carry_out(context)


async def _fail(context: RunContext, error: Exception) -> None:
    ending = Ending(RunStatus.FAILED, error=describe(error), error_code=code_of(error))
    with suppress(RunLost):
        try:
            await _finish(context, ending)
        except (ServerUnavailable, DatabaseBusy):
            raise
        except DatabaseError:
            # It may be a stage that the database refuses.
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
        # A failed run says why by its error.
        stop_code=None if ending.status is RunStatus.FAILED else trace.stop_code,
    )
