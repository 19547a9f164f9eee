"""The runs that a worker carries out. It drops lost runs, and always ends the others or puts them back."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from pgclarify import tracing
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import RunStatus
from pgclarify.database.dialogue import DialogueTables
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import FailedRun, Runs, TakenRun
from pgclarify.embedding.cross_encoder import CrossEncoders
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import DatabaseBusy, DatabaseError, NotReady, RunLost, ServerUnavailable
from pgclarify.operations.context import Models, RunContext
from pgclarify.operations.detector import Detector
from pgclarify.operations.execution import execute
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.judging.room import JudgingRoom
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.protocols import Completer, Payer, Urgency, paid_by, urgent
from pgclarify.worker.language_models import LanguageModels
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.quarantine import Quarantine

_logger = logging.getLogger(__name__)

# Longest delay before a run is retried after a temporary failure. A run that was already started often may wait longer.
# The delay is random, so that two workers do not keep colliding on one run.
_LONGEST_PAUSE_SECONDS = 4
_OFTEN, _LONGEST_PAUSE_SECONDS_OF_OFTEN = 10, 60
# How often a worker without runs looks which queued runs a caller waits for.
_IDLE_WATCH_SECONDS = 2.0
# Reasons to put back a run that need no traceback in the log.
_EXPECTED = (asyncio.CancelledError, ServerUnavailable, DatabaseBusy, NotReady)


@dataclass(frozen=True, slots=True)
class _Held:
    """A run that is being carried out.

    Attributes:
        run: The run.
        task: Carries it out.
        urgency: Whether a caller waits for it.
        is_of_batch: Whether it was asked together with others. Then a session that waits for it does not raise it.
    """

    run: Run
    task: asyncio.Task[None]
    urgency: Urgency
    is_of_batch: bool


class RunExecutor:
    """Carries out the runs of one worker, many at once.

    Args:
        runs: The tables of all runs.
        models: The language models that runs may ask.
        quarantine: Separates runs that may have crashed a worker from all other runs.
        monitor: Counts how runs end.
    """

    def __init__(self, runs: Runs, models: Models, quarantine: Quarantine, monitor: Monitor) -> None:
        self._runs = runs
        self._models = models
        self._quarantine = quarantine
        self._monitor = monitor
        self._passages, self._dialogue = ExplorationTables(runs), DialogueTables(runs)
        # The key has the attempt too: a run that counted as lost may return while its first attempt still ends.
        self._held: dict[tuple[int, int], _Held] = {}
        self._unsettled: list[tuple[Run, timedelta | None]] = []
        self._watch_idle_at = 0.0

    @property
    def in_hand(self) -> int:
        """Count the runs that are being carried out."""
        return len(self._held)

    async def carry_out(self, taken: TakenRun) -> None:
        """Carry out a run of any operation, or put it back. A run that cannot be carried out is marked as failed."""
        if taken.started is not None:
            with self._quarantine.beside_others():
                await self._carry_out(taken, taken.started)
            return
        _logger.warning("run %d is carried out alone, because workers were lost with it", taken.run_id)
        async with self._quarantine.alone():
            try:
                started = await self._runs.start(taken.run_id, is_alone=True)
            except DatabaseError as error:
                # It is still queued, and other workers may take it soon.
                _logger.warning("run %d cannot be started: %s", taken.run_id, error.message)
                return
            if started is not None:
                await self._carry_out(taken, started)

    async def _carry_out(self, taken: TakenRun, run: Run | FailedRun) -> None:
        if isinstance(run, FailedRun):
            self._monitor.note_end(run.operation, RunStatus.FAILED.value, run.code)
            return
        facts = {"pgclarify.run_id": run.run_id, "pgclarify.attempt": run.attempt, "pgclarify.corpus_id": run.corpus_id}
        with (
            paid_by(Payer(run_id=run.run_id)),
            tracing.span(run.operation, facts, kind="CONSUMER", traceparent=run.traceparent),
        ):
            try:
                await self._attempt(taken, run)
            except RunLost as lost:
                _logger.info("%s", lost.message)
            except (Exception, asyncio.CancelledError) as error:  # whatever it is: replies that it paid for are stored
                tracing.note({"pgclarify.status": "put back"})
                _logger.warning(
                    "run %d is put back: %s",
                    run.run_id,
                    "the worker ends" if isinstance(error, asyncio.CancelledError) else error,
                    exc_info=None if isinstance(error, _EXPECTED) else error,
                )
                await self._put_back(run, _pause_after(error, run.attempt))

    async def _put_back(self, run: Run, pause: timedelta | None) -> None:
        """Put a run back into the queue. If the database refuses, settle() tries again."""
        try:
            await self._runs.put_back(run, pause)
        except DatabaseError as error:
            # Otherwise the run would stay with this worker until the worker has ended.
            self._unsettled.append((run, pause))
            _logger.warning("run %d cannot be put back, trying again: %s", run.run_id, error.message)

    async def settle(self) -> None:
        """Try again to put back runs."""
        unsettled, self._unsettled = self._unsettled, []
        for run, pause in unsettled:
            await self._put_back(run, pause)

    async def _attempt(self, taken: TakenRun, run: Run) -> None:
        tables = RunTables(self._runs, run)
        context = RunContext(run, tables, self._passages, self._dialogue, self._models)
        urgency = Urgency(taken.is_waited_for)
        with urgent(urgency):
            task = asyncio.create_task(execute(context))
        self._held[run.run_id, run.attempt] = _Held(run, task, urgency, taken.is_of_batch)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                # The worker was asked to stop; the run is not lost.
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                raise
        finally:
            del self._held[run.run_id, run.attempt]
        if tables.status is not None:
            self._monitor.note_end(run.operation, tables.status.value, tables.code)
            tracing.note({"pgclarify.status": tables.status.value, "pgclarify.code": tables.code or None})
            if tables.status is RunStatus.FAILED:
                tracing.note_error(tables.code)
            if not tables.may_lack_cost:
                return
        # If another process ended the run, its calls are over only now.
        await tables.settle()

    async def watch(self) -> None:
        """Stop working on runs that were cancelled or taken over.

        Calls of the other runs go before those of a batch while a session waits for the run, and no longer.
        """
        # A worker without runs asks, too: otherwise a run that is put back again and again could keep its priority
        # although its caller has gone.
        held = list(self._held.values())
        if not held and time.monotonic() < self._watch_idle_at:
            return
        self._watch_idle_at = time.monotonic() + _IDLE_WATCH_SECONDS
        lost, waited_for = await self._runs.watch([each.run for each in held])
        for each in held:
            if each.run in lost:
                _logger.info("run %d was cancelled or taken over", each.run.run_id)
                each.task.cancel()
            elif not each.is_of_batch:
                each.urgency.set(each.run.run_id in waited_for)

    def drop_all(self) -> None:
        """Stop working on all runs, and make no more paid calls."""
        for each in self._held.values():
            each.task.cancel()


def _pause_after(error: BaseException, attempt: int) -> timedelta | None:
    """Return how long a run waits after this error in its attempt; None for no time."""
    if isinstance(error, asyncio.CancelledError | ServerUnavailable):
        return None
    longest = _LONGEST_PAUSE_SECONDS_OF_OFTEN if attempt >= _OFTEN else _LONGEST_PAUSE_SECONDS
    return timedelta(seconds=1 + secrets.randbelow(longest))


def models_of(
    language_models: LanguageModels,
    embedders: Embedders,
    cross_encoders: CrossEncoders,
    at_endpoint: Callable[[str], Completer],
    classifier: AmbiguityClassifier,
    *,
    calls_at_once: int,
) -> Models:
    """Combine the models that runs of a worker may ask. at_endpoint returns cross-encoders behind an endpoint."""
    return Models(
        completer=language_models.completer,
        chat=language_models.chat,
        embedder=embedders.get,
        reading_embedder=embedders.get_for_readings,
        reader=language_models.reader,
        rerankers=Rerankers(language_models.chat, cross_encoders.get, at_endpoint=at_endpoint),
        entailments=Entailments(language_models.chat, cross_encoders.get, at_endpoint=at_endpoint),
        detector=Detector(classifier, embedders.get),
        # While some runs search, and wait for a far server, the others need calls: a worker makes at most 400 a second.
        # More would cost memory.
        room=JudgingRoom(min(3 * calls_at_once, calls_at_once + 128)),
    )
