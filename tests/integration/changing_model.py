"""Shared by tests of a change of the embedding model: a searchable corpus, and the steps of a change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker, vector_of
from tests.sessions import Connection, scalar

OLD, NEW = "all-MiniLM-L6-v2", "another-model"
DIMENSIONS = 6
SET = "select pgclarify_private.set_embedding_model(caller, 'insurance', %s) from pgclarify_private.caller"
CANCEL = """select pgclarify.alter_corpus('insurance', '{"embedding_model": null}')"""
ADD = "select pgclarify.add_document('insurance', %s, %s)"
REMOVE = "select pgclarify.remove_document('insurance', %s)"
WITHOUT_VECTOR = """
    select p.document_id, p.content
    from pgclarify.passage as p
    join pgclarify_private.corpus on corpus.corpus_id = p.corpus_id
    full join pgclarify_private.passage_embedding as e
        on e.embedding_space_id = corpus.embedding_space_id and e.document_id = p.document_id and e.passage_id = p.id
    where e.embedding_space_id is null
        or p.id is null and e.embedding_space_id in (select c.embedding_space_id from pgclarify_private.corpus as c)
"""


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker, and corpus "insurance" of three documents with four passages."""
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    for document_id, content in (("1", "Cars.\n\nTrucks."), ("2", "Boats."), ("3", "Planes.")):
        connection.execute(ADD, [document_id, content])
    worker = make_worker()
    worker.index_everything()
    return worker


def status(connection: Connection) -> tuple[Any, ...]:
    """embedding_model, passages, embedded, next_embedding_model, next_embedded of corpus "insurance"."""
    row = connection.execute(
        "select embedding_model, passages, embedded, next_embedding_model, next_embedded"
        " from pgclarify.corpus where corpus = 'insurance'"
    ).fetchone()
    assert row is not None
    return tuple(row)


def error(connection: Connection) -> str | None:
    text: str | None = scalar(connection, "select error from pgclarify.corpus where corpus = 'insurance'")
    return text


def begin(connection: Connection, worker: ManualWorker, model: str = NEW, dimensions: int = DIMENSIONS) -> int:
    """Start a change of the model, until passages can be claimed; return the id of the space."""
    space_id: int = scalar(connection, SET, model)
    worker.open_spaces(dimensions)
    assert worker.advance_spaces() == [True]
    return space_id


def fill(worker: ManualWorker, max_passages: int = 1000) -> int:
    """Embed all passages that can be claimed; return how many."""
    stored = 0
    while passages := worker.claim_passages(max_passages):
        stored += worker.store_vectors(passages)
    return stored


def let_documents_in(connection: Connection) -> None:
    """Skip the minute for which documents wait near the end of a change."""
    connection.execute(
        "update pgclarify_private.embedding_space set paused_until = now() where paused_until is not null"
    )


def assert_complete(connection: Connection, model: str = NEW) -> None:
    """Check that the corpus is searched with this model, and that exactly its passages have vectors of it."""
    assert status(connection)[0] == model
    assert connection.execute(WITHOUT_VECTOR).fetchall() == []
    assert_counts_agree(connection)


def nearest(connection: Connection, worker: ManualWorker, content: str, model: str) -> str:
    """The passage that a dense search for a text finds first, if the question has the vector of that model."""
    submit = "select pgclarify.submit('clarify', %s, 'insurance', jsonb_build_object('top_k', 1) || '{\"method\": \"dense\"}'::jsonb)"  # noqa: E501
    run_id = scalar(connection, submit, f"{content} with {model}")
    run = worker.start(run_id)
    assert run is not None
    assert run["embedding_model"] == model
    text = content if model == OLD else model + content
    found = worker.retrieve(run_id, vector=vector_of(text, run["dimensions"]), embedding_model=model)
    worker.finish(run_id)
    return str(found[0]["content"])
