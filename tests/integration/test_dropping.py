"""Dropping a corpus: it is unknown at once, and workers remove it when they can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from psycopg import sql

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.integration.valid_rows import insert_valid_row
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of
from tests.workers import StartWorker, until

UNDEFINED_OBJECT = "42704"
DROP = "select pgclarify.drop_corpus('insurance')"
# Everything that belongs to corpus 1, or to a run on it.
FILLED = (
    "ambiguity_rule", "budget", "candidate", "citation", "citation_tally", "corpus_tally", "document",
    "embedding_usage", "estimate", "eval_case", "eval_run", "feedback", "interpretation", "pending_cut",
    "pending_document", "pending_link", "pending_passage", "pending_unlink", "question_group", "question_wording",
    "run", "source", "stage", "step", "term", "term_change", "trained_classifier", "verdict",
)  # fmt: skip
VIEWS = """
    select c.relname
    from pg_class as c
    where c.relnamespace = 'pgclarify'::regnamespace and c.relkind = 'v'
    order by c.relname
"""
TABLES_OF_CORPORA = """
    select c.relname, a.attname
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname in ('corpus_id', 'embedding_space_id')
    where c.relnamespace = 'pgclarify_private'::regnamespace and c.relkind = 'r' and not c.relispartition
        -- What was asked and paid is kept.
        and c.relname not in ('candidate', 'citation', 'completion_document', 'embedding_usage', 'passage_1')
