"""Rerankers behind an endpoint that is not there."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from pgclarify.errors import CompletionError
from pgclarify.protocols import Begin, Completer
from pgclarify.providers.rerank_endpoint import RerankEndpoint, RerankModel
from pgclarify.providers.rerank_reply import RerankReply


class FakeRerankEndpoint:
    """Scores texts by a table, and judges pairs by another one.

    Args:
        scores: By the text, of any size; or an error to raise. What is not in it gets 0.1.
        entailed: The pairs that are.

    Attributes:
        calls: The texts of every call so far.
        pairs: The pairs of every call so far.
    """

    def __init__(
        self, scores: Mapping[str, float | CompletionError], entailed: Collection[tuple[str, str]] = ()
    ) -> None:
        self.calls: list[list[str]] = []
        self.pairs: list[list[tuple[str, str]]] = []
        self._scores = scores
        self._entailed = entailed

    def at_endpoint(self, name: str) -> Completer:
        """Give the model of a name."""
        return RerankModel(cast(RerankEndpoint, self), name.removeprefix("endpoint:"))

    async def rerank(
        self, model: str, query: str, texts: Sequence[str], begin: Begin | None = None
    ) -> tuple[RerankReply, float]:
        """Look texts up.

        Raises:
            CompletionError: If it is in the table.
        """
        if begin is not None:
            await begin()
        self.calls.append(list(texts))
        # A real call gives way to others here.
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
