"""Another embedding model for a corpus: filled beside the one that is searched, and switched to in one transaction."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, MakeRole, scalar, state_of, vector_of
from tests.integration.counts import assert_counts_agree

OLD, NEW = "all-MiniLM-L6-v2", "another-model"
DIMENSIONS = 6
SET = "select pgclarify.set_embedding_model('insurance', %s)"
CANCEL = "select pgclarify.cancel_embedding_model('insurance')"
ADD = "select pgclarify.add_document('insurance', %s, %s)"
REMOVE = "select pgclarify.remove_document('insurance', %s)"
WITHOUT_VECTOR = """
    select p.document_id, p.content
    from pgclarify.passage as p
    join pgclarify.corpus on corpus.corpus_id = p.corpus_id
    full join pgclarify_private.passage_embedding as e
        on e.embedding_space_id = corpus.embedding_space_id and e.document_id = p.document_id and e.passage_id = p.id
    where e.embedding_space_id is null
        or p.id is null and e.embedding_space_id in (select c.embedding_space_id from pgclarify.corpus as c)
"""


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker, and corpus "insurance" of three documents with four passages."""
    connection.execute("select pgclarify.create_corpus('insurance')")
    for document_id, content in (("1", "Cars.\n\nTrucks."), ("2", "Boats."), ("3", "Planes.")):
        connection.execute(ADD, [document_id, content])
    worker = hire()
    worker.index_everything()
    return worker


def status(connection: Connection) -> tuple[Any, ...]:
    """embedding_model, passages, embedded, next_embedding_model, next_embedded of corpus "insurance"."""
    row = connection.execute(
        "select embedding_model, passages, embedded, next_embedding_model, next_embedded"
        " from pgclarify.corpus_status where corpus = 'insurance'"
    ).fetchone()
    assert row is not None
    return tuple(row)


def error(connection: Connection) -> str | None:
    text: str | None = scalar(connection, "select error from pgclarify.corpus_status where corpus = 'insurance'")
    return text


def begin(connection: Connection, worker: HandWorker, model: str = NEW, dimensions: int = DIMENSIONS) -> int:
    """Have the model changed, up to where passages can be claimed; the id of the space."""
    space_id: int = scalar(connection, SET, model)
    worker.open_spaces(dimensions)
    assert worker.advance_spaces() == [True]
    return space_id


def fill(worker: HandWorker, max_passages: int = 1000) -> int:
    """Embed all that can be claimed; how many."""
    stored = 0
    while passages := worker.claim_passages(max_passages):
        stored += worker.store_vectors(passages)
    return stored


def let_documents_in(connection: Connection) -> None:
    """Have the minute pass for which documents wait towards the end."""
    connection.execute(
        "update pgclarify.embedding_space set ingestion_held_until = now() where ingestion_held_until is not null"
    )


def assert_complete(connection: Connection, model: str = NEW) -> None:
    """The corpus is searched with a model that every passage, and nothing else, has a vector of."""
    assert status(connection)[0] == model
    assert connection.execute(WITHOUT_VECTOR).fetchall() == []
    assert_counts_agree(connection)


def nearest(connection: Connection, worker: HandWorker, content: str, model: str) -> str:
    """The passage that a dense search for a text finds first, if the question has the vector of that model."""
    submit = "select pgclarify.submit(%s, 'insurance', 1, '{\"search\": \"dense\"}')"
    run_id = scalar(connection, submit, f"{content} with {model}")
    run = worker.start(run_id)
    assert run is not None
    assert run["embedding_model"] == model
    text = content if model == OLD else model + content
    found = worker.retrieve(run_id, vector=vector_of(text, run["dimensions"]), embedding_model=model)
    worker.finish(run_id)
    return str(found[0]["content"])


def test_searches_use_the_old_model_until_the_new_is_complete(connection: Connection, worker: HandWorker) -> None:
    revision = "select revision from pgclarify.corpus_status"
    before = scalar(connection, revision)
    assert isinstance(scalar(connection, SET, NEW), int)
    assert status(connection) == (OLD, 4, 4, NEW, 0)
    worker.open_spaces(DIMENSIONS)
    assert status(connection) == (OLD, 4, 4, NEW, 0)
    assert worker.claim_passages() == [], "not before it is sure that none is missed"
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


