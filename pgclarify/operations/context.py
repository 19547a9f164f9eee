"""The input and the result of every operation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pgclarify.data.dialogue import Detection
from pgclarify.data.interpretations import Interpretation
from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import RunStatus
from pgclarify.database.dialogue import DialogueTables
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.run_tables import RunTables
from pgclarify.errors import (
    BudgetSpent,
    ConfigurationError,
    EmbeddingError,
    EndpointFailed,
    EndpointUnavailable,
    ModelNotFound,
    NotReady,
    PriceMissing,
)
from pgclarify.operations.detector import Asked, Detector, summarize
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.judging.room import JudgingRoom
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.operations.trace import Trace
from pgclarify.protocols import Completer, Embedder, PassageReader

OF_A_BUDGET: Final = (BudgetSpent.sqlstate, PriceMissing.sqlstate)
"""Codes of calls that a budget refused."""

OUTAGES: Final = tuple(
    error.sqlstate for error in (ConfigurationError, ModelNotFound, EndpointUnavailable, EndpointFailed)
)
"""Codes of failures that do not depend on the request, beginning with those that a person must end."""


# A run that comes before a worker has loaded the model of a new corpus fails in this attempt.
_LAST_ATTEMPT: Final = 10


@dataclass(frozen=True, slots=True)
class Models:
    """The models that all runs of a worker share.

    Attributes:
        completer: Judges passages: the language model or, without one, rules.
        chat: The completer if it is a language model, which answers every call; else None.
        embedder: Returns the embedding model of a name.
        reading_embedder: Returns the one for readings, whose vectors are compared only with each other.
        reader: Returns the trained reader, which confirms answers, and answers steps where the language model does not;
            None if the rules judge, which use it themselves.
        rerankers: Makes the reranker that a run's settings name.
        entailments: Makes the judge of answers that a run's settings name.
        detector: Judges whether questions are ambiguous.
        room: Limits how many calls judge passages at once.
    """

    completer: Completer
    chat: Completer | None
    embedder: Callable[[str], Awaitable[Embedder]]
    reading_embedder: Callable[[str], Awaitable[Embedder]]
    reader: Callable[[], Awaitable[PassageReader]] | None
    rerankers: Rerankers
    entailments: Entailments
    detector: Detector
    room: JudgingRoom


@dataclass(frozen=True, slots=True)
class RunContext:
    """What an operation may use.

    Attributes:
        run: The run.
        store: Its tables and the ledger. The operation must not write the end of the run: see `execute`.
        passages: The passages of its corpus, and its candidates.
        dialogue: Rules of ambiguity, trained classifiers, turns and routes.
        models: The models.
        trace: Records the stages, and why the run stopped early.
        storing: Ends before the run does. Replies may be stored in it while their readings are used; None waits until
            replies are stored.
        said: What was said before, if the question points back to it.
    """

    run: Run
    store: RunTables
    passages: ExplorationTables
    dialogue: DialogueTables
    models: Models
    trace: Trace = field(default_factory=Trace)
    storing: asyncio.TaskGroup | None = None
    said: str = ""

    @property
    def search_text(self) -> str:
        """The question as it is searched for: if it points back, what was said comes before it."""
        return f"{self.said} {self.run.question}" if self.said else self.run.question

    async def embedder(self) -> Embedder:
        """Return the embedding model of the run's corpus.

        Raises:
            EmbeddingError: If it cannot be loaded, or no worker has opened the corpus's space yet.
        """
        return await self.models.embedder(self._embedding_model)

    async def reading_embedder(self) -> Embedder:
        """Return the model for the run's readings; its vectors are compared only with each other.

        Raises:
            EmbeddingError: As `embedder`.
        """
        return await self.models.reading_embedder(self._embedding_model)

    async def detect(self, asked: Sequence[Asked]) -> list[Detection]:
        """Judge whether questions are ambiguous, as a stage of the run; nothing is recorded.

        Args:
            asked: As in `Detector.detect`; settings["threshold"] applies.
        """
        with self.trace.stage("detection") as tally:
            threshold = self.run.settings.get("threshold")
            found = await self.models.detector.detect(self.run, self.dialogue, asked, threshold)
            tally.rows = len(found)
            tally.note = summarize(found)
        return found

    @property
    def _embedding_model(self) -> str:
        if not self.run.embedding_model:
            message, detail = "the corpus cannot be searched yet", "No worker has loaded its embedding model yet."
            if self.run.attempt < _LAST_ATTEMPT:
                raise NotReady(message, detail=detail)
            hint = "Ask again. pgclarify doctor shows whether a worker can load the model."
            raise EmbeddingError(message, detail=detail, hint=hint)
        return self.run.embedding_model


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends. The trace has the reason if it stopped early.

    Attributes:
        status: succeeded, partial or failed.
        interpretations: In order; only for clarify and consolidate.
        error: Why it failed; None unless it did.
        error_code: The SQLSTATE of that error; for a partial run, the result of `code_of_failures`.
    """

    status: RunStatus = RunStatus.SUCCEEDED
    interpretations: Sequence[Interpretation] = ()
    error: str | None = None
    error_code: str | None = None


def code_of_failures(codes: Iterable[str | None]) -> str | None:
    """Return the code of a partial run from the codes of its failed calls; None if there are none.

    Outages come first, in the order of OUTAGES: those that a person must end come before a failed server. Refusals of a
    budget do not count: the stop code shows them.
    """
    failures = [code for code in codes if code is not None and code not in OF_A_BUDGET]
    return min(failures, key=lambda code: OUTAGES.index(code) if code in OUTAGES else len(OUTAGES), default=None)
