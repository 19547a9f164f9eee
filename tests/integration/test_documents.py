"""Documents are added, changed, indexed and removed, and counts always agree."""

from __future__ import annotations

import json
from datetime import timedelta

import psycopg
import pytest

from tests.integration.counts import assert_counts_agree
from tests.integration.editing import worker
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connection, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["worker"]

INVALID_PARAMETER = "22023"
ADD = "select pgclarify.add_document('insurance', %s, %s)"


def status(connection: Connection) -> tuple[int, ...]:
    """documents, passages, pending, embedded, failed of corpus "insurance"."""
    row = connection.execute(
        "select documents, passages, pending, embedded, failed from pgclarify.corpus where corpus = 'insurance'"
    ).fetchone()
    assert row is not None
    return tuple(row)


def contents(connection: Connection) -> list[tuple[str, str]]:
    return connection.execute(
        "select document_id, content from pgclarify.passage order by document_id, ordinal"
    ).fetchall()


class TestAdding:
    def test_new_content_waits_until_it_is_indexed(self, connection: Connection, worker: ManualWorker) -> None:
        assert scalar(connection, ADD, "1", "Cars are insured.\n\nTrucks are not.")
        assert status(connection) == (1, 0, 1, 0, 0)
        assert scalar(connection, "select lag >= interval '0' from pgclarify.corpus")

        worker.index_everything()

        assert status(connection) == (1, 2, 0, 2, 0)
        assert scalar(connection, "select lag from pgclarify.corpus") is None
        assert contents(connection) == [("1", "Cars are insured."), ("1", "Trucks are not.")]
        assert_counts_agree(connection)

    def test_the_same_again_changes_nothing(self, connection: Connection, worker: ManualWorker) -> None:
        everything = (
            "select pgclarify.add_document('insurance', '1', 'Cars.', 'Title', 'http://a', '{\"a\": 1}', '{boss}')"
        )
        assert scalar(connection, everything)
        worker.index_everything()
        before = connection.execute("select xmin, * from pgclarify_private.document").fetchall()
        revision = scalar(connection, "select revision from pgclarify.corpus")

        assert not scalar(connection, everything)

        assert connection.execute("select xmin, * from pgclarify_private.document").fetchall() == before
        assert scalar(connection, "select revision from pgclarify.corpus") == revision
        assert worker.claim() == []

    def test_a_new_uri_or_metadata_is_not_new_content(self, connection: Connection, worker: ManualWorker) -> None:
        scalar(connection, ADD, "1", "Cars.")
        worker.index_everything()

        assert scalar(
            connection, "select pgclarify.add_document('insurance', '1', 'Cars.', null, 'http://b', '{\"b\": 2}')"
        )

        assert status(connection) == (1, 1, 0, 1, 0)
        assert connection.execute("select uri, metadata from pgclarify.document").fetchall() == [("http://b", {"b": 2})]

    def test_more_readers_than_each_passage_can_have_are_refused(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        add = "select pgclarify.add_document('insurance', '1', 'Cars.', readers => array_fill('a'::name, array[%s]))"

        assert sqlstate_of(connection, add, [1001]) == "54000"
        assert sqlstate_of(connection, add, [1000]) is None

    def test_what_each_citation_has_is_not_endless(self, connection: Connection, worker: ManualWorker) -> None:
        add = "select pgclarify.add_document('insurance', '1', 'Cars.', uri => repeat('x', %s), metadata => %s)"
        small, large = '{"a": 1}', json.dumps({"a": "x" * 1_000_000})

        assert sqlstate_of(connection, add, [10_001, small]) == "54000"
        assert sqlstate_of(connection, add, [10_000, large]) == "54000"
        assert sqlstate_of(connection, add, [10_000, small]) is None

    def test_an_endless_title_is_cut(self, connection: Connection, worker: ManualWorker) -> None:
        # It is read again with each passage: a worker would need its memory a thousand times.
        add = "select pgclarify.add_document('insurance', '1', 'Cars.', repeat('x', 2000))"

        assert scalar(connection, add)

        assert scalar(connection, "select length(title) from pgclarify.document") == 1000
        assert not scalar(connection, add)

    def test_a_reader_that_is_no_role_is_told(self, connection: Connection, worker: ManualWorker) -> None:
        told: list[str | None] = []
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
        for readers in (["pgclarify_user"], ["pgclarify_user", "no such role", None]):
            connection.execute("select pgclarify.add_document('insurance', '1', 'Cars.', readers => %s)", [readers])
        assert told == ['no role is named "no such role"']

    @parametrize_in_one_test(
        "arguments",
        [
            "'', 'Cars.'",
            "null, 'Cars.'",
            "repeat('x', 1001), 'Cars.'",
            "'1', ''",
            "'1', e' \\t\\r\\n\\f\\x0b'",
            "'1', null",
            "'1', 'Cars.', metadata => '[]'",
            "'1', 'Cars.', metadata => '\"a\"'",
        ],
    )
    def test_a_wrong_document_is_refused(self, connection: Connection, worker: ManualWorker, arguments: str) -> None:
        assert sqlstate_of(connection, f"select pgclarify.add_document('insurance', {arguments})") == INVALID_PARAMETER
        assert status(connection) == (0, 0, 0, 0, 0)

    @parametrize_in_one_test("document_id", ["a'b", 'a"b', "a\\b", "a b", "é", "$1", "%s", "x" * 1000])
    def test_ids_and_contents_are_any_text(
        self, connection: Connection, worker: ManualWorker, document_id: str
    ) -> None:
        content = f'It\'s "quoted" \\ $1 %s {document_id}'

        scalar(connection, ADD, document_id, content)
        worker.index_everything()

        assert contents(connection) == [(document_id, content)]
        assert_counts_agree(connection)
        assert scalar(connection, "select pgclarify.remove_document('insurance', %s)", document_id)
        assert_counts_agree(connection)


class TestRemoving:
    def test_is_at_once(self, connection: Connection, worker: ManualWorker) -> None:
        for document_id in ("1", "2"):
            scalar(connection, ADD, document_id, "Cars are insured.")
        worker.index_everything()

        assert scalar(connection, "select pgclarify.remove_document('insurance', '1')")
        assert not scalar(connection, "select pgclarify.remove_document('insurance', '1')")

        assert status(connection) == (1, 1, 0, 1, 0)
        assert contents(connection) == [("2", "Cars are insured.")]
        assert_counts_agree(connection)
        worker.send("apply_term_changes")
        assert connection.execute("select lexeme, passages from pgclarify_private.term order by 1").fetchall() == [
            ("car", 1),
            ("insur", 1),
        ]
        assert scalar(connection, "select count(*) from pgclarify_private.term_change") == 0


class TestIndexing:
    def test_a_claim_in_a_new_corpus_reads_no_document_many_times(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        add = "select count(pgclarify.add_document(%s, n::text, 'Hail.')) from generate_series(1, 300) as n"
        read = (
            "select sum(seq_tup_read + idx_tup_fetch) from pg_stat_xact_user_tables"
            " where relname in ('document', 'pending_document')"
        )
        connection.execute(add, ["insurance"])
        # The statistics know the first corpus alone.
        connection.execute("analyze pgclarify_private.document, pgclarify_private.pending_document")
        first = scalar(connection, "select corpus_id from pgclarify.corpus")
        connection.execute("select pgclarify.create_corpus('new')")
        worker.open_spaces()
        connection.execute(add, ["new"])

        before = scalar(connection, read)
        assert len(worker.claim(max_documents=50, after_corpus_id=first)) == 50
        assert scalar(connection, read) - before < 50 * 20

    def test_a_claim_is_bounded_by_characters_and_never_empty(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        for number in range(4):
            scalar(connection, ADD, str(number), "x" * 100)

        assert [len(worker.claim(max_chars=chars)) for chars in (10, 150, 1)] == [1, 2, 1]

    def test_a_claim_does_not_read_documents_that_it_does_not_lease(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        text = "select string_agg(md5(n::text), ' ') from generate_series(1, 2000) as n"
        for number in range(4):
            scalar(connection, f"select pgclarify.add_document('insurance', %s, ({text}))", str(number))
        read = (
            "select seq_tup_read + idx_tup_fetch from pg_stat_xact_sys_tables"
            " where relid = (select reltoastrelid from pg_class where oid = 'pgclarify_private.document'::regclass)"
        )

        before = scalar(connection, read)
        assert len(worker.claim(max_chars=1)) == 1
        of_one = scalar(connection, read) - before
        scalar(connection, "select length(md5(content)) from pgclarify.document limit 1")

        # The content of the leased document is sent.
        assert 0 < of_one == scalar(connection, read) - before - of_one

    def test_corpora_take_turns_however_much_waits_in_one(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute("select pgclarify.create_corpus('older'), pgclarify.create_corpus('closed')")
        for corpus in ("closed", "older", "older", "older", "insurance", "insurance"):
            connection.execute("select pgclarify.add_document(%s, gen_random_uuid()::text, 'Cars.')", [corpus])
        spaces = {space["embedding_space_id"]: space for space in worker.send("building_spaces")}
        worker.send("open_space", embedding_space_id=min(spaces), dimensions=4)

        turns: list[int] = []
        while claimed := worker.claim(max_documents=1, after_corpus_id=turns[-1] if turns else 0):
            turns.append(claimed[0]["corpus_id"])

        # One corpus at a time. A corpus whose model no worker has loaded waits.
        assert turns == [1, 2, 1, 2, 2]

    @pytest.mark.committed
    def test_the_leases_of_a_dead_worker_are_free(
        self, connection: Connection, worker: ManualWorker, make_worker: MakeWorker
    ) -> None:
        scalar(connection, ADD, "1", "Cars.")
        dying = make_worker()
        assert len(dying.claim()) == 1
        assert worker.claim() == []

        dying.die()

        documents = worker.claim()
        assert worker.store(documents) == 1
        assert status(connection) == (1, 1, 0, 1, 0)

    def test_a_worker_that_still_embeds_keeps_its_documents(
        self, connection: Connection, worker: ManualWorker, make_worker: MakeWorker
    ) -> None:
        scalar(connection, ADD, "1", "Cars are insured.")
        (claimed,) = worker.claim(lease=-1)
        given = {
            "corpus_id": claimed["corpus_id"],
            "document_ids": ["1"],
            "content_hashes": [claimed["content_hash"]],
            "lease": timedelta(minutes=1),
        }
        assert worker.send("leased_documents", worker_id=worker.worker_id, **given) == [{"result": "1"}]
        other = make_worker()
        assert other.claim() == []
        assert other.send("leased_documents", worker_id=other.worker_id, **given) == []

    def test_a_lease_that_has_run_out_is_free(
        self, connection: Connection, worker: ManualWorker, make_worker: MakeWorker
    ) -> None:
        scalar(connection, ADD, "1", "Cars.")
        slow = make_worker()
        late = slow.claim(lease=-1)

        taken = worker.claim()

        assert len(late) == len(taken) == 1
        # The worker that lost the lease stores nothing; the one that has it does.
        assert slow.store(late) == 0
        assert worker.store(taken) == 1
        assert_counts_agree(connection)

    def test_a_document_changed_during_indexing_is_not_stored(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        scalar(connection, ADD, "1", "Cars.")
        scalar(connection, ADD, "2", "Trucks.")
        old = worker.claim()
        scalar(connection, ADD, "1", "Cars of today.")

        assert worker.store(old) == 1

        assert contents(connection) == [("2", "Trucks.")]
        assert status(connection) == (2, 1, 1, 1, 0)
        worker.index_everything()
        assert contents(connection) == [("1", "Cars of today."), ("2", "Trucks.")]
        assert_counts_agree(connection)

    def test_a_document_removed_during_indexing_is_not_stored(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        scalar(connection, ADD, "1", "Cars.")
        scalar(connection, ADD, "2", "Trucks.")
        old = worker.claim()
        scalar(connection, "select pgclarify.remove_document('insurance', '1')")

        assert worker.store(old) == 1

        assert contents(connection) == [("2", "Trucks.")]
        assert_counts_agree(connection)
        assert scalar(connection, "select count(*) from pgclarify_private.staged_passage") == 0

    def test_readers_that_changed_meanwhile_count(self, connection: Connection, worker: ManualWorker) -> None:
        scalar(connection, ADD, "1", "Cars.")
        documents = worker.claim()
        connection.execute("select pgclarify.add_document('insurance', '1', 'Cars.', readers => '{boss}')")

        assert worker.store(documents) == 1

        assert scalar(connection, "select readers from pgclarify.passage") == ["boss"]
        assert_counts_agree(connection)

    def test_a_document_that_fails_keeps_its_old_passages(self, connection: Connection, worker: ManualWorker) -> None:
        scalar(connection, ADD, "1", "Cars.")
        worker.index_everything()
        scalar(connection, ADD, "1", "Trucks.")

        worker.fail(worker.claim()[0])

        assert status(connection) == (1, 1, 0, 1, 1)
        assert contents(connection) == [("1", "Cars.")]
        # If it is added again, it is tried again, even without a change.
        assert scalar(connection, ADD, "1", "Trucks.")
        assert status(connection) == (1, 1, 1, 1, 0)
        assert not scalar(connection, ADD, "1", "Trucks.")
        worker.index_everything()
        assert contents(connection) == [("1", "Trucks.")]
        assert_counts_agree(connection)

    def test_a_worker_skips_corpora_whose_models_it_has_not(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute("select pgclarify.create_corpus('other', 'rare-model')")
        worker.open_spaces()
        connection.execute("select pgclarify.add_document('other', '1', 'Cars.')")
        scalar(connection, ADD, "2", "Trucks.")

        claims = [worker.claim(skipped_models=["rare-model"]) for _ in range(2)]

        assert [[document["document_id"] for document in claim] for claim in claims] == [["2"], []]
        assert [document["document_id"] for document in worker.claim()] == ["1"]

    def test_releasing_an_old_version_keeps_the_lease_of_the_new_one(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        scalar(connection, ADD, "1", "Cars.")
        scalar(connection, ADD, "2", "Trucks.")
        before = worker.claim()
        scalar(connection, ADD, "1", "Boats.")
        changed = worker.claim()
        assert [document["document_id"] for document in changed] == ["1"]

        assert worker.release(before) == 1

        assert [document["document_id"] for document in worker.claim()] == ["2"]
        assert worker.release(changed) == 1
        assert worker.claim() == changed

    def test_a_late_store_keeps_the_lease_of_the_changed_document(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        scalar(connection, ADD, "1", "Cars.")
        before = worker.claim()
        scalar(connection, ADD, "1", "Boats.")
        changed = worker.claim()

        assert worker.store(before) == 0

        assert worker.claim() == []
        assert worker.store(changed) == 1

    def test_a_failure_that_comes_too_late_is_ignored(self, connection: Connection, worker: ManualWorker) -> None:
        scalar(connection, ADD, "1", "Cars.")
        old = worker.claim()[0]
        scalar(connection, ADD, "1", "Trucks.")

        worker.fail(old)

        assert status(connection) == (1, 0, 1, 0, 0)
        assert scalar(connection, "select error from pgclarify.document") is None

    def test_documents_wait_for_a_text_search_configuration_that_is_gone(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        connection.execute('create text search configuration public."My words" (copy = simple)')
        options = '{"search_config": "public.\\"My words\\""}'
        scalar(connection, "select pgclarify.create_corpus('other', options => %s)", options)
        worker.open_spaces()
        connection.execute("select pgclarify.add_document('other', '1', 'Cars.')")
        scalar(connection, ADD, "2", "Trucks.")
        error = "select error from pgclarify.corpus where corpus = 'other'"

        connection.execute('alter text search configuration public."My words" rename to theirs')
        claims = [worker.claim() for _ in range(2)]
        assert [[document["document_id"] for document in claim] for claim in claims] == [["2"], []]
        assert scalar(connection, error) is not None

        connection.execute('alter text search configuration public.theirs rename to "My words"')
        assert scalar(connection, error) is None
        assert worker.store(worker.claim()) == 1


@pytest.mark.committed
def test_documents_change_only_below_repeatable_read(connection: Connection) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    connection.execute("select pgclarify.add_document('insurance', '1', 'Cars.')")
    for level in ("repeatable read", "serializable"):
        for change in ("add_document('insurance', '1', 'Trucks.')", "remove_document('insurance', '1')"):
            with connection.transaction(force_rollback=True):
                connection.execute(f"set transaction isolation level {level}".encode())
                with pytest.raises(psycopg.errors.FeatureNotSupported, match=level) as refusal:
                    connection.execute(f"select pgclarify.{change}".encode())
                assert "begin isolation level read committed" in str(refusal.value.diag.message_hint)
    assert scalar(connection, "select content from pgclarify.document") == "Cars."