def test_the_old_vectors_are_dropped_once_nobody_can_read_them(connection: Connection, worker: HandWorker) -> None:
    old = scalar(connection, "select embedding_space_id from pgclarify.corpus")
    begin(connection, worker)
    fill(worker)
    worker.advance_spaces()
    worker.advance_spaces()
    assert worker.sweep() == [], "who read which space to search a moment ago still searches it"

    connection.execute("update pgclarify.embedding_space set retired_at = retired_at - interval '1 hour'")
    with connection.transaction():
        connection.execute("select from pgclarify.embedding_space where embedding_space_id = %s for key share", [old])
        assert worker.advance_spaces() == [False], "somebody deletes from it"
    while any(worker.advance_spaces()):
        pass
    assert sorted(worker.sweep()) == [
        f"pgclarify_private.neighborhood_{old}",
        f"pgclarify_private.passage_embedding_{old}",
    ]
    assert worker.advance_spaces() == []
    assert_complete(connection)


def test_documents_change_while_it_is_filled(connection: Connection, worker: HandWorker) -> None:
    begin(connection, worker)
    early = worker.claim_passages(max_passages=2)
    let_documents_in(connection)
    connection.execute(ADD, ["0", "Airships."])
    connection.execute(ADD, ["1", "Cars.\n\nBuses."])
    connection.execute(ADD, ["4", "Trains."])
    connection.execute(REMOVE, ["2"])
    worker.index_everything()
    assert worker.store_vectors(early) == 1, "trucks are gone, cars are as they were"
    connection.execute(REMOVE, ["3"])
    assert fill(worker, max_passages=1) == 3
    assert status(connection) == (OLD, 4, 4, NEW, 4)

    assert worker.advance_spaces() == [True]
    assert_complete(connection)
    assert nearest(connection, worker, "Airships.", NEW) == "Airships."
    assert nearest(connection, worker, "Buses.", NEW) == "Buses."


def test_cancelled_half_way_nothing_has_changed(connection: Connection, worker: HandWorker) -> None:
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

    connection.execute("update pgclarify.embedding_space set retired_at = retired_at - interval '1 hour'")
    while any(worker.advance_spaces()):
        pass
    assert sorted(worker.sweep()) == [
        f"pgclarify_private.neighborhood_{new}",
        f"pgclarify_private.passage_embedding_{new}",
    ]
    assert scalar(connection, "select count(*) from pgclarify_private.pending_passage") == 0
    assert scalar(connection, "select count(*) from pgclarify.embedding_space") == 1
    assert_complete(connection, OLD)


def test_asked_for_another_one_meanwhile(connection: Connection, worker: HandWorker) -> None:
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


def test_before_the_first_model_has_been_loaded(connection: Connection, hire: Hire) -> None:
    connection.execute("select pgclarify.create_corpus('insurance', 'no-such-model')")
    connection.execute(ADD, ["1", "Cars."])
    assert not scalar(connection, CANCEL), "there would be none"
    assert isinstance(scalar(connection, SET, NEW), int)
    worker = hire()
    worker.index_everything()
    assert status(connection) == (NEW, 1, 1, None, None)
    assert_complete(connection)


def test_only_the_owner_may(connection: Connection, connect: Connect, make_role: MakeRole, worker: HandWorker) -> None:
    stranger = connect(make_role("pgclarify_user"))
    assert state_of(stranger, SET, [NEW]) == "42501"
    assert state_of(stranger, CANCEL) == "42501"
    assert state_of(connection, SET, [""]) == "22023"
    assert state_of(connection, SET, [None]) == "22023"
    assert state_of(connection, "select pgclarify.set_embedding_model('nowhere', %s)", [NEW]) == "42704"
    assert status(connection) == (OLD, 4, 4, None, None)


