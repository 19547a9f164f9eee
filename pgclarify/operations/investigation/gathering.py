"""Evidence for one step of an investigation: exploration, guided by the uncertainty of the model on each batch.

Source: SUNAR, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.errors import CompletionError
from pgclarify.ledger.calls import OutOfCalls
from pgclarify.operations.investigation.context import InvestigationContext
from pgclarify.operations.investigation.uncertainty import Samples, draw_samples
from pgclarify.operations.retrieval.exploration import (
    BATCH_SIZE,
    NEIGHBORS,
    Exploration,
    find_first,
    make_query,
    scorer_of,
)

# SUNAR, §4: the depth of the first stage. Passages beyond max_passages are never read.
_FIRST_STAGE = 100


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence of a step.

    Attributes:
        candidates: The best ones, best first; their ranks continue those of earlier steps.
        relevance: By rank, the score before the penalty, in (0, 1).
        samples: By batch, the sampled answers; no entry if none were sampled.
        has_unsampled: Whether a batch was not sampled because too few calls were left.
    """

    candidates: tuple[Candidate, ...] = ()
    relevance: Mapping[int, float] = field(default_factory=dict)
    samples: Mapping[int, Samples] = field(default_factory=dict)
    has_unsampled: bool = False


class Gatherer:
    """Finds evidence for the steps of one investigation."""

    def __init__(self, shared: InvestigationContext) -> None:
        self._shared = shared
        self._context = shared.context
        self._run = shared.context.run
        self._ranks = 0

    async def gather(self, question: str, *, step_ordinal: int) -> Gathered:
        """Find, score and record the best passages for a step.

        Args:
            question: The step's.
            step_ordinal: The step's, from 1.

        Returns:
            At most settings["top_k"] candidates; none if nothing was found.

        Raises:
            CompletionError: If the reranker called a model that gave no score.
            EmbeddingError: If a model on this machine failed.
            RunLost: If the run is no longer this worker's.
        """
        settings = self._run.settings
        by_signal = self._shared.reranker is None
        query = await make_query(self._shared.embedder, question, settings["method"], is_scored_by_signal=by_signal)
        depth = max(_FIRST_STAGE, settings["max_passages"])
        first = await find_first(self._context, query, depth=depth, step_ordinal=step_ordinal)
        relevance: dict[int, float] = {}
        samples: dict[int, Samples] = {}
        batches = count(1)
        has_unsampled = False

        async def rescore(passages: Sequence[Passage], scores: Sequence[float]) -> Sequence[float]:
            nonlocal has_unsampled
            batch = next(batches)
            relevance.update((passage.passage_id, score) for passage, score in zip(passages, scores, strict=True))
            try:
                drawn = await self._draw(question, passages, batch=batch, step_ordinal=step_ordinal)
            except OutOfCalls:
                has_unsampled = True
                return scores
            except CompletionError as error:
                self._shared.errors.append(error)
                return scores
            if drawn is None:
                return scores
            samples[batch] = drawn
            # The more different answers, the weaker the evidence (SUNAR, §3.2, LLM_SCORE, and Algorithm 1, line 9).
            return [score / len(drawn.sets) for score in scores]

        explored = await Exploration(
            self._context,
            query,
            first=first,
            scorer=scorer_of(self._shared.reranker, question),
            max_passages=settings["max_passages"],
            batch_size=BATCH_SIZE,
            k=NEIGHBORS if settings.get("retrieval", "adaptive") == "adaptive" else 0,
            rescore=rescore,
            step_ordinal=step_ordinal,
        ).carry_out()
        if len(samples) < next(batches) - 1:
            # Scores with a penalty cannot be compared with those of a batch that was not sampled.
            by_relevance = [replace(one, score=relevance[one.passage.passage_id]) for one in explored]
            explored = sorted(by_relevance, key=lambda one: -one.score)
        kept = tuple(
            replace(candidate, rank=self._ranks + place)
            for place, candidate in enumerate(explored[: settings["top_k"]], start=1)
        )
        self._ranks += len(kept)
        # Passages that are gone by now cannot be cited.
        recorded = set(await self._context.passages.record_candidates(self._run, kept))
        kept = tuple(candidate for candidate in kept if candidate.rank in recorded)
        # Answers and the questions of later steps repeat what these passages say.
        self._context.store.note_sources(candidate.passage.document_id for candidate in kept)
        return Gathered(kept, {one.rank: relevance[one.passage.passage_id] for one in kept}, samples, has_unsampled)

    async def _draw(
        self, question: str, passages: Sequence[Passage], *, batch: int, step_ordinal: int
    ) -> Samples | None:
        """Sample answers from a batch; None if sampling is off.

        Raises:
            CompletionError: If answers could not be sampled or compared; OutOfCalls if too few calls are left.
        """
        equivalence = self._shared.equivalence
        if equivalence is None:
            return None
        # A run that an older release queued has no such setting.
        samples = self._run.settings.get("samples", 5)
        if not self._shared.calls.take(samples):
            raise OutOfCalls
        with self._context.trace.stage("sampling", batch=batch, step_ordinal=step_ordinal) as tally:
            return await draw_samples(
                question,
                passages,
                samples=samples,
                calls=self._shared.calls,
                equivalence=equivalence,
                tally=tally,
            )
