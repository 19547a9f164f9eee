"""The runs that a worker carries out. It takes them from the queue, drops lost runs, and always ends the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from pgclarify.data.runs import Run
from pgclarify.database.dialogue import DialogueTables
from pgclarify.database.estimates import EstimateTables
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.investigations import StepTables
from pgclarify.database.runs import FailedRun, Runs, RunTables
from pgclarify.embedding.cross_encoders import CrossEncoders
from pgclarify.embedding.registry import Embedders
from pgclarify.embedding.remembering import RememberedTexts
from pgclarify.errors import RunLost, RunSuspected
from pgclarify.operations.ambiguity.detector import Detector
from pgclarify.operations.context import Models, RunContext, Stores
from pgclarify.operations.execution import execute
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.protocols import Classifier, Completer, Payer, Urgency, paid_by, urgent
from pgclarify.vocabulary import RunStatus
from pgclarify.worker.language_models import LanguageModels
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.quarantine import Quarantine

_logger = logging.getLogger(__name__)


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
        self._stores = Stores(ExplorationTables(runs), StepTables(runs), DialogueTables(runs), EstimateTables(runs))
        # The key has the attempt too: a run that counted as lost may return while its first attempt still ends.
        self._held: dict[tuple[int, int], _Held] = {}

    @property
    def in_hand(self) -> int:
        """Count the runs that are being carried out."""
        return len(self._held)

    @property
    def has_suspect(self) -> bool:
        """Return whether a run that may have crashed a worker is, or soon will be, carried out alone."""
        return self._quarantine.has_suspect

    async def carry_out(self, run_id: int, *, is_waited_for: bool, is_of_batch: bool) -> None:
        """Carry out a run of any operation. A run that cannot be carried out is marked as failed.

        Args:
            run_id: The run.
            is_waited_for: Whether a caller waits for its answer. Then its calls go before those of a batch.
            is_of_batch: Whether it was asked together with others.

        Raises:
            ServerUnavailable: If the connection broke.
            DatabaseBusy: If the database was busy; a retry may succeed.
            RunPostponed: If another run is carried out alone, or soon will be.
            RunLost: If another worker has taken over the run and its job.
        """
        try:
            with self._quarantine.beside_others():
                await self._attempt(run_id, is_alone=False, is_waited_for=is_waited_for, is_of_batch=is_of_batch)
        except RunSuspected as suspected:
            _logger.warning("%s", suspected.message)
            async with self._quarantine.alone():
                await self._attempt(run_id, is_alone=True, is_waited_for=is_waited_for, is_of_batch=is_of_batch)

    async def _attempt(self, run_id: int, *, is_alone: bool, is_waited_for: bool, is_of_batch: bool) -> None:
        run = await self._runs.start(run_id, is_alone=is_alone)
        if run is None:
            return
        if isinstance(run, FailedRun):
            self._monitor.note_end(run.operation, RunStatus.FAILED.value, run.code)
            return
        tables = RunTables(self._runs, run)
        context = RunContext(run, tables, self._stores, self._models)
        urgency = Urgency(is_waited_for)
        with paid_by(Payer(run_id=run_id)), urgent(urgency):
            task = asyncio.create_task(execute(context))
        self._held[run_id, run.attempt] = _Held(run, task, urgency, is_of_batch)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                # The worker was asked to stop; the run is not lost.
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                raise
        finally:
            del self._held[run_id, run.attempt]
        if tables.status is not None:
            self._monitor.note_end(run.operation, tables.status.value, tables.code)
            return
        # If another process ended the run, its calls are over only now.
        await tables.settle()
        if not await self._runs.is_over(run_id):
            # Without an error the queue would delete the job, which belongs to another worker now.
            raise RunLost(f"run {run_id} is carried out by another worker")

    async def stop_lost_runs(self) -> None:
        """Stop working on runs that were cancelled or taken over."""
        if not self._held:
            return
        held = list(self._held.values())
        lost = await self._runs.lost([each.run for each in held])
        for each in held:
            if each.run in lost:
                _logger.info("run %d was cancelled or taken over", each.run.run_id)
                each.task.cancel()

    async def follow_watchers(self) -> None:
        """Let the calls of runs go before those of a batch while a session waits for the run, and no longer."""
        # A worker without runs asks, too: otherwise a run that is put back again and again could keep its priority
        # although its caller has gone.
        watchable = [each for each in self._held.values() if not each.is_of_batch]
        waited_for = await self._runs.waited_for([each.run for each in watchable])
        for each in watchable:
            each.urgency.set(each.run.run_id in waited_for)

    def drop_all(self) -> None:
        """Stop working on all runs, and make no more paid calls."""
        for each in self._held.values():
            each.task.cancel()


def models_of(
    language_models: LanguageModels,
    embedders: Embedders,
    cross_encoders: CrossEncoders,
    at_endpoint: Callable[[str], Completer],
    classifier: Classifier,
) -> Models:
    """Combine the models that runs of a worker may ask. at_endpoint returns cross-encoders behind an endpoint."""
    return Models(
        completer=language_models.completer,
        chat=language_models.chat,
        asking_nobody=language_models.asking_nobody,
        embedder=RememberedTexts(embedders.get).get,
        reading_embedder=RememberedTexts(embedders.get_for_readings).get,
        rerankers=Rerankers(language_models.chat, cross_encoders.get, at_endpoint=at_endpoint),
        entailments=Entailments(language_models.chat, cross_encoders.get, at_endpoint=at_endpoint),
        detector=Detector(classifier, embedders.get),
    )
