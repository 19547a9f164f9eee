"""A cross-encoder that needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from pgclarify.errors import EmbeddingError


class FakeCrossEncoder:
    """Scores pairs from a table, either as a reranker or as a judge of entailment.

    Args:
        scores: Scores in (0, 1), by the two texts; makes it a reranker. Other pairs get 0.1.
        entailed: Entailed pairs, by the two texts; makes it a judge of entailment. Other pairs are not entailed.

    Attributes:
        calls: The pairs of each call so far, without empty calls.
    """

    def __init__(
        self,
        *,
        scores: Mapping[tuple[str, str], float] | None = None,
        entailed: Mapping[tuple[str, str], bool] | None = None,
    ) -> None:
        self.calls: list[list[tuple[str, str]]] = []
        self._scores = scores
        self._entailed = entailed

    @property
    def model(self) -> str:
        """Its name."""
        return "fake"

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Look pairs up.

        Raises:
            EmbeddingError: If it is not a reranker.
        """
        if self._scores is None:
            raise EmbeddingError("the cross-encoder fake does not score relevance")
        await self._note(pairs)
        return [self._scores.get(pair, 0.1) for pair in pairs]

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        """Look pairs up.

        Raises:
            EmbeddingError: If it is not a judge of entailment.
        """
        if self._entailed is None:
            raise EmbeddingError("the cross-encoder fake does not tell entailment")
        await self._note(pairs)
        return [self._entailed.get(pair, False) for pair in pairs]

    async def _note(self, pairs: Sequence[tuple[str, str]]) -> None:
        if pairs:
            self.calls.append(list(pairs))
        # A real model lets other tasks run here.
        await asyncio.sleep(0)
