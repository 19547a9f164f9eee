"""Counts the readings of a question that a corpus supports, which no classifier knows.

The user sees the count; it decides nothing: docs/methods/ambiguity.md has the figures. The signal is ours.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from pgclarify.data.candidates import Candidate
from pgclarify.data.dialogue import DetectionReason
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import Outcome, StopCode
from pgclarify.errors import CompletionError
from pgclarify.language.numbers import counted
from pgclarify.ledger.completions import CallResult
from pgclarify.operations.clarification.interpretations import Grounded, interpret, vectors_of
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.verdicts import supported_verdict, verdict_call
from pgclarify.operations.retrieval.first_stage import ranked

_MOST_SHOWN: Final = 3
_LONGEST_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of a question that a corpus supports, best supported first.

    Attributes:
        interpretations: The readings, as questions.
        answers: The answer of each.
        judged: How many passages were judged.
        failed: How many of them could not be judged; fewer than all.
        document_ids: The documents of these readings, each once.
    """

    interpretations: tuple[str, ...]
    answers: tuple[str, ...]
    judged: int = 0
    failed: int = 0
    document_ids: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of readings."""
        return len(self.interpretations)

    @property
    def reason(self) -> DetectionReason:
        """Return the reason to show to the user. It decides nothing."""
        missing = f"; {self.failed} of {counted(self.judged, 'passage')} could not be judged" if self.failed else ""
        return DetectionReason("corpus", "readings", self._text() + missing, self.document_ids)

    def _text(self) -> str:
        if not self.judged:
            return "no passage of the corpus was found for it"
        one = self.judged == 1
        first = f"the first {'passage' if one else f'{self.judged} passages'} of the corpus"
        if not self.count:
            return f"no answer to it is in {first}"
        support = f"{first} {'supports' if one else 'support'}"
        shown = ", ".join(f'"{shorten(answer, _LONGEST_SHOWN)}"' for answer in self.answers[:_MOST_SHOWN])
        if self.count == 1:
            return f"{support} one reading, with the answer {shown}"
        more = ", ..." if self.count > _MOST_SHOWN else ""
        return f"{support} {self.count} readings, with the answers {shown}{more}"


async def count_readings(context: RunContext) -> Readings:
    """Search, judge each passage, and group the readings; nothing is recorded.

    Calls that are not recorded must not cost anything, so a free judge is used.

    Args:
        context: The run, which has a corpus; settings["top_k"] passages are judged.

    Raises:
        CompletionError: If there were passages, and none could be judged.
        ConfigurationError: If there is no free judge.
        EmbeddingError: If the question could not be embedded.
        RunLost: If the run is no longer this worker's.
    """
    run = context.run
    completer = await context.models.asking_nobody()
    embedder = await context.embedder()
    reading_embedder = await context.reading_embedder()
    vector = (await embedder.encode([run.question]))[0]
    found = await context.stores.passages.find_passages(
        run, run.question, vector, method="hybrid", depth=run.settings["top_k"]
    )
    candidates = ranked(found)

    async def judge(candidate: Candidate) -> CallResult[Reading | StopCode]:
        try:
            call = verdict_call(completer, run.question, candidate.passage)
            completion = await completer.complete(completer.request(call))
            reading: Reading | StopCode | CompletionError = call.read(completion)
        except CompletionError as error:
            reading = error
        return CallResult(reading, None, is_reused=False)

    results = await asyncio.gather(*(judge(candidate) for candidate in candidates))
    verdicts = await asyncio.gather(
        *(
            supported_verdict(run, candidate, result, reading_embedder)
            for candidate, result in zip(candidates, results, strict=True)
        )
    )
    errors = [verdict.error_without_reply for verdict in verdicts if verdict.outcome is Outcome.FAILED]
    if errors and len(errors) == len(verdicts):
        raise CompletionError("no passage of the corpus could be judged", detail=errors[0])
    grounded = [
        (candidate.passage, verdict)
        for candidate, verdict in zip(candidates, verdicts, strict=True)
        if verdict.outcome is Outcome.GROUNDED
    ]
    readings = await interpret(run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded))
    return Readings(
        interpretations=tuple(one.interpretation for one in readings),
        answers=tuple(one.answer for one in readings),
        judged=len(verdicts),
        failed=len(errors),
        document_ids=tuple(dict.fromkeys(passage.document_id for passage, _ in grounded)),
    )
