"""Entailment from a list."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from pgclarify.data.runs import Tally


class FakeEntailment:
    """Has a list of the answers that entail each other.

    Args:
        pairs: Premise and hypothesis. Equal answers always entail each other. Other pairs do not.

    Attributes:
        calls: Question and pairs of each call so far.
    """

    def __init__(self, pairs: Collection[tuple[str, str]] = ()) -> None:
        self.calls: list[tuple[str, list[tuple[str, str]]]] = []
        self._pairs = frozenset(pairs)

    async def __call__(
        self,
        question: str,
        pairs: Sequence[tuple[str, str]],
        *,
        document_ids: Sequence[str] = (),
        tally: Tally | None = None,
    ) -> Sequence[bool]:
        """Judge pairs. Calls are not counted."""
        self.calls.append((question, list(pairs)))
        # A real model lets other tasks run here.
        await asyncio.sleep(0)
        return [premise == hypothesis or (premise, hypothesis) in self._pairs for premise, hypothesis in pairs]
