"""Corpora: making, naming, finding and dropping them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.stored_answers import reading
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

INVALID_PARAMETER = "22023"
UNDEFINED_OBJECT = "42704"
INSUFFICIENT_PRIVILEGE = "42501"
LOCK_NOT_AVAILABLE = "55P03"

NAMES = ["it's", 'the "best"', "back\\slash", "zwölf Bücher", "a.b", "select", "%s $1", "x" * 200]


class TestCreating:
    def test_says_what_it_made(self, connection: Connection) -> None:
        corpus_id = scalar(
            connection,
            """
            select pgclarify.create_corpus(
                'insurance', 'a-model', '{"search_config": "german", "reader": "pgclarify_user",
                "analyst": "pgclarify_reader"}'
            )
            """,
        )

        assert connection.execute(
            "select corpus_id, corpus, search_config, owner, readers, analysts from pgclarify.corpus"
        ).fetchall() == [(corpus_id, "insurance", "german", "postgres", ["pgclarify_user"], ["pgclarify_reader"])]
        assert connection.execute(
            "select model, state, dimensions from pgclarify_private.embedding_space"
        ).fetchall() == [("a-model", "building", None)]
        # A partition that is read by its own name would not ask the policies of its parent.
        assert connection.execute(
            "select distinct relrowsecurity from pg_class where relispartition and relkind = 'r'"
        ).fetchall() == [(True,)]

    @parametrize_in_one_test("name", NAMES)
    def test_names_are_any_text(self, connection: Connection, make_worker: MakeWorker, name: str) -> None:
        scalar(connection, "select pgclarify.create_corpus(%s)", name)
        scalar(connection, "select pgclarify.add_document(%s, '1', 'Cars are insured.')", name)
        make_worker().index_everything()

        assert connection.execute("select corpus, passages from pgclarify.corpus").fetchall() == [(name, 1)]
        found = "select document_id from pgclarify.search('cars', %s, options => '{\"method\": \"lexical\"}')"
        assert scalar(connection, found, name) == "1"
        connection.execute("select set_config('pgclarify.corpus', %s, false)", [name])
        scalar(connection, "select pgclarify.submit('clarify', 'cars')")
        assert scalar(connection, "select corpus from pgclarify.run order by run_id desc limit 1") == name
        scalar(connection, "select pgclarify.drop_corpus(%s)", name)

    @parametrize_in_one_test(
        "arguments, state",
        [
            ("''", INVALID_PARAMETER),
            ("null", INVALID_PARAMETER),
            ("repeat('x', 201)", INVALID_PARAMETER),
            # An error lists it to other roles, and their terminal would obey it.
            ("E'red\\x1b[31m'", INVALID_PARAMETER),
            ("E'a\\u202eb'", INVALID_PARAMETER),
            ("'a', null", INVALID_PARAMETER),
            ("'a', '{\"search_config\": \"germann\"}'", INVALID_PARAMETER),
            ("'a', ' m'", INVALID_PARAMETER),
            ("'a', 'two words'", INVALID_PARAMETER),
            ("'a', E'./line\\nbreak'", INVALID_PARAMETER),
            ("'a', repeat('x', 501)", INVALID_PARAMETER),
            ("'a', options => '{\"search_config\": \"no.such\"}'", UNDEFINED_OBJECT),
            ("'a', options => '{\"search_config\": \"a..b\"}'", UNDEFINED_OBJECT),
            ("'a', options => '{\"search_config\": \"\"}'", UNDEFINED_OBJECT),
            ("'a', options => '{\"search_config\": \"999999\"}'", UNDEFINED_OBJECT),
            ("'a', options => '{\"search_config\": \"99999999999\"}'", UNDEFINED_OBJECT),
            ("'a', options => '{\"search_config\": \"a.b.c\"}'", UNDEFINED_OBJECT),
            ("'a', options => '{\"reader\": \"no such role\"}'", UNDEFINED_OBJECT),
        ],
    )
    def test_wrong_arguments_of_create_corpus_are_refused(
        self, connection: Connection, arguments: str, state: str
    ) -> None:
        assert sqlstate_of(connection, f"select pgclarify.create_corpus({arguments})") == state
        assert scalar(connection, "select count(*) from pgclarify.corpus") == 0

    def test_null_options_are_the_defaults(self, connection: Connection) -> None:
        scalar(connection, "select pgclarify.create_corpus('a', options => null)")
        scalar(connection, "select pgclarify.create_corpus('b', options => '{\"search_config\": null}')")

        assert scalar(connection, "select array_agg(search_config) from pgclarify.corpus") == ["english", "english"]

    def test_a_name_that_is_taken_says_no_more_than_that(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        """Names are unique in a database, so an error reveals a hidden name here, but not its owner or its content."""
        owner = make_role("pgclarify_user")
        options = f'{{"reader": "{owner}"}}'
        connect(owner).execute("select pgclarify.create_corpus('hidden', options => %s::text::jsonb)", [options])
        connect(owner).execute("select pgclarify.create_corpus('seen')")
        stranger = connect(make_role("pgclarify_user"))
        told = []
        for name in ("hidden", "seen"):
            with pytest.raises(psycopg.errors.DuplicateObject) as refused:
                stranger.execute("select pgclarify.create_corpus(%s)", [name])
            said = refused.value.diag
            told.append((str(said.message_primary).replace(name, ""), said.message_detail, said.message_hint))

        assert told[0] == told[1]
        assert told[0][1] is None

    @pytest.mark.committed
    def test_searches_of_others_go_on(self, connection: Connection, connect: Connect, make_worker: MakeWorker) -> None:
        """A corpus that is made, opened or filled in an open transaction does not lock the other corpora."""
        scalar(connection, "select pgclarify.create_corpus('old')")
        scalar(connection, "select pgclarify.add_document('old', '1', 'Cars are insured.')")
        worker = make_worker()
        worker.index_everything()
        maker = connect()
        maker.execute("begin")
        scalar(maker, "select pgclarify.create_corpus('new')")
        scalar(maker, "select pgclarify.add_document('new', '1', 'Trucks.')")
        scalar(
            maker,
            "select pgclarify_private.open_space(max(embedding_space_id), 4) from pgclarify_private.embedding_space",
        )

        for session in (connection, worker.connection):
            session.execute("set lock_timeout = '1s'")
        found = "select document_id from pgclarify.search('cars', 'old', options => '{\"method\": \"lexical\"}')"
        assert scalar(connection, found) == "1"
        assert scalar(connection, "select count(*) from pgclarify.passage") == 1
        scalar(connection, "select pgclarify.add_document('old', '2', 'More cars.')")
        worker.index_everything()
        assert scalar(connection, "select count(*) from pgclarify_private.passage_embedding") == 2

    @pytest.mark.committed
    def test_create_corpus_times_out_while_another_is_being_made(
        self, connection: Connection, connect: Connect
    ) -> None:
        # Sooner than after 5 s.
        connection.execute("alter function pgclarify_private.create_corpus set lock_timeout = '300ms'")
        maker = connect()
        maker.execute("begin")
        scalar(maker, "select pgclarify.create_corpus('new')")

        def make(name: str) -> psycopg.errors.Diagnostic:
            other = connect()
            # Ends the wait if nothing else does.
            other.execute("set statement_timeout = '60s'")
            with pytest.raises(psycopg.errors.LockNotAvailable) as refused:
                scalar(other, "select pgclarify.create_corpus(%s)", name)
            return refused.value.diag

        with ThreadPoolExecutor() as pool:
            for told in pool.map(make, ["new", "newer"]):
                assert told.message_detail
                assert told.message_hint

        maker.execute("rollback")
        assert sqlstate_of(connection, "select pgclarify.create_corpus('new')") is None


class TestFinding:
    def test_functions_that_change_a_corpus_ignore_the_default_corpus(self, connection: Connection) -> None:
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        scalar(connection, "select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
        connection.execute("set pgclarify.corpus = 'insurance'")

        for call in (
            "add_document(null, '1', 'Vans.')",
            "remove_document(null, '1')",
            "erase_document(null, '1')",
            "attach_table(null, 'pg_class', 'oid', 'relname')",
            "resync(null, 'pg_class')",
            "detach_table(null, 'pg_class')",
            "grant_access(null, 'postgres')",
        ):
            assert sqlstate_of(connection, f"select pgclarify.{call}") == INVALID_PARAMETER, call
        assert scalar(connection, "select content from pgclarify.document") == "Cars are insured."

    def test_the_only_one_need_not_be_named(self, connection: Connection) -> None:
        assert sqlstate_of(connection, "select pgclarify.submit('clarify', 'cars')") == INVALID_PARAMETER
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        assert sqlstate_of(connection, "select pgclarify.submit('clarify', 'cars')") is None
        scalar(connection, "select pgclarify.create_corpus('rental')")
        assert sqlstate_of(connection, "select pgclarify.submit('clarify', 'cars')") == INVALID_PARAMETER
        connection.execute("set pgclarify.corpus = 'rental'")
        scalar(connection, "select pgclarify.submit('clarify', 'cars')")
        assert scalar(connection, "select corpus from pgclarify.run order by run_id desc") == "rental"
        assert sqlstate_of(connection, "select pgclarify.submit('clarify', 'cars', 'insurance')") is None
        assert sqlstate_of(connection, "select pgclarify.submit('clarify', 'cars', 'other')") == UNDEFINED_OBJECT

    def test_to_change_it_is_the_owners_right(self, connect: Connect, make_role: MakeRole) -> None:
        team = make_role("pgclarify_user", name="team")
        owner, colleague, user = connect(team), connect(make_role(team)), connect(make_role("pgclarify_user"))
        owner.execute(MAKE_OPEN_CORPUS, ["insurance"])

        for attempt in (
            "select pgclarify.add_document('insurance', '1', 'Cars.')",
            "select pgclarify.remove_document('insurance', '1')",
            "select pgclarify.alter_corpus('insurance', '{}')",
            "select pgclarify.grant_access('insurance', 'postgres')",
            "select pgclarify.revoke_access('insurance', 'postgres')",
            "select pgclarify.drop_corpus('insurance')",
        ):
            assert sqlstate_of(user, attempt) == INSUFFICIENT_PRIVILEGE
            assert sqlstate_of(colleague, attempt) is None
        assert sqlstate_of(owner, "select pgclarify.drop_corpus('insurance')") == UNDEFINED_OBJECT


class TestDropping:
    def test_nothing_is_left_but_the_runs(self, connection: Connection, make_worker: MakeWorker) -> None:
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        for number in range(3):
            scalar(connection, "select pgclarify.add_document('insurance', %s, 'Cars are insured.')", str(number))
        worker = make_worker()
        worker.index_everything()
        scalar(connection, "select pgclarify.remove_document('insurance', '2')")
        scalar(connection, "select pgclarify.add_document('insurance', '3', 'Trucks.')")
        run_id = scalar(
            connection, "select pgclarify.submit('clarify', 'cars', options => '{\"method\": \"lexical\"}')"
        )
        queued_id = scalar(connection, "select pgclarify.submit('clarify', 'trucks')")
        worker.start(run_id)
        worker.retrieve(run_id, question="cars")
        worker.finish(run_id, interpretations=[reading(quote="Cars are insured")])

        assert scalar(connection, "select pgclarify.drop_corpus('insurance')") == 1

        assert sorted(worker.sweep()) == [
            "pgclarify_private.neighborhood_1",
            "pgclarify_private.passage_1",
            "pgclarify_private.passage_embedding_1",
        ]
        for table in (
            "pgclarify.corpus",
            "pgclarify.document",
            "pgclarify.passage",
            "pgclarify_private.embedding_space",
            "pgclarify_private.passage_embedding",
            "pgclarify_private.pending_document",
            "pgclarify_private.term",
            "pgclarify_private.term_change",
            "pgclarify_private.corpus_tally",
        ):
            assert scalar(connection, f"select count(*) from {table}") == 0  # noqa: S608
        assert connection.execute(
            "select answer, document_ids, citations -> 0 ->> 'quote', citations -> 0 -> 'is_current'"
            " from pgclarify.result(%s)",
            [run_id],
        ).fetchall() == [("Cars", ["0"], "Cars are insured", False)]
        assert worker.start(queued_id) is None
        assert connection.execute("select corpus, status from pgclarify.run order by run_id").fetchall() == [
            ("insurance", "succeeded"),
            ("insurance", "failed"),
        ]
        assert sqlstate_of(connection, "select pgclarify.drop_corpus('insurance')") == UNDEFINED_OBJECT
        assert sqlstate_of(connection, "select pgclarify.drop_corpus(null)") == UNDEFINED_OBJECT
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        assert scalar(connection, "select documents from pgclarify.corpus") == 0

    def test_rows_of_a_dropped_corpus_are_hidden_before_they_are_swept(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        user = connect(make_role("pgclarify_user"))
        worker = make_worker()
        for corpus in ("dropped", "kept"):
            connection.execute(MAKE_OPEN_CORPUS, [corpus])
            scalar(connection, "select pgclarify.add_document(%s, %s, 'Cars are insured.')", corpus, corpus)
        worker.index_everything()
        scalar(connection, "select pgclarify.drop_corpus('dropped')")
        connection.execute(MAKE_OPEN_CORPUS, ["dropped"])

        seen = "select array_agg(document_id) from pgclarify.passage"
        found = "select count(*) from pgclarify.search('cars', 'dropped', options => '{\"method\": \"lexical\"}')"
        for swept in (
            [],
            [
                "pgclarify_private.passage_1",
                "pgclarify_private.neighborhood_1",
                "pgclarify_private.passage_embedding_1",
            ],
        ):
            if swept:
                assert sorted(worker.sweep()) == sorted(swept)
            assert scalar(user, seen) == ["kept"]
            assert scalar(user, found) == 0
        assert worker.sweep() == []
        assert scalar(connection, seen) == ["kept"]

    @pytest.mark.committed
    @pytest.mark.parametrize(
        "call",
        [
            "select pgclarify.submit('clarify', 'cars', 'insurance')",
            "select pgclarify.submit_many('clarify', '{cars, vans}', 'insurance')",
            "select pgclarify.submit('search', 'cars', 'insurance')",
        ],
    )
    def test_calls_during_the_drop_of_a_corpus_do_not_wait_and_end_with_it(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, call: str
    ) -> None:
        worker = make_worker()
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        dropper, asker = connect(), connect()
        asker.execute("set lock_timeout = '1s'")
        with dropper.transaction():
            scalar(dropper, "select pgclarify.drop_corpus('insurance')")
            assert sqlstate_of(asker, call) is None
        assert sqlstate_of(asker, call) == UNDEFINED_OBJECT

        for (run_id,) in connection.execute("select run_id from pgclarify.run").fetchall():
            assert worker.start(run_id) is None
        assert connection.execute("select distinct status, error_code from pgclarify.run").fetchall() == [
            ("failed", UNDEFINED_OBJECT)
        ]

    @pytest.mark.committed
    def test_a_drop_that_is_not_committed_holds_up_nobody_else(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        for corpus in ("dropped", "kept"):
            connection.execute(MAKE_OPEN_CORPUS, [corpus])
            scalar(connection, "select pgclarify.add_document(%s, '1', 'Cars are insured.')", corpus)
        worker.index_everything()
        scalar(connection, "select pgclarify.add_document('dropped', '2', 'Vans.')")
        late = worker.claim()
        scalar(connection, "select pgclarify.add_document('dropped', '3', 'Bikes.')")
        dropper = connect()
        dropper.execute("begin")
        scalar(dropper, "select pgclarify.drop_corpus('dropped')")

        for session in (connection, worker.connection):
            session.execute("set lock_timeout = '1s'")
        assert worker.sweep() == []
        worker.store(late)
        scalar(connection, "select pgclarify.create_corpus('new')")
        for corpus in ("kept", "new"):
            scalar(connection, "select pgclarify.add_document(%s, '2', 'Trucks are towed.')", corpus)
        worker.index_everything()
        worker.send("fold_tallies")
        assert scalar(connection, "select count(*) from pgclarify.passage") == 6
        assert scalar(connection, "select sum(pending) from pgclarify.corpus where corpus <> 'dropped'") == 0

        dropper.execute("rollback")
        assert scalar(connection, "select passages from pgclarify.corpus where corpus = 'dropped'") == 3

    @pytest.mark.committed
    def test_a_long_reader_delays_only_the_sweeping(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        reader = connect()
        reader.execute("begin")
        scalar(reader, "select count(*) from pgclarify.passage")
        connection.execute("set lock_timeout = '1s'")
        scalar(connection, "select pgclarify.drop_corpus('insurance')")
        assert worker.value("remove_dropped_corpora", most=1000) == 1

        assert sqlstate_of(worker.connection, "select pgclarify_private.drop_orphan_partition()") == LOCK_NOT_AVAILABLE

        reader.execute("commit")
        assert worker.sweep() == ["pgclarify_private.passage_1"]

    @pytest.mark.committed
    def test_a_partition_that_is_in_use_holds_up_no_other(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        for corpus in ("read", "unread"):
            scalar(connection, "select pgclarify.create_corpus(%s)", corpus)
        reader = connect()
        reader.execute("begin")
        reader.execute("lock table pgclarify_private.passage_1 in access share mode")
        for corpus in ("read", "unread"):
            scalar(connection, "select pgclarify.drop_corpus(%s)", corpus)
            assert worker.value("remove_dropped_corpora", most=1000) == 1

        drop = "select pgclarify_private.drop_orphan_partition()"
        is_left = "select to_regclass('pgclarify_private.passage_2') is not null"
        # One of both is tried at random.
        for _ in range(30):
            if scalar(connection, is_left):
                assert sqlstate_of(worker.connection, drop) in (None, LOCK_NOT_AVAILABLE)
        assert not scalar(connection, is_left)

        reader.execute("commit")
        assert worker.sweep() == ["pgclarify_private.passage_1"]
