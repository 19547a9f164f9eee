"""Questions to a corpus of which nothing is indexed yet."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pgclarify import Client
from pgclarify.errors import NotIndexed
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar


def waiting_corpus(connection: Connection) -> None:
    """Make a corpus of two documents, which no worker has indexed."""
    connection.execute("select pgclarify.create_corpus('c', options => '{\"reader\": \"pgclarify_user\"}')")
    for document_id in ("a", "b"):
        connection.execute("select pgclarify.add_document('c', %s, 'Hail is covered.')", [document_id])


def submit(connection: Connection, operation: str = "clarify") -> int:
    return int(scalar(connection, "select pgclarify.submit(%s, 'hail', 'c')", operation))


def taken(worker: ManualWorker) -> list[Any]:
    return [row["run_id"] for row in worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False)]


@pytest.mark.parametrize("operation", ["clarify", "search", "list_answers"])
def test_a_run_waits_in_the_queue_until_a_document_is_indexed(
    connection: Connection, make_worker: MakeWorker, operation: str
) -> None:
    waiting_corpus(connection)
    worker = make_worker()
    run_id = submit(connection, operation)

    assert taken(worker) == []
    assert scalar(connection, "select status from pgclarify.run where run_id = %s", run_id) == "queued"

    worker.index_everything()
    assert taken(worker) == [run_id]


def test_a_run_that_waits_delays_no_other_run(connection: Connection, make_worker: MakeWorker) -> None:
    waiting_corpus(connection)
    worker = make_worker()
    for _ in range(3):
        submit(connection)
    connection.execute("select pgclarify.create_corpus('empty')")
    other = int(scalar(connection, "select pgclarify.submit('clarify', 'hail', 'empty')"))

    assert taken(worker) == [other]


def test_a_run_does_not_wait_for_a_model_that_cannot_be_loaded(connection: Connection, make_worker: MakeWorker) -> None:
    waiting_corpus(connection)
    worker = make_worker()
    submit(connection)
    (space,) = worker.send("building_spaces")
    worker.send("note_space_error", embedding_space_id=space["embedding_space_id"], error="there is no such model")

    (row,) = worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False)
    assert row["error_code"] == "PC011"


def test_a_role_does_not_learn_that_documents_wait_which_it_may_not_read(
    connection: Connection, make_worker: MakeWorker, connect: Connect, make_role: MakeRole
) -> None:
    connection.execute("select pgclarify.create_corpus('c', options => '{\"reader\": \"pgclarify_user\"}')")
    add = "select pgclarify.add_document('c', 'a', 'Hail is covered.', readers => array['pgclarify_owner'])"
    connection.execute(add)
    worker = make_worker()
    run_id = submit(connect(make_role("pgclarify_user")))

    assert taken(worker) == [run_id]


@pytest.mark.committed
def test_a_caller_whose_time_is_up_learns_how_many_documents_wait(
    connection: Connection, make_worker: MakeWorker
) -> None:
    waiting_corpus(connection)
    make_worker()
    with pytest.raises(psycopg.Error) as late:
        connection.execute("select * from pgclarify.clarify('hail', corpus => 'c', timeout => '50ms')")
    assert late.value.sqlstate == "PC018"
    assert "2 documents" in str(late.value)
    with Client(connection) as client, pytest.raises(NotIndexed) as caught:
        client.clarify_many(["hail", "fire"], corpus="c", timeout=0.05)
    assert len(caught.value.run_ids) == 2


def test_a_run_waits_while_an_attached_table_is_being_loaded(connection: Connection, make_worker: MakeWorker) -> None:
    connection.execute("select pgclarify.create_corpus('c')")
    connection.execute("create table note (id bigint primary key, body text)")
    connection.execute("insert into note values (1, 'Hail is covered.')")
    connection.execute("select pgclarify.attach_table('c', 'note', 'id', 'body')")
    worker = make_worker()
    run_id = submit(connection)

    assert taken(worker) == []
    connection.execute("update pgclarify_private.source set state = 'following'")
    assert taken(worker) == [run_id], "the table has no rows that are documents"
