"""What every operation is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from pgclarify.errors import EmbeddingError
from pgclarify.ledger.completions import PollInterval
from pgclarify.model import Interpretation, Run
from pgclarify.operations.ambiguity.detector import Detector
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.operations.trace import Trace
from pgclarify.protocols import (
    Completer,
    DialogueStore,
    Embedder,
    EstimateStore,
    ExplorationStore,
    RunStore,
    StepStore,
)
from pgclarify.vocabulary import RunStatus


@dataclass(frozen=True, slots=True)
class Stores:
    """The tables that all runs of a worker share.

    Attributes:
        passages: Where passages are, and where candidates go.
        steps: Where the steps of an investigation go.
        dialogue: Rules of ambiguity, conversations, and what was found ambiguous, rewritten, asked back and listed.
        estimates: What an estimate looks at, and where it goes.
    """

    passages: ExplorationStore
    steps: StepStore
    dialogue: DialogueStore
    estimates: EstimateStore


@dataclass(frozen=True, slots=True)
class Models:
    """The models that all runs of a worker share.

    Attributes:
        completer: Judges passages: the language model or, where there is none, rules.
        chat: The completer if it is a language model, which answers every call; None if it is not.
        asking_nobody: Gives a completer whose calls need no ledger, since it makes none.
        embedder: Gives the embedding model of a name.
        reading_embedder: Gives the one that embeds readings, which are compared with each other alone.
        rerankers: Makes the reranker that a run's settings name.
        entailments: Makes the judge of answers that a run's settings name.
        detector: Says whether questions are ambiguous.
    """

    completer: Completer
    chat: Completer | None
    asking_nobody: Callable[[], Awaitable[Completer]]
    embedder: Callable[[str], Awaitable[Embedder]]
    reading_embedder: Callable[[str], Awaitable[Embedder]]
    rerankers: Rerankers
    entailments: Entailments
    detector: Detector


@dataclass(frozen=True, slots=True)
class RunContext:
    """What an operation may use.

    Attributes:
        run: The run.
        store: Its tables and the ledger. How the run ends is not for the operation to write: see `execute`.
        stores: All other tables.
        models: What may be asked.
        poll: How often to look for replies that other runs are paying for.
        trace: Where stages are noted, and why the run went no further.
    """

    run: Run
    store: RunStore
    stores: Stores
    models: Models
    poll: PollInterval = field(default_factory=PollInterval)
    trace: Trace = field(default_factory=Trace)

    async def embedder(self) -> Embedder:
        """Give the embedding model of the run's corpus.

        Raises:
            EmbeddingError: If it cannot be loaded, or no worker has opened the corpus's space yet.
        """
        return await self.models.embedder(self._embedding_model)

    async def reading_embedder(self) -> Embedder:
        """Give what embeds readings of the run; its vectors are compared with each other alone.

        Raises:
            EmbeddingError: As `embedder` does.
        """
        return await self.models.reading_embedder(self._embedding_model)

    @property
    def _embedding_model(self) -> str:
        if not self.run.embedding_model:
            raise EmbeddingError(
                "the corpus cannot be searched yet", detail="A worker is loading its embedding model; ask again."
            )
        return self.run.embedding_model


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends. Why it went no further is in the trace.

    Attributes:
        status: succeeded, partial or failed.
        interpretations: In order; of clarify and consolidate alone.
        error: Why it failed; None unless it did.
        error_code: The same as a SQLSTATE; of a partial run, why the call failed that it rests on, if it rests on one.
    """

    status: RunStatus = RunStatus.SUCCEEDED
    interpretations: Sequence[Interpretation] = ()
    error: str | None = None
    error_code: str | None = None
