"""Search for the methods of an evaluation, through the SQL API like a user's."""

from __future__ import annotations

from typing import Literal

from pgclarify.evaluation.asking import Asking
from pgclarify.model import Passage


class CorpusSearch:
    """Searches the corpus of an evaluation. Implements Retriever. A search that failed has the code of its run.

    Args:
        asking: The connections of the evaluation.
        method: hybrid, dense or lexical.
    """

    def __init__(self, asking: Asking, *, method: Literal["hybrid", "dense", "lexical"] = "hybrid") -> None:
        self._asking = asking
        self._method = method

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """See Retriever."""
        asking = self._asking
        async with asking.codes_of_runs():
            found = await asking.client.search(
                question, corpus=asking.corpus.name, top_k=top_k, method=self._method, timeout=None
            )
        return [
            Passage(one.document_id, one.passage_id, one.content, title=one.title, heading=one.heading) for one in found
        ]
