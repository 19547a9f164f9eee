"""Another embedding model for a corpus, with worker processes and real models."""

from __future__ import annotations

import pytest

from tests.integration.by_hand import Connect, Connection, MakeRole
from tests.integration.counts import assert_counts_agree
from tests.openai_server import Server
from tests.unit.embedding.small_model import save_small_model
from tests.workers import StartWorker, load, scalar, until, wait_until_searchable

OLD = "all-MiniLM-L6-v2"
SET = "select pgclarify_private.set_embedding_model(caller, 'rental', %s) from pgclarify_private.caller"
STATUS = "select embedding_model, next_embedding_model, error from pgclarify.corpus where corpus = 'rental'"


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of a model of 24 dimensions that reads 64 tokens."""
    return save_small_model(tmp_path_factory.mktemp("models"))


def has_switched(connection: Connection, model: str) -> bool:
    row = connection.execute(STATUS).fetchone()
    assert row is not None
    assert row[2] is None
    return tuple(row[:2]) == (model, None)


def test_a_worker_fills_and_switches(
    database: str,
    connection: Connection,
    connect: Connect,
    make_role: MakeRole,
    own_model: Server,
    run_worker: StartWorker,
    small_model: str,
) -> None:
    run_worker(database, own_model.base_url)
    load(connection)
    # Runs are reused among roles with equal rights. A superuser gets each role that another test makes meanwhile.
    asker = connect(make_role("pgclarify_user"))
    wait_until_searchable(connection)
    ask = "select count(*) from pgclarify.clarify('what does a rental cost', top_k => 4, timeout => '5min')"
    assert scalar(asker, ask) > 0
    runs = scalar(connection, "select count(*) from pgclarify.run")

    assert scalar(connection, SET, "/no/such/model") is not None
    until(lambda: scalar(connection, "select error from pgclarify.corpus"))
    assert scalar(asker, ask) > 0
    assert scalar(connection, "select count(*) from pgclarify.run") == runs, "served again: nothing has changed"

    scalar(connection, SET, small_model)
    connection.execute("select pgclarify.add_document('rental', '113', 'A rental boat costs ninety dollars a day.')")
    connection.execute("select pgclarify.remove_document('rental', '101')")
    until(lambda: has_switched(connection, small_model))
    wait_until_searchable(connection)

    assert (
        scalar(connection, "select distinct dimensions from pgclarify_private.embedding_space where state = 'active'")
        == 24
    )
    assert scalar(asker, ask) > 0
    assert scalar(connection, "select count(*) from pgclarify.run") == runs + 1, "answers may differ now"
    run = "select vector_dims(question_vector) from pgclarify_private.run order by run_id desc limit 1"
    assert scalar(connection, run) == 24
    assert_counts_agree(connection)