def test_a_model_that_cannot_be_had_leaves_the_corpus_as_it_is(connection: Connection, worker: HandWorker) -> None:
    space_id = scalar(connection, SET, "no-such-model")
    worker.send("refuse_space", embedding_space_id=space_id, error="no such model")
    assert error(connection) == "no such model"
    assert nearest(connection, worker, "Boats.", OLD) == "Boats."
    assert scalar(connection, CANCEL)
    assert error(connection) is None


def test_a_model_that_is_no_longer_what_it_was_says_so(connection: Connection, worker: HandWorker) -> None:
    space_id = begin(connection, worker)
    worker.send("refuse_filling", embedding_space_id=space_id, error="other dimensions")
    assert error(connection) == "other dimensions"
    assert scalar(connection, SET, NEW) == space_id
    assert error(connection) is None, "asked for again, it is tried again"

    worker.send("refuse_filling", embedding_space_id=space_id, error="other dimensions")
    fill(worker)
    assert worker.advance_spaces() == [True]
    assert error(connection) is None
    worker.send("refuse_filling", embedding_space_id=space_id, error="too late")
    assert error(connection) is None


def test_a_run_that_embedded_its_question_with_the_old_model_starts_again(
    connection: Connection, worker: HandWorker
) -> None:
    begin(connection, worker, dimensions=4)
    run_id = scalar(connection, "select pgclarify.submit('boats', 'insurance')")
    run = worker.start(run_id)
    assert run is not None
    fill(worker)
    worker.advance_spaces()

    find = "select pgclarify_private.find_passages(%s, 1, '', null, %s, 'lexical', 9, null)"
    assert state_of(worker.connection, find, [run_id, OLD]) is None
    with pytest.raises(psycopg.errors.SerializationFailure):
        worker.retrieve(run_id, vector=vector_of("Boats."), embedding_model=OLD)

    again = worker.start(run_id)
    assert again is not None
    assert (again["attempt"], again["embedding_model"]) == (2, NEW)
    assert worker.retrieve(run_id, attempt=2, vector=vector_of(f"{NEW}Boats."), embedding_model=NEW)


def test_what_is_being_stored_when_it_begins_is_not_missed(
    connection: Connection, worker: HandWorker, hire: Hire
) -> None:
    connection.execute(ADD, ["4", "Trains."])
    other = hire()
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
    assert scalar(connection, "select embedding_space_id from pgclarify.corpus") == space_id
    assert_complete(connection)


def test_what_is_being_stored_at_the_switch_is_embedded_first(
    connection: Connection, worker: HandWorker, hire: Hire
) -> None:
    begin(connection, worker)
    connection.execute(ADD, ["4", "Trains."])
    other = hire()
    documents = other.claim()
    fill(worker)
    with other.connection.transaction():
        other.store(documents)
        assert worker.advance_spaces() == [False]
    assert worker.advance_spaces() == []
    assert fill(worker) == 1
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_what_was_embedded_with_the_old_model_is_not_stored_after_the_switch(
    connection: Connection, worker: HandWorker, hire: Hire
) -> None:
    begin(connection, worker, dimensions=4)
    connection.execute(ADD, ["2", "Ships."])
    other = hire()
    documents = other.claim()
    fill(worker)
    assert [document["embedding_model"] for document in documents] == [OLD]
    assert worker.advance_spaces() == [True]
    assert other.store(documents) == 0
    assert [document["embedding_model"] for document in worker.claim(lease=0)] == [NEW]
    worker.index_everything()
    assert_complete(connection)


