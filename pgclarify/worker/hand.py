"""The runs that a worker has in hand."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from pgclarify.database import DialogueTables, EstimateTables, ExplorationTables, Runs, RunTables, StepTables
from pgclarify.embedding.cross_encoders import CrossEncoders
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import (
    ConfigurationError,
    DatabaseBusy,
    DatabaseError,
    EmbeddingError,
    RunLost,
    RunSuspected,
    ServerUnavailable,
    describe,
)
from pgclarify.model import Run, RunStatus
from pgclarify.operations.ambiguity.readings import Readings, count_readings
from pgclarify.operations.clarification.one_pass import Gate
from pgclarify.operations.clarify import clarify
from pgclarify.operations.clarifying_questions import propose_questions
from pgclarify.operations.consolidate import reconsolidate
from pgclarify.operations.detect_ambiguity import Detector, detect
from pgclarify.operations.estimate import estimate
from pgclarify.operations.investigate import investigate
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.list_answers import list_answers
from pgclarify.operations.missing_models import no_language_model
from pgclarify.operations.reply import reply
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.operations.rewrite import rewrite
from pgclarify.operations.search import search
from pgclarify.protocols import Classifier, Embedder
from pgclarify.worker.language_models import LanguageModels
from pgclarify.worker.quarantine import Quarantine

_logger = logging.getLogger(__name__)


class Hand:
    """The runs that this worker has in hand.

    Args:
        runs: The tables of all runs.
        models: What may be asked.
        embedders: Embedding models by name.
        cross_encoders: CrossEncoders by name.
        classifier: Tells ambiguous questions from clear ones.
        quarantine: Keeps runs that workers were lost with apart from all others.
    """

    def __init__(
        self,
        runs: Runs,
        models: LanguageModels,
        embedders: Embedders,
        cross_encoders: CrossEncoders,
        classifier: Classifier,
        quarantine: Quarantine,
    ) -> None:
        self._quarantine = quarantine
        self._runs = runs
        self._models = models
        self._embedders = embedders
        self._rerankers = Rerankers(models.chat, cross_encoders.get)
        self._entailments = Entailments(models.chat, cross_encoders.get)
        self._detector = Detector(classifier, embedders.get)
        # By attempt too: a run that was taken for lost may come back while the first attempt winds up.
        self._held: dict[tuple[int, int], tuple[Run, asyncio.Task[None]]] = {}

    @property
    def is_busy(self) -> bool:
        """Whether there is a run in hand."""
        return bool(self._held)

    async def carry_out(self, run_id: int) -> None:
        """Carry a run out, whatever its operation; one that cannot be is marked as failed.

        Raises:
            ServerUnavailable: If the connection broke.
            DatabaseBusy: If something stood in the way that passes.
            RunLost: If another worker has taken the run over, and with it the job.
        """
        try:
            async with self._quarantine.beside_others():
                await self._attempt(run_id, is_alone=False)
        except RunSuspected as suspected:
            _logger.warning("%s", suspected.message)
            async with self._quarantine.alone():
                await self._attempt(run_id, is_alone=True)

    async def _attempt(self, run_id: int, *, is_alone: bool) -> None:
        run = await self._runs.start(run_id, is_alone=is_alone)
        if run is None:
            return
        tables = RunTables(self._runs, run)
        task = asyncio.create_task(self._perform(run, tables))
        self._held[run_id, run.attempt] = (run, task)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                # Told to stop, rather than dropped.
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                raise
        except (ServerUnavailable, DatabaseBusy):
            raise
        except RunLost as lost:
            _logger.info("run %d was left: %s", run_id, lost.message)
        except Exception as error:
            if isinstance(error, ConfigurationError):
                # Where it was raised says nothing: somebody's settings are at fault.
                _logger.warning("run %d failed: %s", run_id, describe(error))
            else:
                _logger.exception("run %d failed", run_id)
            with suppress(RunLost):
                await tables.finish_run(run, RunStatus.FAILED, [], describe(error))
        finally:
            del self._held[run_id, run.attempt]
        # Only now are all its calls over, if others have ended it.
        await tables.settle()
        if not await self._runs.is_over(run_id):
            # A job that ended well would be deleted, and it is no longer ours.
            raise RunLost(f"run {run_id} is carried out by another worker")

    async def drop_lost_runs(self) -> None:
        """Stop working on runs that were cancelled or taken over."""
        if not self._held:
            return
        held = list(self._held.values())
        lost = await self._runs.lost([run for run, _ in held])
        for run, task in held:
            if run in lost:
                _logger.info("run %d was cancelled or taken over", run.run_id)
                task.cancel()

    def drop_all(self) -> None:
        """Stop working on all runs, and pay for nothing more."""
        for _, task in self._held.values():
            task.cancel()

    async def _perform(self, run: Run, tables: RunTables) -> None:
        match run.operation:
            case "clarify":
                await self._clarify(run, tables, await self._embedder(run))
            case "consolidate":
                await reconsolidate(run, tables, await self._embedder(run))
            case "search":
                await search(run, tables, ExplorationTables(self._runs), await self._embedder(run), self._rerankers)
            case "investigate":
                await self._investigate(run, tables, await self._embedder(run))
            case "detect_ambiguity" | "detect_ambiguity_many":
                await self._detect(run, tables)
            case "rewrite":
                await rewrite(run, tables, DialogueTables(self._runs), self._detector, self._models.chat)
            case "clarifying_questions":
                await self._ask_back(run, tables)
            case "reply":
                await self._reply(run, tables)
            case "list_answers":
                await self._list_answers(run, tables, await self._embedder(run))
            case "estimate":
                await self._estimate(run, tables, await self._embedder(run))
            case unknown:
                raise DatabaseError(f"this version of pgclarify does not know the operation {unknown}")

    async def _embedder(self, run: Run) -> Embedder:
        """The embedder of the run's corpus, for operations that look into one."""
        # Null until a worker has opened the corpus's space.
        if not run.embedding_model:
            raise EmbeddingError(
                "the corpus cannot be searched yet", detail="A worker is loading its embedding model; ask again."
            )
        return await self._embedders.get(run.embedding_model)

    async def _clarify(self, run: Run, tables: RunTables, embedder: Embedder) -> None:
        await clarify(
            run,
            tables,
            ExplorationTables(self._runs),
            self._models.completer,
            embedder,
            self._rerankers,
            gate=self._gate(),
        )

    def _gate(self) -> Gate:
        return Gate(self._detector, DialogueTables(self._runs), self._models.chat)

    async def _estimate(self, run: Run, tables: RunTables, embedder: Embedder) -> None:
        await estimate(
            run,
            tables,
            EstimateTables(self._runs),
            self._models.completer,
            embedder,
            gate=self._gate(),
        )

    async def _investigate(self, run: Run, tables: RunTables, embedder: Embedder) -> None:
        if self._models.chat is None:
            raise no_language_model("investigating", "ask clarify, which does without")
        await investigate(
            run,
            tables,
            ExplorationTables(self._runs),
            StepTables(self._runs),
            self._models.chat,
            embedder,
            rerankers=self._rerankers,
            entailments=self._entailments,
        )

    async def _detect(self, run: Run, tables: RunTables) -> None:
        async def count() -> Readings:
            # What is not recorded must not be paid for.
            completer = await self._models.asking_nobody()
            embedder = await self._embedder(run)
            return await count_readings(
                run, run.question, ExplorationTables(self._runs), completer, embedder, run.settings["top_k"]
            )

        await detect(run, tables, DialogueTables(self._runs), self._detector, None if run.corpus_id is None else count)

    async def _ask_back(self, run: Run, tables: RunTables) -> None:
        if self._models.chat is None:
            raise no_language_model("asking back", "ask clarify, which does without")
        is_checked = run.corpus_id is not None and run.settings["check"] != "none"
        await propose_questions(
            run,
            tables,
            ExplorationTables(self._runs),
            DialogueTables(self._runs),
            self._models.chat,
            await self._embedder(run) if is_checked else None,
        )

    async def _reply(self, run: Run, tables: RunTables) -> None:
        if self._models.chat is None:
            raise no_language_model("replying in words", "choose a reformulation, which does without")
        await reply(run, tables, DialogueTables(self._runs), self._models.chat)

    async def _list_answers(self, run: Run, tables: RunTables, embedder: Embedder) -> None:
        if self._models.chat is None:
            raise no_language_model("listing answers", "ask clarify, which does without")
        await list_answers(
            run,
            tables,
            ExplorationTables(self._runs),
            DialogueTables(self._runs),
            self._models.chat,
            embedder,
            rerankers=self._rerankers,
        )
