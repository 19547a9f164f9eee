"""Locks of users and workers at the same time: no session waits for long, and the others continue."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.integration.counts import assert_counts_agree
from tests.integration.editing import worker
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, run_at_once, scalar

__all__ = ["worker"]

ADD = "select pgclarify.add_document('insurance', %s, %s)"
TERMS = "select count(*), count(*) filter (where passages = 0) from pgclarify_private.term"
# More lexemes than a store counts in term itself.
MANY_WORDS = 10_050


def row(connection: Connection, query: str) -> tuple[Any, ...]:
    found = connection.execute(query.encode()).fetchone()
    assert found is not None
    return tuple(found)


class TestClaiming:
    def test_others_do_not_wait_behind_documents_that_a_user_holds(
        self, connection: Connection, connect: Connect, worker: ManualWorker
    ) -> None:
        for number in range(6):
            scalar(connection, ADD, f"old {number}", "Cars.")
        scalar(connection, ADD, "late", "Trucks.")
        user = connect()
        user.execute("begin")
        # Their rows in the queue do not change, because the content does not.
        user.execute(
            "select pgclarify.add_document('insurance', 'old ' || n, 'Cars.', uri => 'x')"
            " from generate_series(0, 5) as n"
        )

        claimed = worker.claim(max_documents=2)

        assert [document["document_id"] for document in claimed] == ["late"]
        user.execute("rollback")
        assert len(worker.claim(max_documents=4)) == 4

    def test_a_corpus_all_of_which_is_held_does_not_hold_up_the_next(
        self, connection: Connection, connect: Connect, worker: ManualWorker
    ) -> None:
        connection.execute("select pgclarify.create_corpus('other')")
        worker.open_spaces()
        scalar(connection, ADD, "1", "Cars.")
        connection.execute("select pgclarify.add_document('other', 'theirs', 'Vans.')")
        user = connect()
        user.execute("begin")
        user.execute("select pgclarify.add_document('insurance', '1', 'Cars.', uri => 'x')")

        assert [document["document_id"] for document in worker.claim()] == ["theirs"]


class TestTerms:
    def test_a_count_below_zero_waits_for_what_makes_up_for_it(
        self, connection: Connection, connect: Connect, worker: ManualWorker
    ) -> None:
        change = "insert into pgclarify_private.term_change values (1, 'van', {})"
        slow = connect()
        slow.execute("begin")
        slow.execute(change.format(1).encode())
        connection.execute(change.format(-1).encode())

        assert worker.value("apply_term_changes") == 1
        assert row(connection, "select lexeme, passages from pgclarify_private.term") == ("van", -1)

        slow.execute("commit")
        assert worker.value("apply_term_changes") == 1
        assert row(connection, TERMS) == (0, 0)
        assert worker.value("apply_term_changes") == 0

    def test_a_corpus_that_was_dropped_is_left_out(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute("select pgclarify.create_corpus('other')")
        connection.execute("insert into pgclarify_private.term_change values (1, 'van', 1), (2, 'van', 1)")
        connection.execute("select pgclarify.drop_corpus('insurance')")

        assert worker.value("apply_term_changes") == 1
        worker.sweep()
        assert row(connection, "select min(corpus_id), count(*) from pgclarify_private.term") == (2, 1)

    def test_an_open_transaction_that_erases_a_document_delays_no_worker(
        self, connection: Connection, connect: Connect, worker: ManualWorker
    ) -> None:
        connection.execute("select pgclarify.create_corpus('other')")
        scalar(connection, ADD, "erased", "Cars.")
        worker.index_everything()
        worker.connection.execute("set lock_timeout = '1s'")
        user = connect()
        user.execute("begin")
        user.execute("select pgclarify.erase_document('insurance', 'erased')")
        # It has the same words, whose counts the open transaction has changed.
        scalar(connection, ADD, "new", "Cars.")

        assert worker.store(worker.claim()) == 1
        connection.execute("insert into pgclarify_private.term_change values (2, 'van', 1)")
        assert worker.value("apply_term_changes") == 1

        user.execute("commit")
        connection.execute("insert into pgclarify_private.term_change values (2, 'van', -1)")
        while worker.value("apply_term_changes"):
            pass
        assert_counts_agree(connection)

    def test_a_long_document_holds_up_nobody(
        self, connection: Connection, worker: ManualWorker, make_worker: MakeWorker
    ) -> None:
        scalar(connection, ADD, "long", " ".join(f"word{number}" for number in range(MANY_WORDS)))
        long_one = worker.claim()
        scalar(connection, ADD, "short", "Just word1 and word2.")
        other = make_worker()
        short_one = other.claim()
        other.connection.execute("set lock_timeout = '1s'")

        worker.connection.execute("begin")
        assert worker.store(long_one) == 1
        assert other.store(short_one) == 1
        worker.connection.execute("commit")

        assert row(connection, TERMS)[0] < 10
        changes = 0
        while applied := worker.value("apply_term_changes"):
            assert applied <= 10_000
            changes += applied
        assert changes == MANY_WORDS
        assert_counts_agree(connection)

    def test_words_come_and_go_at_once(self, connection: Connection, connect: Connect, worker: ManualWorker) -> None:
        """Deleting counts that reach zero loses no count of another session, and does not deadlock."""

        def edit(user: Connection) -> None:
            for turn in range(40):
                words = sorted({f"word{(turn + offset) % 7}" for offset in range(4)})
                for sign in (1, -1):
                    user.execute("select pgclarify_private.count_terms(1, %s, %s, %s)", [words, [sign] * 4, [0] * 4])
                user.execute(
                    "insert into pgclarify_private.term_change"
                    " select 1, word, side from unnest(%s::text[]) as word, unnest(array[1, -1]) as side"
                    " order by random()",
                    [words],
                )
                user.execute("select pgclarify_private.apply_term_changes()")
            user.execute("select pgclarify_private.count_terms(1, '{kept}', '{1}', '{0}')")

        users = [connect() for _ in range(3)]
        assert run_at_once(*(partial(edit, user) for user in users)) == [None] * 3

        while worker.value("apply_term_changes"):
            pass
        assert row(connection, "select min(lexeme), sum(passages), count(*) from pgclarify_private.term") == (
            "kept",
            3,
            1,
        )
