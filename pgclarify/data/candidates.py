"""Frozen data of retrieval: passages that a search found, their neighbors, and the candidates of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgclarify.data.documents import Passage


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that a search found, before it is chosen.

    Attributes:
        score: The score of the search: cosine similarity, BM25, the mean of both, or the similarity to the
            passage that led to it.
        origin: dense, lexical or neighbor.
        signal_score: Its score by the other retrieval signal, in (0, 1); None if it was not requested.
    """

    passage: Passage
    score: float
    origin: str
    signal_score: float | None = None


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The neighborhoods of some passages, limited to passages that the requester may read.

    Attributes:
        edges: By passage_id, the passage_ids of its neighbors, nearest first; every requested passage has an entry.
        passages: The neighbors that were not known yet, each once.
    """

    edges: Mapping[int, Sequence[int]]
    passages: Sequence[Found]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage retrieved for a run.

    Attributes:
        rank: From 1. If passages are explored, the operation defines the order: that of choosing, or that of final
            scores.
        score: The score that the operation ranks by; see `candidate.score`.
        origin: dense, lexical or neighbor.
        via_passage_id: The passage that led to it; None unless its origin is neighbor.
        batch: The batch in which it was chosen, from 1.
        step_ordinal: The step of an investigation that it belongs to; None for other operations.
    """

    rank: int
    passage: Passage
    score: float
    origin: str
    via_passage_id: int | None = None
    batch: int = 1
    step_ordinal: int | None = None
