"""A change of model while workers lock the corpus most of the time: it asks them for a short pause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.integration.changing_model import ADD, DIMENSIONS, NEW, SET, fill
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, scalar

HOLD = "select from pgclarify_private.corpus where name = 'insurance' for key share"
IS_PAUSED = "select pgclarify_private.is_paused(corpus_id) from pgclarify.corpus where corpus = 'insurance'"
PAUSES = "select count(paused_until) from pgclarify_private.embedding_space"


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker, and corpus "insurance" of two documents."""
    connection.execute("select pgclarify.create_corpus('insurance')")
    for document_id, content in (("1", "Cars.\n\nTrucks."), ("2", "Boats.")):
        connection.execute(ADD, [document_id, content])
    worker = make_worker()
    worker.index_everything()
    return worker


@contextmanager
def held(connect: Connect) -> Iterator[None]:
    """Locked, like a corpus during a write."""
    other = connect()
    with other.transaction():
        other.execute(HOLD)
        yield


def pass_on(connection: Connection, interval: str) -> None:
    """Move the start of the pause back by an interval."""
    connection.execute(
        "update pgclarify_private.embedding_space set paused_until = paused_until - %s::interval", [interval]
    )


@pytest.mark.parametrize("is_filled", [False, True])
def test_a_change_asks_for_a_pause_before_it_begins_and_before_the_switch(
    connection: Connection, connect: Connect, worker: ManualWorker, is_filled: bool
) -> None:
    scalar(connection, SET, NEW)
    worker.open_spaces(DIMENSIONS)
    if is_filled:
        assert worker.advance_spaces() == [True]
        fill(worker)
    assert not scalar(connection, IS_PAUSED) or is_filled
    with held(connect):
        assert worker.advance_spaces() == [False]
        assert scalar(connection, IS_PAUSED)
    assert worker.advance_spaces() == [True]
    assert not scalar(connection, IS_PAUSED)


def test_workers_begin_nothing_meanwhile(connection: Connection, connect: Connect, worker: ManualWorker) -> None:
    connection.execute("create table public.note (id bigint primary key, body text)")
    connection.execute(
        "select pgclarify.attach_table('insurance', 'public.note', id_column => 'id', content_column => 'body')"
    )
    worker.follow_everything()
    scalar(connection, SET, NEW)
    worker.open_spaces(DIMENSIONS)
    connection.execute(ADD, ["3", "Trains."])
    connection.execute("insert into public.note values (1, 'Trams.')")
    connection.execute("select pgclarify.alter_corpus('insurance', jsonb_build_object('graph', 'rebuild'))")

    def begun() -> tuple[int, int, bool]:
        """How many documents, attached tables and passages to link a worker starts on."""
        linked = worker.value("link_passages", max_passages=10)
        return len(worker.claim(lease=0)), len(worker.send("waiting_sources")), linked > 0

    with held(connect):
        assert worker.advance_spaces() == [False]
        assert begun() == (0, 0, False)
    assert worker.advance_spaces() == [True]
    assert begun() == (1, 1, True)


def test_not_for_long_and_not_again_at_once(connection: Connection, connect: Connect, worker: ManualWorker) -> None:
    scalar(connection, SET, NEW)
    worker.open_spaces(DIMENSIONS)
    with held(connect):
        worker.advance_spaces()
        assert scalar(connection, IS_PAUSED)
        pass_on(connection, "11 seconds")
        assert not scalar(connection, IS_PAUSED)
        worker.advance_spaces()
        assert not scalar(connection, IS_PAUSED), "a user's transaction may be long"
        pass_on(connection, "1 minute")
        worker.advance_spaces()
        assert scalar(connection, IS_PAUSED)


def test_cancelling_a_change_ends_its_pause(connection: Connection, connect: Connect, worker: ManualWorker) -> None:
    scalar(connection, SET, NEW)
    worker.open_spaces(DIMENSIONS)
    with held(connect):
        worker.advance_spaces()
    scalar(connection, """select pgclarify.alter_corpus('insurance', '{"embedding_model": null}')""")
    assert not scalar(connection, IS_PAUSED)
    assert scalar(connection, PAUSES) == 0
