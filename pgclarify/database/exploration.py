"""The passages of a run's corpus and their neighborhoods."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.candidates import Candidate, Found, Neighbors
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Run
from pgclarify.database.runs import Runs
from pgclarify.database.vectors import vector_text


class ExplorationTables:
    """The passages of a run's corpus and their neighborhoods, if the requester may read them."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def find_passages(
        self,
        run: Run,
        query: str,
        vector: NDArray[np.float32] | None,
        *,
        method: str,
        depth: int,
        signal: str | None = None,
        are_chosen: bool = False,
        asked_vector: NDArray[np.float32] | None = None,
        are_distinct: bool = True,
    ) -> list[Found]:
        """Search for a run.

        Args:
            run: The run.
            query: The text to search for. For clarify and list_answers, it is kept as relaxed_question if it is not the
                question.
            vector: Its vector, float32, shape (dimensions,); None if neither method nor signal needs it.
            method: dense, lexical or hybrid.
            depth: Most passages, from 1.
            signal: A second score for each passage, in (0, 1): dense is cosine similarity; lexical is BM25 as a share
                of the highest score that the question's words can give; both is their mean. None for no second score.
            are_chosen: Whether to store what is found as the candidates of the run, which has none yet.
            asked_vector: The vector of the run's question, if the query has other words. It is compared with other
                questions later.
            are_distinct: Whether only the best of several passages with the same text is found, so that copies do not
                take the places of others.

        Returns:
            Best first.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        rows = await self._runs.fetch(
            run,
            "find_passages",
            question=query,
            query_vector=None if vector is None else vector_text(vector),
            embedding_model=run.embedding_model,
            method=method,
            depth=depth,
            signal=signal,
            are_chosen=are_chosen,
            asked_vector=None if asked_vector is None else vector_text(asked_vector),
            are_distinct=are_distinct,
        )
        return [Found(_passage(row), row["score"], row["origin"], row["signal_score"]) for row in rows]

    async def find_neighbors(
        self,
        run: Run,
        passages: Sequence[Passage],
        *,
        k: int,
        known: Collection[int],
        query: str,
        vector: NDArray[np.float32] | None,
        signal: str | None = None,
    ) -> Neighbors:
        """Look up the neighbors of a batch, in one statement.

        Args:
            run: The run.
            passages: The batch.
            k: Most neighbors of each, from 1.
            known: passage_ids whose passages need not be read again; the edges still contain them.
            query: As in find_passages.
            vector: As in find_passages.
            signal: As in find_passages.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        rows = await self._runs.fetch(
            run,
            "find_neighbors",
            document_ids=[passage.document_id for passage in passages],
            passage_ids=[passage.passage_id for passage in passages],
            k=k,
            known=list(known),
            question=query,
            query_vector=None if vector is None else vector_text(vector),
            embedding_model=run.embedding_model,
            signal=signal,
        )
        edges: dict[int, list[int]] = {passage.passage_id: [] for passage in passages}
        for row in rows:
            edges[row["via_passage_id"]].append(row["passage_id"])
        return Neighbors(
            edges,
            [
                Found(_passage(row), row["similarity"], "neighbor", row["signal_score"])
                for row in rows
                # A known passage, and a repeated edge to a passage, have only the id.
                if row["content"] is not None
            ],
        )

    async def record_candidates(self, run: Run, candidates: Sequence[Candidate]) -> list[int]:
        """Store candidates in addition to the existing ones.

        Returns:
            The ranks of the stored ones, ascending: without passages that are gone by now, or that the requester may no
            longer read. These cannot have a verdict.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        kept = await self._runs.fetch_value(
            run,
            "record_candidates",
            candidates=json.dumps([_candidate_row(candidate) for candidate in candidates]),
        )
        return list(kept)

    async def record_copies(self, run: Run, candidates: Sequence[Candidate]) -> dict[int, datetime | None]:
        """Store the copies of recorded candidates as candidates, too; their citations follow from those of the judged.

        Args:
            run: The run, which has recorded all its other candidates.
            candidates: Those that were judged, and that prove something.

        Returns:
            For each rank that has copies which the requester may read, the newest date of their documents.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        rows = await self._runs.fetch(
            run,
            "record_copies",
            ranks=[candidate.rank for candidate in candidates],
            texts=[candidate.passage.content for candidate in candidates],
        )
        return {row["rank"]: row["dated"] for row in rows}


def _candidate_row(candidate: Candidate) -> dict[str, Any]:
    return {
        "rank": candidate.rank,
        "document_id": candidate.passage.document_id,
        "passage_id": candidate.passage.passage_id,
        "score": float(candidate.score),
        "origin": candidate.origin,
        "via_passage_id": candidate.via_passage_id,
        "batch": candidate.batch,
        "step_ordinal": candidate.step_ordinal,
    }


def _passage(row: Mapping[str, Any]) -> Passage:
    return Passage(**{field.name: row[field.name] for field in fields(Passage)})
