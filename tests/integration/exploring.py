"""Shared by tests of exploration: a circle of linked passages, and the statements of a worker that explores it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.integration.linking import link, load
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar

ANGLES = (0, 10, 25, 45, 70, 100, 135, 175)
MODEL = "all-MiniLM-L6-v2"


def ask(user: Connection, worker: ManualWorker, question: str = "question") -> int:
    """A run that the worker has started."""
    run_id = int(scalar(user, "select pgclarify.submit('clarify', %s, 'insurance')", question))
    assert worker.start(run_id) is not None
    return run_id


def text_of(vector: Sequence[float] | None) -> str | None:
    return None if vector is None else json.dumps(list(vector))


def find(
    worker: ManualWorker,
    run_id: int,
    *,
    question: str = "question",
    vector: Sequence[float] | None = None,
    method: str = "dense",
    depth: int = 100,
    signal: str | None = None,
    attempt: int = 1,
    embedding_model: str = MODEL,
) -> list[dict[str, Any]]:
    """Search for a run, and record nothing."""
    return worker.send(
        "find_passages",
        run_id=run_id,
        attempt=attempt,
        question=question,
        query_vector=text_of(vector),
        embedding_model=embedding_model,
        method=method,
        depth=depth,
        signal=signal,
        are_chosen=False,
        asked_vector=None,
    )


def near(
    worker: ManualWorker,
    run_id: int,
    passages: Sequence[Mapping[str, Any]],
    *,
    k: int = 10,
    known: Sequence[int] = (),
    question: str = "question",
    vector: Sequence[float] | None = None,
    signal: str | None = None,
    attempt: int = 1,
    embedding_model: str = MODEL,
) -> list[dict[str, Any]]:
    """Edges from passages, with the content of passages that are new to the run."""
    return worker.send(
        "find_neighbors",
        run_id=run_id,
        attempt=attempt,
        document_ids=[passage["document_id"] for passage in passages],
        passage_ids=[passage["passage_id"] for passage in passages],
        k=k,
        known=list(known),
        question=question,
        query_vector=text_of(vector),
        embedding_model=embedding_model,
        signal=signal,
    )


def record(
    worker: ManualWorker, run_id: int, passages: Sequence[Mapping[str, Any]], *, first_rank: int = 1
) -> list[int]:
    """Record passages as candidates of batch 2, each found from the previous one; return the recorded ranks."""
    ids = [passage["passage_id"] for passage in passages]
    return worker.record_candidates(
        run_id,
        *(
            {
                "rank": rank, "document_id": passage["document_id"], "passage_id": passage["passage_id"],
                "origin": "neighbor", "via_passage_id": via, "batch": 2,
            }
            for rank, (passage, via) in enumerate(zip(passages, [None, *ids[:-1]], strict=True), start=first_rank)
        ),
    )  # fmt: skip


def passage(connection: Connection, document_id: str) -> dict[str, Any]:
    """The key of a document's only passage."""
    return {
        "document_id": document_id,
        "passage_id": scalar(connection, "select id from pgclarify.passage where document_id = %s", document_id),
    }


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker that has linked the circle."""
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    worker = make_worker()
    load(connection, worker, *ANGLES)
    link(worker)
    return worker


@pytest.fixture
def user(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user", name="alice"))
