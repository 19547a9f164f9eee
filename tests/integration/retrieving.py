"""Shared by tests of retrieval: documents, searches, and the retrieval of a run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tests.integration.manual_worker import ManualWorker
from tests.sessions import Connection


def add_all(
    connection: Connection, documents: Mapping[str, str], readers: Mapping[str, Sequence[str]] | None = None
) -> None:
    rows = [
        {"id": document_id, "content": content, "readers": (readers or {}).get(document_id)}
        for document_id, content in documents.items()
    ]
    connection.execute(
        """
        select pgclarify.add_document('insurance', given.id, given.content, readers => given.readers)
        from jsonb_to_recordset(%s) as given (id text, content text, readers name[])
        """,
        [json.dumps(rows)],
    )


def lexical(connection: Connection, question: str, top_k: int = 1000) -> list[tuple[str, float]]:
    return connection.execute(
        "select document_id, score"
        " from pgclarify.search(%s, 'insurance', %s, '{\"method\": \"lexical\"}') order by rank",
        [question, top_k],
    ).fetchall()


def retrieve(
    connection: Connection,
    worker: ManualWorker,
    question: str,
    vector: Sequence[float] | None,
    *,
    method: str,
    top_k: int = 10,
) -> list[dict[str, Any]]:
    """Ask, and retrieve for the run."""
    row = connection.execute(
        "select pgclarify.submit('clarify', %s, 'insurance', jsonb_build_object('top_k', %s::integer) || jsonb_build_object('method', %s::text))",  # noqa: E501
        [question, top_k, method],
    ).fetchone()
    assert row is not None
    run = worker.start(row[0])
    assert run is not None
    return worker.retrieve(row[0], run["attempt"], question, vector)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))
