"""Another model under the name of an embedding model: a worker notices it when it starts, and mixes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import numpy as np
import psycopg

from tests.openai_server import Reply, Server, bags_of_words, embeddings
from tests.sessions import Connection, scalar
from tests.workers import DOCUMENTS, StartWorker, until, wait_until_searchable

MODEL = "endpoint:words-1@48"
SEARCH = "select document_id from pgclarify.search(%s, 'rental', 1, jsonb_build_object('method', %s::text))"
CHANGED = "select error is not null from pgclarify.corpus where corpus = 'rental'"
FOUND = "select count(*) from pgclarify.finding where kind = 'corpora' and level = 'problem'"
VECTORS = "select count(*) from pgclarify_private.passage_embedding"


def other_vectors(body: Mapping[str, Any]) -> Reply:
    """Another model: vectors of the same dimensions, which depend on the text alone."""
    rows = [np.random.default_rng([*text.encode()]).normal(size=body.get("dimensions", 48)) for text in body["input"]]
    return embeddings(rows, body)


def error_code(connection: Connection, method: str) -> str | None:
    """Ask a new question, because an answer of before is still right."""
    try:
        connection.execute(SEARCH, [f"tolls with a fee {uuid4()}", method])
    except psycopg.Error:
        return str(scalar(connection, "select error_code from pgclarify.run order by run_id desc limit 1"))
    return None


def test_a_model_that_changed_under_its_name_is_noticed_at_start_and_mixed_with_nothing(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    own_model.embed = bags_of_words
    first = run_worker(database, own_model.base_url)
    scalar(connection, "select pgclarify.create_corpus('rental', %s)", MODEL)
    for document_id, (title, content) in DOCUMENTS.items():
        connection.execute(
            "select pgclarify.add_document('rental', %s, %s, title => %s)", [str(document_id), content, title]
        )
    wait_until_searchable(connection, "rental")
    assert error_code(connection, "dense") is None
    first.stop()

    own_model.embed = other_vectors
    second = run_worker(database, own_model.base_url)
    until(lambda: scalar(connection, CHANGED))
    assert scalar(connection, FOUND) == 1
    stored = scalar(connection, VECTORS)
    connection.execute("select pgclarify.add_document('rental', 'new', 'Boats cost ninety dollars a day.')")
    assert error_code(connection, "dense") == "PC011"
    assert error_code(connection, "hybrid") == "PC011"
    # Words can still be searched for.
    assert error_code(connection, "lexical") is None
    assert scalar(connection, VECTORS) == stored
    assert scalar(connection, "select pending from pgclarify.corpus where corpus = 'rental'") == 1

    # The earlier model is back.
    second.stop()
    own_model.embed = bags_of_words
    third = run_worker(database, own_model.base_url)
    wait_until_searchable(connection, "rental")
    assert not scalar(connection, CHANGED)
    assert scalar(connection, SEARCH, "boats cost ninety dollars", "dense") == "new"

    # Or the changed model embeds everything anew.
    third.stop()
    own_model.embed = other_vectors
    run_worker(database, own_model.base_url)
    until(lambda: scalar(connection, CHANGED))
    scalar(
        connection, "select pgclarify.alter_corpus('rental', jsonb_build_object('embedding_model', %s::text))", MODEL
    )
    until(lambda: not scalar(connection, CHANGED))
    assert error_code(connection, "dense") is None
    assert scalar(connection, FOUND) == 0
