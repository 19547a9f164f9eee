"""Rerankers that score as they were told to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.model import Completion, CompletionRequest, Passage
from pgclarify.protocols import Meter
from pgclarify.testing.completer import FakeCompleter


class FakeReranker:
    """Scores passages by a table.

    Args:
        scores: By a passage's content, in (0, 1).
        otherwise: The score of all others.
        error: Raised instead of any score.

    Attributes:
        calls: Question and contents of every call of `score` so far.
    """

    def __init__(
        self, scores: Mapping[str, float] | None = None, *, otherwise: float = 0.1, error: Exception | None = None
    ) -> None:
        self.calls: list[tuple[str, list[str]]] = []
        self._scores = dict(scores or {})
        self._otherwise = otherwise
        self._error = error

    async def score(self, question: str, passages: Sequence[Passage], *, tally: Meter | None = None) -> Sequence[float]:
        """Score passages; nothing is counted."""
        self.calls.append((question, [passage.content for passage in passages]))
        # A real model gives way to others here.
        await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        return [self._scores.get(passage.content, self._otherwise) for passage in passages]


class FakeRelevanceJudge(FakeCompleter):
    """A language model that grades passages by a script.

    Args:
        script: By a passage's content: a score in (0, 1) as text ("0.9"), any other reply, which does not fit, or an
            error; a list has one for each time it is asked.
        otherwise: What is said of all others.
    """

    def __init__(
        self,
        script: Mapping[str, str | CompletionError | list[str | CompletionError]] | None = None,
        *,
        otherwise: str = "0.1",
    ) -> None:
        super().__init__(script or {}, otherwise)

    def relevance_request(self, question: str, passage: Passage, *, retry: bool = False) -> CompletionRequest:
        """Render question and passage."""
        return self._request("relevance", f"{question}\n{passage.content}", passage.content, retry=retry)

    def read_relevance(self, completion: Completion) -> float:
        """Read the score.

        Raises:
            InvalidReply: If it is none.
        """
        try:
            score = float(completion.reply)
        except ValueError:
            raise InvalidReply("a grade has the wrong form") from None
        if not 0 < score < 1:
            raise InvalidReply(f"a grade of {score}")
        return score
