"""How many readings of a question a corpus supports: one more signal of ambiguity, which no classifier has.

docs/methods/asking-back.md has what it tells, and what it does not. The signal is ours.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pgclarify.errors import CompletionError
from pgclarify.model import Candidate, Outcome, Reading, Run
from pgclarify.pipelines.completions import Answer
from pgclarify.pipelines.interpretations import Grounded, interpret, vectors_of
from pgclarify.pipelines.judging import decide
from pgclarify.protocols import Embedder, ExplorationStore, Verifier


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of a question that a corpus supports.

    Attributes:
        count: How many different ones there are among the passages that were looked at.
        interpretations: They, as questions, best supported first.
        is_ambiguous: Whether they say that the question is ambiguous; None if they do not tell.
    """

    count: int
    interpretations: tuple[str, ...]
    is_ambiguous: bool | None


async def count_readings(
    run: Run,
    question: str,
    exploration: ExplorationStore,
    verifier: Verifier,
    embedder: Embedder,
    top_k: int,
) -> Readings:
    """Search, have each passage judged, and group what answers; nothing is recorded.

    Args:
        run: The run, which has a corpus.
        question: What is asked.
        exploration: Where the passages are, as far as the requester may read them.
        verifier: Who judges; one that asks nobody, since its calls are kept in no ledger.
        embedder: The corpus's model.
        top_k: Passages to judge, from 1.

    Raises:
        EmbeddingError: If the question could not be embedded.
        RunLost: If the run is no longer this worker's.
    """
    vector = (await embedder.encode([question]))[0]
    found = await exploration.find_passages(run, question, vector, method="hybrid", depth=top_k)
    candidates = [Candidate(rank, one.passage, one.score, one.origin) for rank, one in enumerate(found, start=1)]

    async def judge(candidate: Candidate) -> Answer[Reading | None]:
        try:
            completion = await verifier.complete(verifier.verdict_request(question, candidate.passage))
            reading: Reading | CompletionError | None = verifier.read_verdict(completion)
        except CompletionError as error:
            reading = error
        return Answer(reading, None, is_reused=False)

    answers = await asyncio.gather(*(judge(candidate) for candidate in candidates))
    verdicts = await asyncio.gather(
        *(decide(run, candidate, answer, embedder) for candidate, answer in zip(candidates, answers, strict=True))
    )
    grounded = [
        (candidate.passage.document_id, verdict)
        for candidate, verdict in zip(candidates, verdicts, strict=True)
        if verdict.outcome is Outcome.GROUNDED
    ]
    readings = await interpret(run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded))
    return Readings(len(readings), tuple(one.interpretation for one in readings), None)
