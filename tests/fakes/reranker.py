"""Fake rerankers of an endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from typing import cast

from pgclarify.data.model_calls import Completion, CompletionRequest
from pgclarify.errors import CompletionError
from pgclarify.protocols import Completer, Sending
from pgclarify.providers.rerank_endpoint import RerankEndpoint, RerankModel


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

    @property
    def turns_free(self) -> int:
        """0, so that each call is noted as sent when it begins."""
        return 0

    def at_endpoint(self, name: str) -> Completer:
        """Return the model with a name."""
        return RerankModel(cast(RerankEndpoint, self), name.removeprefix("endpoint:"))

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Look texts or pairs up.

        Raises:
            CompletionError: If the table has one.
        """
        if sending is not None:
            await sending.begin()
        contents = [message.content for message in request.messages]
        firsts, texts = contents[::2], contents[1::2]
        # A real call lets other tasks run here.
        await asyncio.sleep(0)
        if request.purpose == "inference":
            pairs = [*zip(firsts, texts, strict=True)]
            self.pairs.append(pairs)
            return Completion(json.dumps([pair in self._entailed for pair in pairs]), None, 0, 1.0)
        self.calls.append(texts)
        found = [self._scores.get(text, 0.1) for text in texts]
        for one in found:
            if isinstance(one, CompletionError):
                raise one
        tokens = sum(len(firsts[0]) + len(text) for text in texts)
        return Completion(json.dumps(found), tokens, 0, 1.0)
