"""Search for the methods of an evaluation, through the SQL API like a user's."""

from __future__ import annotations

from typing import Literal

from pgclarify.client import AsyncClient
from pgclarify.model import Passage


class CorpusSearch:
    """Searches one corpus. Implements Retriever.

    Args:
        client: Searches with its role; the caller closes it.
        corpus: The name of the corpus.
        method: hybrid, dense or lexical.
    """

    def __init__(
        self, client: AsyncClient, corpus: str, *, method: Literal["hybrid", "dense", "lexical"] = "hybrid"
    ) -> None:
        self._client = client
        self._corpus = corpus
        self._method = method

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """See Retriever."""
        found = await self._client.search(question, corpus=self._corpus, top_k=top_k, method=self._method, timeout=None)
        return [
            Passage(one.document_id, one.passage_id, one.content, title=one.title, heading=one.heading) for one in found
        ]
