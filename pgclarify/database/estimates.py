"""The tables of an estimate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.candidates import Found
from pgclarify.data.estimates import Prospect
from pgclarify.data.model_calls import Completion, CompletionKey
from pgclarify.data.runs import Run
from pgclarify.database.arrays import array_text
from pgclarify.database.exploration import found_passage
from pgclarify.database.ledger import key_of_call
from pgclarify.database.runs import Runs
from pgclarify.database.vectors import vector_text


class EstimateTables:
    """What an estimate reads, and where its result is stored. Nothing else is recorded."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def find_for_each(
        self,
        run: Run,
        queries: Sequence[str],
        vectors: NDArray[np.float32] | None,
        *,
        method: str,
        depth: int,
    ) -> list[list[Found]]:
        """Search for several queries, in one statement.

        Args:
            run: The run.
            queries: At least one.
            vectors: float32, shape (len(queries), dimensions); None if the method needs none.
            method: As in ExplorationTables.find_passages.
            depth: Likewise, for each query.

        Returns:
            For each query its passages, best first.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        rows = await self._runs.fetch(
            run,
            "find_for_estimate",
            questions=list(queries),
            query_vectors=None if vectors is None else array_text(map(vector_text, vectors)),
            embedding_model=run.embedding_model,
            method=method,
            depth=depth,
        )
        found: list[list[Found]] = [[] for _ in queries]
        for row in rows:
            found[row["question_ordinal"] - 1].append(found_passage(row))
        return found

    async def known_completions(
        self, run: Run, keys: Sequence[CompletionKey], shown: Sequence[Sequence[str]]
    ) -> list[Completion | None]:
        """Look up inputs in the ledger without leasing them.

        Args:
            run: The run.
            keys: The inputs.
            shown: For each of them, the documents whose passages it shows.

        Returns:
            For each key the reply; None if there is none yet.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        if not keys:
            return []
        calls = [
            {**key_of_call(key), "document_ids": list(document_ids)}
            for key, document_ids in zip(keys, shown, strict=True)
        ]
        rows = await self._runs.fetch(run, "known_completions", calls=json.dumps(calls))
        known: list[Completion | None] = [None] * len(keys)
        for row in rows:
            place = row.pop("ordinal") - 1
            known[place] = Completion(**row)
        return known

    async def record_estimate(self, run: Run, prospect: Prospect) -> None:
        """Store the result of an estimate; it replaces an earlier one.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        await self._runs.fetch(run, "record_estimate", seen=json.dumps(asdict(prospect)))
