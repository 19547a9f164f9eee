"""Fake rerankers of an endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from pgclarify.errors import CompletionError
from pgclarify.protocols import Begin, Completer
from pgclarify.providers.rerank_endpoint import RerankEndpoint, RerankModel
from pgclarify.providers.rerank_reply import RerankReply


class FakeRerankEndpoint:
    """Scores texts from one table, and judges pairs from another one.

    Args:
        scores: Scores by text, of any size, or an error to raise. Other texts get 0.1.
        entailed: The entailed pairs.

    Attributes:
        calls: The texts of each call so far.
        pairs: The pairs of each call so far.
    """

    def __init__(
        self, scores: Mapping[str, float | CompletionError], entailed: Collection[tuple[str, str]] = ()
    ) -> None:
        self.calls: list[list[str]] = []
        self.pairs: list[list[tuple[str, str]]] = []
        self._scores = scores
        self._entailed = entailed

    def at_endpoint(self, name: str) -> Completer:
        """Return the model with a name."""
        return RerankModel(cast(RerankEndpoint, self), name.removeprefix("endpoint:"))

    async def rerank(
        self, model: str, query: str, texts: Sequence[str], begin: Begin | None = None
    ) -> tuple[RerankReply, float]:
        """Look texts up.

        Raises:
            CompletionError: If the table has one.
        """
        if begin is not None:
            await begin()
        self.calls.append(list(texts))
        # A real call lets other tasks run here.
        await asyncio.sleep(0)
        found = [self._scores.get(text, 0.1) for text in texts]
        for one in found:
            if isinstance(one, CompletionError):
                raise one
        tokens = sum(len(query) + len(text) for text in texts)
        return RerankReply(tuple(one for one in found if not isinstance(one, CompletionError)), tokens), 0.001

    async def entails(
        self, model: str, pairs: Sequence[tuple[str, str]], begin: Begin | None = None
    ) -> tuple[Sequence[bool], float]:
        """Look pairs up."""
        if begin is not None:
            await begin()
        self.pairs.append(list(pairs))
        await asyncio.sleep(0)
        return [pair in self._entailed for pair in pairs], 0.001
