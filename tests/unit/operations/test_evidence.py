"""What of the candidates fits into a request."""

from __future__ import annotations

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.operations.retrieval.evidence import cut_evidence


def candidates(*contents: str) -> list[Candidate]:
    return [
        Candidate(rank, Passage(f"d{rank}", rank, content), 1.0, "dense") for rank, content in enumerate(contents, 1)
    ]


def test_is_cut_by_rank() -> None:
    found = candidates("a" * 40, "b" * 40, "c" * 41, "d")
    assert cut_evidence(found, 20) == found[:2]
    assert cut_evidence(found, 30) == found[:2]
    assert cut_evidence(found, 31) == found
    assert cut_evidence([], 20) == []


def test_a_long_first_passage_is_cut_to_the_budget() -> None:
    found = candidates("a" * 100, "b")
    (only,) = cut_evidence(found, 10)
    assert (only.rank, only.passage.content) == (1, "a" * 40)
