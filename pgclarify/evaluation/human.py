"""The readings that people know, as the output of a method: a reference for all other methods."""

from __future__ import annotations

import time

from pgclarify.evaluated import Case, Output, PredictedInterpretation
from pgclarify.protocols import Retriever


class Human:
    """Returns the readings of the data set, without citations, and the passages of a search.

    Args:
        retriever: Searches the corpus.
        top_k: Number of passages to find.
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
