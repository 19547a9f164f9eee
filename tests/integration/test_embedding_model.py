"""Another embedding model for a corpus: filled beside the one that is searched, and switched to in one transaction."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.changing_model import (
    ADD,
    CANCEL,
    DIMENSIONS,
    NEW,
    OLD,
    REMOVE,
    SET,
    assert_complete,
    begin,
    error,
    fill,
    nearest,
    status,
    worker,
)
from tests.integration.manual_worker import MakeWorker, ManualWorker, vector_of
from tests.sessions import Connection, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["worker"]


def test_searches_use_the_old_model_until_the_new_is_complete(connection: Connection, worker: ManualWorker) -> None:
    revision = "select revision from pgclarify.corpus"
    before = scalar(connection, revision)
    assert isinstance(scalar(connection, SET, NEW), int)
    assert status(connection) == (OLD, 4, 4, NEW, 0)
    worker.open_spaces(DIMENSIONS)
    assert status(connection) == (OLD, 4, 4, NEW, 0)
    assert worker.claim_passages() == [], "not before all passages have a vector"
    assert worker.advance_spaces() == [True]

    passages = worker.claim_passages(max_passages=3)
    assert [(passage["document_id"], passage["content"]) for passage in passages] == [
        ("1", "Cars."),
        ("1", "Trucks."),
        ("2", "Boats."),
    ]
    assert worker.store_vectors(passages) == 3
    assert status(connection) == (OLD, 4, 4, NEW, 3)
    assert worker.advance_spaces() == []
    assert nearest(connection, worker, "Planes.", OLD) == "Planes."
    assert scalar(connection, revision) == before

    assert worker.store_vectors(worker.claim_passages()) == 1
    assert status(connection) == (OLD, 4, 4, NEW, 4)
    assert worker.claim_passages() == []
    assert worker.advance_spaces() == [True]

    assert status(connection) == (NEW, 4, 4, None, None)
    assert scalar(connection, revision) == before + 1
    assert nearest(connection, worker, "Trucks.", NEW) == "Trucks."
    assert_complete(connection)
    connection.execute(ADD, ["4", "Trains."])
    assert [document["embedding_model"] for document in worker.claim()] == [NEW]


@pytest.mark.committed
def test_the_old_vectors_are_dropped_once_nobody_can_read_them(connection: Connection, worker: ManualWorker) -> None:
    old = scalar(connection, "select embedding_space_id from pgclarify_private.corpus")
    begin(connection, worker)
    fill(worker)
    worker.advance_spaces()
    worker.advance_spaces()
    assert worker.sweep() == [], "a search that has read the old space may still use it"

    connection.execute("update pgclarify_private.embedding_space set retired_at = retired_at - interval '1 hour'")
    with connection.transaction():
        connection.execute(
            "select from pgclarify_private.embedding_space where embedding_space_id = %s for key share", [old]
        )
        assert worker.advance_spaces() == [False], "a session deletes from it"
    while any(worker.advance_spaces()):
        pass
    assert sorted(worker.sweep()) == [
        f"pgclarify_private.neighborhood_{old}",
        f"pgclarify_private.passage_embedding_{old}",
    ]
    assert worker.advance_spaces() == []
    assert_complete(connection)


def test_cancelled_half_way_nothing_has_changed(connection: Connection, worker: ManualWorker) -> None:
    before = status(connection), connection.execute("select * from pgclarify.corpus").fetchall()
    assert not scalar(connection, CANCEL)
    new = begin(connection, worker)
    in_hand = worker.claim_passages(max_passages=1)
    worker.store_vectors(worker.claim_passages(max_passages=2))

    assert scalar(connection, CANCEL)
    assert not scalar(connection, CANCEL)
    assert (status(connection), connection.execute("select * from pgclarify.corpus").fetchall()) == before
    assert worker.store_vectors(in_hand) == 0
    assert worker.claim_passages() == []
    assert nearest(connection, worker, "Boats.", OLD) == "Boats."

    connection.execute("update pgclarify_private.embedding_space set retired_at = retired_at - interval '1 hour'")
    while any(worker.advance_spaces()):
        pass
    assert sorted(worker.sweep()) == [
        f"pgclarify_private.neighborhood_{new}",
        f"pgclarify_private.passage_embedding_{new}",
    ]
    assert scalar(connection, "select count(*) from pgclarify_private.pending_passage") == 0
    assert scalar(connection, "select count(*) from pgclarify_private.embedding_space") == 1
    assert_complete(connection, OLD)


def test_asked_for_another_one_meanwhile(connection: Connection, worker: ManualWorker) -> None:
    assert scalar(connection, SET, OLD) is None
    first = begin(connection, worker, "first")
    assert scalar(connection, SET, "first") == first
    worker.store_vectors(worker.claim_passages(max_passages=1))
    second = begin(connection, worker, "second", dimensions=4)
    assert second != first
    assert {passage["embedding_model"] for passage in worker.claim_passages(lease=0)} == {"second"}
    assert status(connection)[3:] == ("second", 0)

    assert scalar(connection, SET, OLD) is None
    assert status(connection) == (OLD, 4, 4, None, None)
    begin(connection, worker, "second", dimensions=4)
    fill(worker)
    worker.advance_spaces()
    assert_complete(connection, "second")


def test_wrong_dimensions_are_corrected_while_the_space_is_empty(
    connection: Connection, make_worker: MakeWorker
) -> None:
    connection.execute("select pgclarify.create_corpus('insurance', %s)", [OLD])
    worker = make_worker()
    worker.open_spaces(DIMENSIONS + 1)
    connection.execute(ADD, ["1", "Cars."])

    space_id = scalar(connection, SET, OLD)
    assert scalar(connection, SET, OLD) == space_id, "it is asked for already"
    worker.open_spaces(DIMENSIONS)
    assert [worker.advance_spaces(), worker.claim_passages(), worker.advance_spaces()] == [[True], [], [True]]

    worker.index_everything({"Cars.": vector_of("Cars.", DIMENSIONS)})
    assert status(connection) == (OLD, 1, 1, None, None)
    assert (
        scalar(connection, "select dimensions from pgclarify_private.embedding_space where state = 'active'")
        == DIMENSIONS
    )
    assert_complete(connection, OLD)
    assert scalar(connection, SET, OLD) is None, "there are vectors now"


def test_before_the_first_model_has_been_loaded(connection: Connection, make_worker: MakeWorker) -> None:
    connection.execute("select pgclarify.create_corpus('insurance', 'no-such-model')")
    connection.execute(ADD, ["1", "Cars."])
    assert not scalar(connection, CANCEL), "there would be no vector"
    assert isinstance(scalar(connection, SET, NEW), int)
    worker = make_worker()
    worker.index_everything()
    assert status(connection) == (NEW, 1, 1, None, None)
    assert_complete(connection)


def test_a_model_that_is_no_longer_what_it_was_says_so(connection: Connection, worker: ManualWorker) -> None:
    space_id = begin(connection, worker)
    worker.send("note_space_error", embedding_space_id=space_id, error="other dimensions")
    assert error(connection) == "other dimensions"
    assert scalar(connection, SET, NEW) == space_id
    assert error(connection) is None, "a new request is a new try"

    worker.send("note_space_error", embedding_space_id=space_id, error="other dimensions")
    fill(worker)
    assert worker.advance_spaces() == [True]
    assert error(connection) is None
    worker.send("note_space_error", embedding_space_id=space_id, error="too late")
    assert error(connection) is None


def test_a_worker_that_goes_on_clears_the_error_of_a_space(connection: Connection, worker: ManualWorker) -> None:
    space_id = begin(connection, worker)
    worker.send("note_space_error", embedding_space_id=space_id, error="the endpoint cannot be reached")
    worker.store_vectors(worker.claim_passages(1))
    assert error(connection) is None

    (passage,) = worker.claim_passages(1)
    for _ in range(3):
        worker.fail_passage(passage)
        connection.execute("update pgclarify_private.pending_passage set retry_at = null where attempts < 3")
        worker.claim_passages(1)
    assert error(connection) is not None
    worker.store_vectors(worker.claim_passages(1))
    assert error(connection) is not None, "the failed passage still prevents the switch"


def test_documents_that_wait_for_the_model_say_why_as_long_as_they_do(
    connection: Connection, worker: ManualWorker
) -> None:
    space_id = scalar(connection, "select embedding_space_id from pgclarify_private.corpus")
    worker.send("note_space_error", embedding_space_id=space_id, error="the endpoint cannot be reached")
    assert error(connection) is None, "no space waits"
    connection.execute(ADD, ["4", "Trains."])
    assert error(connection) == "the endpoint cannot be reached"
    assert nearest(connection, worker, "Boats.", OLD) == "Boats."
    worker.index_everything()
    connection.execute(ADD, ["5", "Bicycles."])
    assert error(connection) is None, "a passage was stored since"

    worker.send("note_space_error", embedding_space_id=space_id, error="the endpoint cannot be reached")
    connection.execute(ADD, ["6", "Trams."])
    connection.execute(REMOVE, ["5"])
    assert error(connection) == "the endpoint cannot be reached", "one waits"

    scalar(connection, SET, NEW)
    assert status(connection)[3] == NEW
    assert error(connection) == "the endpoint cannot be reached"


def test_a_run_that_embedded_its_question_with_the_old_model_starts_again(
    connection: Connection, worker: ManualWorker
) -> None:
    begin(connection, worker, dimensions=4)
    run_id = scalar(connection, "select pgclarify.submit('clarify', 'boats', 'insurance')")
    run = worker.start(run_id)
    assert run is not None
    fill(worker)
    worker.advance_spaces()

    find = "select pgclarify_private.find_passages(%s, 1, '', null, %s, 'lexical', 9, null)"
    assert sqlstate_of(worker.connection, find, [run_id, OLD]) is None
    with pytest.raises(psycopg.errors.SerializationFailure):
        worker.retrieve(run_id, vector=vector_of("Boats."), embedding_model=OLD)

    again = worker.start(run_id)
    assert again is not None
    assert (again["attempt"], again["embedding_model"]) == (2, NEW)
    assert worker.retrieve(run_id, attempt=2, vector=vector_of(f"{NEW}Boats."), embedding_model=NEW)


@pytest.mark.committed
def test_a_passage_that_cannot_be_embedded(connection: Connection, worker: ManualWorker) -> None:
    space_id = begin(connection, worker)
    for attempt in range(3):
        assert error(connection) is None
        (boats,) = [passage for passage in worker.claim_passages(lease=0) if passage["content"] == "Boats."]
        worker.fail_passage(boats)
        assert attempt == 2 or len(worker.claim_passages(lease=0)) == 4
    assert fill(worker) == 3
    assert "the model refuses it" in (error(connection) or "")
    assert "2" not in (error(connection) or ""), "a role that may search may not read every document"
    assert worker.advance_spaces() == []
    assert status(connection) == (OLD, 4, 4, NEW, 3)
    assert nearest(connection, worker, "Boats.", OLD) == "Boats."

    assert scalar(connection, SET, NEW) == space_id
    assert error(connection) is None
    assert [passage["content"] for passage in worker.claim_passages(lease=0)] == ["Boats."]
    for _ in range(3):
        worker.fail_passage(worker.claim_passages(lease=0)[0])
    connection.execute(REMOVE, ["2"])
    assert worker.claim_passages() == []
    assert worker.advance_spaces() == [True]
    assert error(connection) is None
    assert_complete(connection)


@pytest.mark.committed
def test_a_model_that_refuses_a_hundred_passages_gets_no_more(connection: Connection, worker: ManualWorker) -> None:
    connection.execute(ADD, ["many", "\n\n".join(f"Vehicle {number}." for number in range(100))])
    worker.index_everything()
    begin(connection, worker)
    assert len(worker.claim_passages(max_passages=200, lease=0)) == 104
    connection.execute(
        "update pgclarify_private.pending_passage set attempts = 3, leased_by = null, leased_until = null"
        " where document_id = 'many'"
    )
    assert worker.claim_passages(lease=0) == [], "four have not been tried"

    scalar(connection, SET, NEW)
    assert len(worker.claim_passages(max_passages=200)) == 104, "a new request is a new try"


def test_documents_of_passages_that_the_new_model_cuts_off_are_indexed_again(
    connection: Connection, worker: ManualWorker
) -> None:
    begin(connection, worker)
    worker.store_vectors(worker.claim_passages(max_passages=1), are_cut_off=True)
    worker.store_vectors(worker.claim_passages(max_passages=2))
    worker.store_vectors(worker.claim_passages(max_passages=1), are_cut_off=True)
    pending = "select pending from pgclarify.corpus"
    assert scalar(connection, pending) == 0
    connection.execute(REMOVE, ["3"])
    while any(worker.advance_spaces()):
        pass
    assert scalar(connection, pending) == 1
    assert [(one["document_id"], one["embedding_model"]) for one in worker.claim(lease=0)] == [("1", NEW)]
    worker.index_everything()
    assert worker.advance_spaces() == []
    assert_complete(connection)


def test_a_document_that_cannot_be_indexed_stays_failed_when_passages_are_cut_off(
    connection: Connection, worker: ManualWorker
) -> None:
    connection.execute(ADD, ["1", "Ships."])
    worker.fail(worker.claim()[0])
    begin(connection, worker, dimensions=4)
    worker.store_vectors(worker.claim_passages(), are_cut_off=True)
    while any(worker.advance_spaces()):
        pass
    assert sorted(document["document_id"] for document in worker.claim(lease=0)) == ["2", "3"]
    worker.index_everything()
    assert scalar(connection, "select failed from pgclarify.corpus") == 1
    assert nearest(connection, worker, "Cars.", NEW) == "Cars.", "a passage of its earlier content"
    assert_complete(connection)

    connection.execute(ADD, ["1", "Ships."])
    worker.index_everything()
    assert scalar(connection, "select failed from pgclarify.corpus") == 0
    assert_complete(connection)


@pytest.mark.committed
def test_many_that_are_stuck_hold_up_no_other(connection: Connection, worker: ManualWorker) -> None:
    for number in range(100):
        corpus = f"stuck {number}"
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
        connection.execute("select pgclarify.add_document(%s, '1', 'Cars.')", [corpus])
    worker.index_everything()
    for number in range(100):
        connection.execute(
            "select pgclarify_private.set_embedding_model(caller, %s, %s) from pgclarify_private.caller",
            [f"stuck {number}", NEW],
        )
    worker.open_spaces(DIMENSIONS)
    assert all(worker.advance_spaces())
    while passages := worker.claim_passages():
        for passage in passages:
            worker.fail_passage(passage)
    assert scalar(connection, "select count(*) from pgclarify_private.embedding_space where error is not null") == 100

    begin(connection, worker)
    assert fill(worker) == 4
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


@pytest.mark.committed
def test_dropped_meanwhile(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker)
    passages = worker.claim_passages(max_passages=2)
    with connection.transaction():
        connection.execute("select pgclarify.drop_corpus('insurance')")
        # Until the end of this transaction, the corpus is there.
        assert worker.store_vectors(passages[:1]) == 1
    assert worker.store_vectors(passages) == 0
    assert worker.claim_passages() == []
    assert worker.advance_spaces() == []
    worker.sweep()
    assert (
        scalar(
            connection, "select count(*) from pg_inherits where inhparent = 'pgclarify_private.neighborhood'::regclass"
        )
        == 0
    )


def test_a_large_corpus_is_queued_in_parts(connection: Connection, worker: ManualWorker) -> None:
    for number in range(3):
        content = "\n\n".join(f"Vehicle {number} {part}." for part in range(500))
        connection.execute(ADD, [f"large {number}", content])
    worker.index_everything()
    begin(connection, worker)
    most, stored = 0, 0
    while passages := worker.claim_passages(max_passages=700):
        most = max(most, scalar(connection, "select count(*) from pgclarify_private.pending_passage"))
        stored += worker.store_vectors(passages)
        assert status(connection)[4] == stored
    assert (most, stored) == (1000, 1504)
    assert worker.advance_spaces() == [True]
    assert_complete(connection)