"""


def seen(connection: Connection) -> Mapping[str, Any]:
    """What a role sees in each public view, without what depends on the time."""
    return {
        view: connection.execute(
            sql.SQL("select to_jsonb(v) - %s::text[] from pgclarify.{} as v order by 1").format(sql.Identifier(view)),
            [["oldest_queued_seconds"]],
        ).fetchall()
        for (view,) in connection.execute(VIEWS).fetchall()
    }


class TestADropThatWaitsForNoReader:
    @pytest.mark.committed
    @pytest.mark.parametrize(
        "question",
        [
            "select pgclarify.submit('clarify', 'cars', 'insurance')",
            "select pgclarify.submit_many('clarify', '{cars, vans}', 'insurance')",
            "select * from pgclarify.document",
        ],
    )
    def test_a_reader_in_an_open_transaction_does_not_delay_it(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole, question: str
    ) -> None:
        worker = make_worker()
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        scalar(connection, "select pgclarify.add_document('insurance', '1', 'Cars.')")
        reader = connect(make_role("pgclarify_user"))
        reader.execute("begin")
        reader.execute(question.encode())

        connection.execute("set lock_timeout = '1s'")
        assert sqlstate_of(connection, DROP) is None

        # Workers remove what they can.
        worker.sweep()
        reader.execute("commit")
        worker.sweep()
        assert scalar(connection, "select count(*) from pgclarify_private.corpus") == 0

    @pytest.mark.committed
    def test_the_corpus_is_removed_when_its_last_reader_has_ended(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        worker = make_worker()
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        scalar(connection, "select pgclarify.add_document('insurance', '1', 'Cars.')")
        reader = connect(make_role("pgclarify_user"))
        reader.execute("begin")
        run_id = scalar(reader, "select pgclarify.submit('clarify', 'cars', 'insurance')")
        scalar(connection, DROP)

        worker.sweep()
        assert scalar(connection, "select count(*) from pgclarify_private.document") == 0
        assert scalar(connection, "select count(*) from pgclarify_private.corpus") == 1
        assert scalar(connection, "select to_regclass('pgclarify_private.passage_1') is not null")
        reader.execute("commit")
        assert worker.sweep() == ["pgclarify_private.passage_1"]

        assert scalar(connection, "select count(*) from pgclarify_private.corpus") == 0
        assert worker.start(run_id) is None
        assert reader.execute(
            "select corpus, status, error_code from pgclarify.run where run_id = %s", [run_id]
        ).fetchall() == [("insurance", "failed", UNDEFINED_OBJECT)]

    @pytest.mark.committed
    def test_an_owner_in_an_open_transaction_loses_what_it_added(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        worker = make_worker()
        team = make_role("pgclarify_user", name="team")
        owner, colleague = connect(team), connect(make_role(team))
        owner.execute("select pgclarify.create_corpus('insurance')")
        colleague.execute("begin")
        colleague.execute("select pgclarify.add_document('insurance', '1', 'Cars.')")

        owner.execute("set lock_timeout = '1s'")
        assert sqlstate_of(owner, DROP) is None
        colleague.execute("commit")

        assert sqlstate_of(colleague, "select pgclarify.add_document('insurance', '2', 'Vans.')") == UNDEFINED_OBJECT
        worker.sweep()
        assert scalar(connection, "select count(*) from pgclarify_private.document") == 0


class TestADroppedCorpus:
    def test_is_seen_as_little_before_a_worker_removes_it_as_after(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        owner, analyst = connect(make_role("pgclarify_user", name="owner")), connect(make_role("pgclarify_user"))
        owner.execute(
            "select pgclarify.create_corpus('insurance', options => jsonb_build_object('analyst', %s::text))",
            [analyst.info.user],
        )
        worker = make_worker()
        for table in FILLED:
            columns = connection.execute(
                "select attname from pg_attribute where attrelid = %s::regclass", [f"pgclarify_private.{table}"]
            ).fetchall()
            mine = {name: f"'{owner.info.user}'" for (name,) in columns if name in {"requested_by", "attached_by"}}
            if table == "run":
                mine |= {
                    "status": "'succeeded'",
                    "interpretations": "1",
                    "question_group_id": "1",
                    "finished_at": "now()",
                }
            if table == "budget":
                mine["binds_owner"] = "false"
            insert_valid_row(
                connection, table, 1, mine | {f"{name}_oid": f"{role}::regrole" for name, role in mine.items()}
            )
        people = {"owner": owner, "analyst": analyst, "administrator": connection}
        before = {name: seen(person) for name, person in people.items()}

        scalar(owner, DROP)
        marked = {name: seen(person) for name, person in people.items()}
        worker.sweep()
        removed = {name: seen(person) for name, person in people.items()}

        assert before["owner"]["corpus"]
        assert before["analyst"]["run"]
        for name in people:
            assert {view for view in before[name] if marked[name][view] != removed[name][view]} == set(), name
        for table, column in connection.execute(TABLES_OF_CORPORA).fetchall():
            left = f"select count(*) from pgclarify_private.{table} where {column} is not null"  # noqa: S608 - names
            assert scalar(connection, left) == 0, table

    def test_is_no_work_for_workers(self, connection: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        for number in range(3):
            scalar(connection, "select pgclarify.add_document('insurance', %s, 'Cars are insured.')", str(number))
        worker.index_everything()
        scalar(connection, "select pgclarify.add_document('insurance', '4', 'Vans.')")
        scalar(connection, "select pgclarify.alter_corpus('insurance', '{\"embedding_model\": \"another\"}')")

        scalar(connection, DROP)

        assert worker.claim() == []
        assert worker.send("building_spaces") == []
        assert worker.send("due_spaces") == []
        assert worker.value("link_passages", max_passages=10) == 0
        counts = worker.send("work_counts")[0]
        assert {name: value for name, value in counts.items() if name != "living_workers" and value} == {}

    def test_ends_runs_that_wait_and_runs_that_are_carried_out(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        scalar(connection, "select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
        worker.index_everything()
        running, queued = (
            scalar(connection, "select pgclarify.submit('clarify', %s, 'insurance')", question)
            for question in ("cars", "vans")
        )
        worker.start(running)

        scalar(connection, DROP)

        with pytest.raises(Exception, match="dropped") as refused:
            worker.retrieve(running, question="cars")
        assert getattr(refused.value, "sqlstate", None) == UNDEFINED_OBJECT
        assert worker.start(queued) is None
        assert scalar(connection, "select error_code from pgclarify.run where run_id = %s", queued) == UNDEFINED_OBJECT
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        scalar(connection, "select pgclarify.submit('clarify', 'cars', 'insurance')")

    @pytest.mark.committed
    def test_leaves_no_rule_to_the_next_corpus_of_its_name(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        scalar(connection, "select pgclarify.add_ambiguity_rule('cars', 'lexical', 'insurance')")
        scalar(connection, DROP)
        scalar(connection, "select pgclarify.create_corpus('insurance')")

        run_id = scalar(connection, "select pgclarify.submit('detect_ambiguity', 'cars', 'insurance')")
        worker.start(run_id)
        assert worker.send("match_ambiguity_rules", run_id=run_id, attempt=1, questions=["cars"]) == []
        assert scalar(connection, "select count(*) from pgclarify.ambiguity_rule") == 0

    @pytest.mark.committed
    def test_is_removed_by_one_worker_at_a_time_and_keeps_no_other_back(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        one, other = make_worker(), make_worker()
        for corpus in ("insurance", "medicine"):
            scalar(connection, "select pgclarify.create_corpus(%s)", corpus)
            scalar(connection, "select pgclarify.add_document(%s, '1', 'Cars.')", corpus)
            scalar(connection, "select pgclarify.drop_corpus(%s)", corpus)

        with one.connection.transaction():
            one.value("remove_dropped_corpora", most=1)
            while other.value("remove_dropped_corpora", most=1):
                pass
        assert scalar(connection, "select array_agg(name) from pgclarify_private.corpus") == ["insurance"]

    @pytest.mark.committed
    @pytest.mark.parametrize("table", ["run", "document"])
    def test_waits_for_rows_that_others_lock(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, table: str
    ) -> None:
        worker = make_worker()
        scalar(connection, "select pgclarify.create_corpus('insurance')")
        scalar(connection, "select pgclarify.add_document('insurance', '1', 'Cars.')")
        scalar(connection, "select pgclarify.submit('clarify', 'cars', 'insurance')")
        insert_valid_row(connection, "source", 1)
        connection.execute("update pgclarify_private.document set source_id = 1")
        scalar(connection, DROP)
        holder = connect()
        with holder.transaction():
            holder.execute(f"select from pgclarify_private.{table} for update".encode())
            worker.sweep()
            assert scalar(connection, "select count(*) from pgclarify_private.corpus") == 1
        worker.sweep()
        assert scalar(connection, "select count(*) from pgclarify_private.corpus") == 0


def test_a_worker_removes_it(database: str, connection: Connection, run_worker: StartWorker) -> None:
    scalar(connection, "select pgclarify.create_corpus('insurance')")
    scalar(connection, "select pgclarify.add_document('insurance', '1', 'Cars.')")
    scalar(connection, DROP)

    run_worker(database, None)

    left = (
        "select (select count(*) from pgclarify_private.corpus), to_regclass('pgclarify_private.passage_1') is not null"
    )
    until(lambda: connection.execute(left.encode()).fetchone() == (0, False))


def test_only_what_removes_it_reads_the_table(connection: Connection) -> None:
    """Everything else reads view living_corpus, or has nothing to do with whether a corpus was dropped."""
    reading = connection.execute(
        r"""
        select proname from pg_proc
        where pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace) and prokind = 'f'
            and pg_get_functiondef(oid) ~ '(from|FROM|join|JOIN)\s+\(*pgclarify_private\.corpus\M'
        order by proname
        """
    ).fetchall()

    assert {name for (name,) in reading} == {
        "drop_orphan_partition",
        "remove_dropped_corpora",
        # They lock the corpora of runs, in whatever state.
        "cancel_runs",
        "take_run",
        # As long as its documents are there, they are closed to the same roles as before.
        "withheld_ranks",
        # What was spent is counted. Its budgets are hidden by their policy.
        "count_embeddings",
        "delay_unpaid_spaces",
        "reserved_now",
        # Whether an attached table was replaced is told before a call finds that its corpus was dropped.
        "lost_table",
        "tell_unfollowed",
    }
