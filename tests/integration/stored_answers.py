"""What a worker stores of an answer: the verdict on a passage, and the reading that it proves."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from tests.integration.manual_worker import ManualWorker
from tests.sessions import Connection


def rows(connection: Connection, query: str, *parameters: object) -> list[dict[str, Any]]:
    """Rows by the names of their columns."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), parameters).fetchall()


def reading(
    interpretation: str = "What?", answer: str = "Cars", *, rank: int = 1, quote: str = "Cars"
) -> dict[str, Any]:
    """A reading that one candidate proves, with a quote from the beginning of its document."""
    citation = {"candidate_rank": rank, "is_medoid": True, "quote": quote, "start_char": 0, "end_char": len(quote)}
    return {
        "interpretation": interpretation, "answer": answer, "support": 1, "cohesion": 1, "is_contested": False,
        "citations": [citation],
    }  # fmt: skip


def store_grounded_verdict(worker: ManualWorker, run_id: int) -> None:
    """Record that the first candidate answers the question, as `reading()` does."""
    worker.record_verdicts(
        run_id,
        {
            "rank": 1, "outcome": "grounded", "interpretation": "What?", "answer": "Cars", "quote": "Cars",
            "start_char": 0, "end_char": 4, "vector": "[1,0,0,0]",
        },
    )  # fmt: skip
