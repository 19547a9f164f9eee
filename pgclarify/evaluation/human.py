"""The readings that people know, as if a method had given them: the yardstick of the others."""

from __future__ import annotations

import time

from pgclarify.evaluated import Case, Output, PredictedInterpretation
from pgclarify.protocols import Retriever


class Human:
    """What people know: the readings of the data set themselves, with nothing cited, and what a search finds.

    Args:
        retriever: Who searches.
        top_k: How many passages it finds.
    """

    def __init__(self, retriever: Retriever, *, top_k: int) -> None:
        self._retriever = retriever
        self._top_k = top_k

    async def answer(self, case: Case) -> Output:
        """See Method."""
        started = time.perf_counter()
        retrieved = await self._retriever.search(case.question, self._top_k)
        given = [
            PredictedInterpretation(one.interpretation or case.question, one.answers[0] if one.answers else None)
            for one in case.interpretations
        ]
        if not given and case.answer_sets:
            given = [PredictedInterpretation(case.question, spellings[0]) for spellings in case.answer_sets[0]]
        return Output(tuple(given), tuple(retrieved), retrievals=1, seconds=time.perf_counter() - started)