def test_what_somebody_is_removing_is_left_out(connection: Connection, worker: HandWorker) -> None:
    begin(connection, worker)
    passages = worker.claim_passages()
    with connection.transaction():
        connection.execute(REMOVE, ["2"])
        assert worker.store_vectors(passages) == 3
        assert worker.advance_spaces() == []
    assert worker.claim_passages() == []
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_what_somebody_is_changing_comes_back(connection: Connection, worker: HandWorker) -> None:
    begin(connection, worker)
    passages = worker.claim_passages()
    with connection.transaction():
        connection.execute(ADD, ["2", "Ships."])
        assert worker.store_vectors(passages) == 3, "its passages may be about to go"
    assert [passage["content"] for passage in worker.claim_passages(lease=0)] == ["Boats."]
    let_documents_in(connection)
    worker.index_everything()
    fill(worker)
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_a_removal_that_is_taken_back(connection: Connection, worker: HandWorker) -> None:
    begin(connection, worker)
    passages = worker.claim_passages()
    connection.execute("begin")
    connection.execute(REMOVE, ["2"])
    worker.store_vectors(passages)
    connection.execute("rollback")
    assert worker.claim_passages() == []
    assert worker.send("release_passages", worker_id=worker.worker_id) == [{"kept": 0}]
    assert fill(worker) == 1
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_two_workers_and_one_that_dies(connection: Connection, worker: HandWorker, hire: Hire) -> None:
    begin(connection, worker)
    dying, slow = hire(), hire()
    lost = dying.claim_passages(max_passages=2)
    assert len(lost) == 2
    assert [passage["content"] for passage in worker.claim_passages(max_passages=1)] == ["Boats."]
    assert worker.send("release_passages", worker_id=worker.worker_id)[0]["kept"] == 0
    late = slow.claim_passages(max_passages=1, lease=0)
    assert len(worker.claim_passages(max_passages=1, skipped_models=[NEW])) == 0
    dying.die()
    assert fill(worker) == 4
    assert slow.store_vectors(late) == 0, "its lease has run out, and another was faster"
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_a_passage_that_cannot_be_embedded(connection: Connection, worker: HandWorker) -> None:
    space_id = begin(connection, worker)
    for attempt in range(3):
        assert error(connection) is None
        (boats,) = [passage for passage in worker.claim_passages(lease=0) if passage["content"] == "Boats."]
        worker.fail_passage(boats)
        assert attempt == 2 or len(worker.claim_passages(lease=0)) == 4
    assert fill(worker) == 3
    assert "the model refuses it" in (error(connection) or "")
    assert "2" not in (error(connection) or ""), "whoever may search may not read every document"
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


def test_documents_of_passages_that_the_new_model_cuts_off_are_indexed_again(
    connection: Connection, worker: HandWorker
) -> None:
    begin(connection, worker)
    worker.store_vectors(worker.claim_passages(max_passages=1), are_cut_off=True)
    worker.store_vectors(worker.claim_passages(max_passages=2))
    worker.store_vectors(worker.claim_passages(max_passages=1), are_cut_off=True)
    pending = "select pending from pgclarify.corpus_status"
    assert scalar(connection, pending) == 0
    connection.execute(REMOVE, ["3"])
    while any(worker.advance_spaces()):
        pass
    assert scalar(connection, pending) == 1
    assert [(one["document_id"], one["embedding_model"]) for one in worker.claim(lease=0)] == [("1", NEW)]
    worker.index_everything()
    assert worker.advance_spaces() == []
    assert_complete(connection)


def test_a_document_that_somebody_is_editing_is_cut_anew_later(connection: Connection, worker: HandWorker) -> None:
    begin(connection, worker, dimensions=4)
    while passages := worker.claim_passages():
        worker.store_vectors(passages, are_cut_off=True)
    assert worker.advance_spaces() == [True]
    worker.connection.execute("set lock_timeout = '100ms'")
    cut = "select min(document_id) from pgclarify_private.pending_cut"
    with connection.transaction():
        connection.execute(ADD, ["2", "Ships."])
        assert worker.advance_spaces() == [True], "it waits for nobody"
        assert worker.advance_spaces() == [False]
        assert scalar(connection, cut) == "2"
    worker.connection.execute("set lock_timeout = 0")
    while any(worker.advance_spaces()):
        pass
    assert scalar(connection, cut) is None
    worker.index_everything()
    assert worker.advance_spaces() == []
    assert_complete(connection)


