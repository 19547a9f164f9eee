"""Erasing a document while other transactions are open."""

from __future__ import annotations

import re

import psycopg
import pytest

from tests.integration.erasing import CORPUS, OPEN, SECRET, alice, carry_out, erase, places, submit, worker
from tests.integration.manual_worker import ManualWorker
from tests.sessions import Connect, Connection, scalar, sqlstate_of

__all__ = ["alice", "worker"]

BUSY = "55P03"
# The test fails instead of waiting without an end. Erasing has a limit of its own.
IMPATIENT = "set lock_timeout = '5s'"
# For tests that wait for the end of that limit, which is 1.9 s.
SHORTEN = "alter function pgclarify_private.erase_document set lock_timeout = '300ms'"


def named_processes(refused: pytest.ExceptionInfo[psycopg.Error]) -> set[int]:
    assert refused.value.sqlstate == BUSY
    return {int(number) for number in re.findall(r"process (\d+)", refused.value.diag.message_detail or "")}


def test_erasing_does_not_wait_for_questions_or_changes_of_other_documents(
    alice: Connection, worker: ManualWorker, connection: Connection, connect: Connect
) -> None:
    carry_out(alice, worker)
    asker = connect(alice.info.user)
    alice.execute(IMPATIENT)
    with asker.transaction():
        for call in (
            "search('cars', 'insurance', options => '{\"method\": \"lexical\"}')",
            "submit('clarify', 'cars', 'insurance')",
            "result(1)",
            "add_document('insurance', 'new', 'Boats.')",
            "remove_document('insurance', 'open')",
        ):
            asker.execute(f"select pgclarify.{call}".encode())

        assert erase(alice)

    worker.send("apply_term_changes")
    assert places(connection) == set()
    assert scalar(connection, "select count(*) from pgclarify_private.term where passages < 0") == 0


@pytest.mark.parametrize(
    "statement",
    [
        "select pgclarify.add_document('insurance', 'secret', 'Boats.')",
        "select pgclarify.remove_document('insurance', 'secret')",
        "select pgclarify.cancel(array[2])",
        "select pgclarify.erase_document('insurance', 'open')",
        "select pgclarify.drop_corpus('insurance')",
        "select pgclarify.give_feedback(1, 1, 'right')",
        "select pgclarify.give_feedback(1, missing => 'Thirteen.')",
    ],
)
def test_erasing_names_the_process_that_blocks_it(
    alice: Connection, worker: ManualWorker, connection: Connection, connect: Connect, statement: str
) -> None:
    connection.execute(SHORTEN)
    carry_out(alice, worker)
    assert worker.start(submit(alice, "boats")) is not None
    asker, other = (connect(alice.info.user) for _ in range(2))
    for impatient in (alice, other):
        impatient.execute(IMPATIENT)
    with asker.transaction(), other.transaction():
        # drop_corpus waits for transactions that have asked the corpus.
        if "drop_corpus" not in statement:
            asker.execute("select pgclarify.submit('clarify', 'vans', %s)", [CORPUS])
        other.execute(statement.encode())

        with pytest.raises(psycopg.Error) as refused:
            erase(alice)

        # The other one has asked the corpus: it has locks, too.
        assert other.info.backend_pid in named_processes(refused) <= {other.info.backend_pid, asker.info.backend_pid}


def test_erasing_names_the_process_that_locks_a_table(
    alice: Connection, worker: ManualWorker, connection: Connection
) -> None:
    connection.execute(SHORTEN)
    carry_out(alice, worker)
    alice.execute(IMPATIENT)
    with connection.transaction():
        connection.execute("lock table pgclarify_private.citation in share mode")

        with pytest.raises(psycopg.Error) as refused:
            erase(alice)

        assert named_processes(refused) == {connection.info.backend_pid}


def test_a_run_that_was_submitted_meanwhile_starts_after_it(
    alice: Connection, worker: ManualWorker, connect: Connect
) -> None:
    asker = connect(alice.info.user)
    asker.execute(IMPATIENT)
    with alice.transaction():
        assert erase(alice)

        run_id = submit(asker, "cars")
        with pytest.raises(psycopg.Error) as refused:
            worker.start(run_id)

    assert refused.value.sqlstate == BUSY
    assert worker.start(run_id) is not None
    assert [row["document_id"] for row in worker.retrieve(run_id, question="cars")] == [OPEN]


def test_a_worker_goes_on_indexing_other_documents_meanwhile(
    alice: Connection, worker: ManualWorker, connection: Connection
) -> None:
    alice.execute("select pgclarify.add_document(%s, 'new', 'Boats.')", [CORPUS])
    with alice.transaction():
        assert erase(alice, SECRET)

        claimed = worker.claim()
        assert len(claimed) == 1
        worker.store(claimed)

    (document_ids,) = connection.execute(
        "select array_agg(document_id order by document_id) from pgclarify.passage"
    ).fetchone() or ([],)
    assert document_ids == ["new", OPEN]


@pytest.mark.parametrize("given", ["1, 1, 'right'", "1, missing => 'Thirteen.'"])
def test_a_rating_waits_for_it_and_finds_what_it_leaves(
    alice: Connection, worker: ManualWorker, connection: Connection, connect: Connect, given: str
) -> None:
    carry_out(alice, worker)
    rater = connect(alice.info.user)
    rater.execute("set lock_timeout = '300ms'")
    statement = f"select pgclarify.give_feedback({given})"
    with alice.transaction():
        assert erase(alice)
        assert sqlstate_of(rater, statement) == BUSY

    assert scalar(rater, statement)
    assert places(connection) == set()


@pytest.mark.parametrize("document_id", [SECRET, OPEN])
def test_a_transaction_that_saw_the_text_before_stores_no_rating_after_it(
    alice: Connection, worker: ManualWorker, connection: Connection, connect: Connect, document_id: str
) -> None:
    carry_out(alice, worker)
    rater = connect(alice.info.user)
    with rater.transaction(force_rollback=True):
        rater.execute("set transaction isolation level repeatable read")
        assert scalar(rater, "select count(*) from pgclarify.interpretation") == 2
        assert erase(alice, document_id)
        for given in ("1, 1, 'right'", "1, missing => 'Thirteen.'"):
            assert sqlstate_of(rater, f"select pgclarify.give_feedback({given})") == "40001"
    assert scalar(connection, "select count(*) from pgclarify_private.feedback") == 0
