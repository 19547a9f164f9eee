"""A change of the embedding model while documents change, and by several workers at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

from psycopg.errors import LockNotAvailable

from tests.integration.changing_model import (
    ADD,
    DIMENSIONS,
    NEW,
    OLD,
    REMOVE,
    SET,
    assert_complete,
    begin,
    fill,
    let_documents_in,
    nearest,
    status,
    worker,
)
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, scalar

__all__ = ["worker"]


def test_documents_change_while_it_is_filled(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker)
    early = worker.claim_passages(max_passages=2)
    let_documents_in(connection)
    connection.execute(ADD, ["0", "Airships."])
    connection.execute(ADD, ["1", "Cars.\n\nBuses."])
    connection.execute(ADD, ["4", "Trains."])
    connection.execute(REMOVE, ["2"])
    worker.index_everything()
    assert worker.store_vectors(early) == 1, "trucks were removed, cars are unchanged"
    connection.execute(REMOVE, ["3"])
    assert fill(worker, max_passages=1) == 3
    assert status(connection) == (OLD, 4, 4, NEW, 4)
    # Its vectors are in both spaces.
    connection.execute(REMOVE, ["4"])

    assert worker.advance_spaces() == [True]
    assert_complete(connection)
    assert nearest(connection, worker, "Airships.", NEW) == "Airships."
    assert nearest(connection, worker, "Buses.", NEW) == "Buses."


def test_documents_stored_while_a_change_begins_are_embedded(
    connection: Connection, worker: ManualWorker, make_worker: MakeWorker
) -> None:
    connection.execute(ADD, ["4", "Trains."])
    other = make_worker()
    documents = other.claim()
    space_id = scalar(connection, SET, NEW)
    with other.connection.transaction():
        other.store(documents)
        worker.open_spaces(DIMENSIONS)
        assert worker.advance_spaces() == [False]
        assert worker.claim_passages() == []
    assert worker.advance_spaces() == [True]
    assert fill(worker) == 5
    assert worker.advance_spaces() == [True]
    assert scalar(connection, "select embedding_space_id from pgclarify_private.corpus") == space_id
    assert_complete(connection)


def test_the_switch_waits_for_documents_that_are_being_stored(
    connection: Connection, worker: ManualWorker, make_worker: MakeWorker
) -> None:
    begin(connection, worker)
    connection.execute(ADD, ["4", "Trains."])
    other = make_worker()
    documents = other.claim()
    fill(worker)
    with other.connection.transaction():
        other.store(documents)
        assert worker.advance_spaces() == [False]
    assert worker.advance_spaces() == []
    assert fill(worker) == 1
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_vectors_of_the_old_model_are_refused_after_the_switch(
    connection: Connection, worker: ManualWorker, make_worker: MakeWorker
) -> None:
    begin(connection, worker, dimensions=4)
    connection.execute(ADD, ["2", "Ships."])
    other = make_worker()
    documents = other.claim()
    fill(worker)
    assert [document["embedding_model"] for document in documents] == [OLD]
    assert worker.advance_spaces() == [True]
    assert other.store(documents) == 0
    assert [document["embedding_model"] for document in worker.claim(lease=0)] == [NEW]
    worker.index_everything()
    assert_complete(connection)


def test_passages_that_are_being_removed_are_left_out(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker)
    passages = worker.claim_passages()
    with connection.transaction():
        connection.execute(REMOVE, ["2"])
        assert worker.store_vectors(passages) == 3
        assert worker.advance_spaces() == []
    assert worker.claim_passages() == []
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_passages_of_a_changed_document_are_claimed_again(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker)
    passages = worker.claim_passages()
    with connection.transaction():
        connection.execute(ADD, ["2", "Ships."])
        assert worker.store_vectors(passages) == 3, "a transaction may be removing its passages"
    assert [passage["content"] for passage in worker.claim_passages(lease=0)] == ["Boats."]
    let_documents_in(connection)
    worker.index_everything()
    fill(worker)
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_a_vector_that_is_not_stored_keeps_the_rest_of_the_claim(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker)
    by_document = {passage["document_id"]: passage for passage in worker.claim_passages()}
    with connection.transaction():
        connection.execute(REMOVE, ["2"])
        assert worker.store_vectors([by_document["2"]]) == 0
    assert worker.store_vectors([by_document["3"]]) == 1
    assert worker.store_vectors([by_document["1"]]) == 1


def test_a_passage_that_fails_does_not_wait_for_a_user(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker)
    (first, *_) = passages = worker.claim_passages()
    for _ in range(2):
        worker.fail_passage(first)
        passages += worker.claim_passages()
    assert len(passages) == 6, "leased for the third time"
    worker.connection.execute("set lock_timeout = '100ms'")
    attempts = "select max(attempts) from pgclarify_private.pending_passage"
    with connection.transaction():
        connection.execute(SET, [NEW])
        worker.fail_passage(first)
    assert scalar(connection, attempts) == 0, "a new request is a new try"
    worker.fail_passage(first)
    assert scalar(connection, attempts) == 1


def test_a_passage_that_fails_while_it_is_being_removed_does_not_prevent_the_switch(
    connection: Connection, worker: ManualWorker
) -> None:
    """The removal does not see the passage in the queue, because it is queued later."""
    begin(connection, worker)
    with connection.transaction():
        connection.execute(REMOVE, ["2"])
        for _ in range(3):
            by_document = {passage["document_id"]: passage for passage in worker.claim_passages(lease=0)}
            worker.fail_passage(by_document["2"])
    worker.store_vectors(worker.claim_passages(lease=0))
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_a_removal_that_is_taken_back(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker)
    passages = worker.claim_passages()
    connection.execute("begin")
    connection.execute(REMOVE, ["2"])
    worker.store_vectors(passages)
    connection.execute("rollback")
    assert worker.claim_passages() == []
    assert worker.value("release_passages", worker_id=worker.worker_id) == 0
    assert fill(worker) == 1
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_two_workers_and_one_that_dies(connection: Connection, worker: ManualWorker, make_worker: MakeWorker) -> None:
    begin(connection, worker)
    dying, slow = make_worker(), make_worker()
    lost = dying.claim_passages(max_passages=2)
    assert len(lost) == 2
    assert [passage["content"] for passage in worker.claim_passages(max_passages=1)] == ["Boats."]
    assert worker.value("release_passages", worker_id=worker.worker_id) == 0
    late = slow.claim_passages(max_passages=1, lease=0)
    assert len(worker.claim_passages(max_passages=1, skipped_models=[NEW])) == 0
    dying.die()
    assert fill(worker) == 4
    assert slow.store_vectors(late) == 0, "its lease has expired, and another worker was faster"
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_documents_wait_a_moment_towards_the_end(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker, dimensions=4)
    connection.execute(ADD, ["4", "Trains."])
    assert len(worker.claim(lease=0)) == 1
    worker.store_vectors(worker.claim_passages(max_passages=2))
    passages = worker.claim_passages()
    assert len(passages) == 2
    assert worker.claim() == [], "with many workers, some document would always be in progress"
    worker.store_vectors(passages)
    assert worker.advance_spaces() == [True]
    assert [document["embedding_model"] for document in worker.claim(lease=0)] == [NEW]
    worker.index_everything()
    assert_complete(connection)


def test_documents_do_not_wait_for_what_does_not_come(connection: Connection, worker: ManualWorker) -> None:
    begin(connection, worker)
    worker.claim_passages()
    connection.execute(ADD, ["4", "Trains."])
    assert worker.claim() == []
    let_documents_in(connection)
    worker.index_everything()
    assert status(connection) == (OLD, 5, 5, NEW, 0)
    worker.claim_passages()
    connection.execute(ADD, ["5", "Trams."])
    assert len(worker.claim()) == 1, "it is not tried again for a while"


def test_filled_and_switched_by_many_while_documents_come_and_go(
    connection: Connection, connect: Connect, worker: ManualWorker, make_worker: MakeWorker
) -> None:
    is_over = Event()

    def change(first: int) -> None:
        own = connect()
        for number in range(first, first + 60):
            own.execute(ADD, [str(number % 12), f"Vehicle {number}.\n\nIts wheels: {number % 4}."])
            if number % 5 == 0:
                own.execute(REMOVE, [str((number + 3) % 12)])

    def index(other: ManualWorker) -> None:
        for _ in range(60):
            if documents := other.claim(max_documents=3):
                # While a space is switched, nothing is stored. The lease of a dead worker ends.
                with suppress(LockNotAvailable):
                    other.store(documents)
            other.send("fold_tallies")

    def embed(other: ManualWorker) -> None:
        while not is_over.is_set():
            if passages := other.claim_passages(max_passages=3):
                other.store_vectors(passages)
            else:
                other.send("release_passages", worker_id=other.worker_id)
            other.advance_spaces()

    def ask_for_others(other: ManualWorker) -> None:
        own, number = connect(), 0
        while not is_over.is_set():
            let_documents_in(own)
            if status(own)[3] is None:
                number += 1
                own.execute(SET, [f"model-{number}"])
            other.open_spaces()

    workers = [make_worker() for _ in range(6)]
    with ThreadPoolExecutor(8) as pool:
        goings = [pool.submit(embed, other) for other in workers[:3]] + [pool.submit(ask_for_others, workers[3])]
        comings = [pool.submit(change, first) for first in (0, 40)]
        comings += [pool.submit(index, other) for other in workers[4:]]
        try:
            for done in comings:
                done.result()
        finally:
            is_over.set()
        for done in goings:
            done.result()

    last = scalar(connection, SET, "the-last-one")
    worker.open_spaces()
    for other in workers:
        other.die()
    let_documents_in(connection)
    while scalar(connection, "select embedding_space_id from pgclarify_private.corpus") != last:
        worker.index_everything()
        fill(worker)
        worker.advance_spaces()
    worker.index_everything()
    assert_complete(connection, "the-last-one")