def test_many_that_are_stuck_hold_up_no_other(connection: Connection, worker: HandWorker) -> None:
    for number in range(100):
        corpus = f"stuck {number}"
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
        connection.execute("select pgclarify.add_document(%s, '1', 'Cars.')", [corpus])
    worker.index_everything()
    for number in range(100):
        connection.execute("select pgclarify.set_embedding_model(%s, %s)", [f"stuck {number}", NEW])
    worker.open_spaces(DIMENSIONS)
    assert all(worker.advance_spaces())
    while passages := worker.claim_passages():
        for passage in passages:
            worker.fail_passage(passage)
    assert scalar(connection, "select count(*) from pgclarify.embedding_space where error is not null") == 100

    begin(connection, worker)
    assert fill(worker) == 4
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_dropped_meanwhile(connection: Connection, worker: HandWorker) -> None:
    begin(connection, worker)
    passages = worker.claim_passages(max_passages=2)
    with connection.transaction():
        connection.execute("select pgclarify.drop_corpus('insurance')")
        assert worker.store_vectors(passages) == 0
        assert worker.claim_passages() == []
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


def test_a_large_corpus_is_queued_in_parts(connection: Connection, worker: HandWorker) -> None:
    for number in range(5):
        content = "\n\n".join(f"Vehicle {number} {part}." for part in range(500))
        connection.execute(ADD, [f"large {number}", content])
    worker.index_everything()
    begin(connection, worker)
    most, stored = 0, 0
    while passages := worker.claim_passages(max_passages=700):
        most = max(most, scalar(connection, "select count(*) from pgclarify_private.pending_passage"))
        stored += worker.store_vectors(passages)
        assert status(connection)[4] == stored
    assert (most, stored) == (1000, 2504)
    assert worker.advance_spaces() == [True]
    assert_complete(connection)


def test_documents_wait_a_moment_towards_the_end(connection: Connection, worker: HandWorker) -> None:
    begin(connection, worker, dimensions=4)
    connection.execute(ADD, ["4", "Trains."])
    assert len(worker.claim(lease=0)) == 1
    worker.store_vectors(worker.claim_passages(max_passages=2))
    passages = worker.claim_passages()
    assert len(passages) == 2
    assert worker.claim() == [], "with many workers, something would always be on its way"
    worker.store_vectors(passages)
    assert worker.advance_spaces() == [True]
    assert [document["embedding_model"] for document in worker.claim(lease=0)] == [NEW]
    worker.index_everything()
    assert_complete(connection)


def test_documents_do_not_wait_for_what_does_not_come(connection: Connection, worker: HandWorker) -> None:
    begin(connection, worker)
    worker.claim_passages()
    connection.execute(ADD, ["4", "Trains."])
    assert worker.claim() == []
    let_documents_in(connection)
    worker.index_everything()
    assert status(connection) == (OLD, 5, 5, NEW, 0)
    worker.claim_passages()
    connection.execute(ADD, ["5", "Trams."])
    assert len(worker.claim()) == 1, "not again for a while"


def test_filled_and_switched_by_many_while_documents_come_and_go(
    connection: Connection, connect: Connect, worker: HandWorker, hire: Hire
) -> None:
    is_over = Event()

    def change(first: int) -> None:
        own = connect()
        for number in range(first, first + 60):
            own.execute(ADD, [str(number % 12), f"Vehicle {number}.\n\nIts wheels: {number % 4}."])
            if number % 5 == 0:
                own.execute(REMOVE, [str((number + 3) % 12)])

    def index(other: HandWorker) -> None:
        for _ in range(60):
            if documents := other.claim(max_documents=3):
                other.store(documents)
            other.send("fold_tallies")

    def embed(other: HandWorker) -> None:
        while not is_over.is_set():
            if passages := other.claim_passages(max_passages=3):
                other.store_vectors(passages)
            else:
                other.send("release_passages", worker_id=other.worker_id)
            other.advance_spaces()

    def ask_for_others(other: HandWorker) -> None:
        own, number = connect(), 0
        while not is_over.is_set():
            let_documents_in(own)
            if status(own)[3] is None:
                number += 1
                own.execute(SET, [f"model-{number}"])
            other.open_spaces()

    workers = [hire() for _ in range(6)]
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
    while scalar(connection, "select embedding_space_id from pgclarify.corpus") != last:
        worker.index_everything()
        fill(worker)
        worker.advance_spaces()
    worker.index_everything()
    assert_complete(connection, "the-last-one")
