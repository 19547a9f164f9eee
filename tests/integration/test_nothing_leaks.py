"""A role without access learns nothing: not from answers, counts and errors, and not from questions of others.

Each test lets an outsider do what an insider does, and compares the results with a database without the secret.
"""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker, vector_of
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.stored_answers import reading, store_grounded_verdict
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

HIDDEN = "Zebra cars are insured."
LEXICAL = json.dumps({"method": "lexical"})
ZEBRAS = "select count(*) from pgclarify.search('zebra', options => '{\"method\": \"lexical\"}')"
OF_RUN = (
    "select * from pgclarify.result({})",
    "select * from pgclarify.wait(array[{}]::bigint[])",
    "select pgclarify.cancel(array[{}]::bigint[])",
    "select * from pgclarify.consolidate({})",
    "select pgclarify_private.result_rows(caller, {}, 'investigation') from pgclarify_private.caller",
    "select pgclarify.explain({})",
    "select pgclarify_private.run_report(caller, {}) from pgclarify_private.caller",
    "select * from pgclarify.reply({}, ordinal => 1)",
    "select * from pgclarify.reply({}, 'the first')",
    "select pgclarify.give_feedback({}, 1, 'wrong')",
    "select pgclarify.give_feedback({}, missing => 'Nine.')",
)
OF_CORPUS = (
    "select * from pgclarify.clarify('cars', {})",
    "select * from pgclarify.clarify_many(array['cars'], corpus => {})",
    "select * from pgclarify.search('cars', {})",
    "select * from pgclarify.search('cars', {}, options => '{{\"method\": \"lexical\"}}')",
    "select * from pgclarify.search('cars', {}, options => '{{\"method\": \"dense\"}}')",
    "select * from pgclarify.search('cars', {}, options => '{{\"retrieval\": \"adaptive\"}}')",
    "select pgclarify.submit('clarify', 'cars', {})",
    "select pgclarify.submit_many('clarify', array['cars'], {})",
    "select pgclarify.add_document({}, '1', 'Cars.')",
    "select pgclarify.remove_document({}, '1')",
    "select pgclarify.drop_corpus({})",
    "select pgclarify.attach_table({}, 'pg_catalog.pg_class', 'oid', 'relname')",
    "select pgclarify.detach_table({}, 'pg_catalog.pg_class')",
    "select pgclarify.resync({}, 'pg_catalog.pg_class')",
    "select pgclarify_private.set_embedding_model(caller, {}, 'another') from pgclarify_private.caller",
    "select * from pgclarify.neighbors({}, 'secret', 1)",
    "select pgclarify.alter_corpus({}, jsonb_build_object('graph', 'rebuild'))",
    "select * from pgclarify.investigate('cars', {})",
    "select * from pgclarify.clarifying_questions('cars', {}, options => '{{\"form\": \"select\"}}')",
    "select * from pgclarify.list_answers('cars', {})",
    "select pgclarify_private.use_ambiguity_classifier(caller, {}, null) from pgclarify_private.caller",
    "select pgclarify.detect_ambiguity('cars', options => jsonb_build_object('corpus', coalesce({}, 'x')))",
    "select pgclarify.add_ambiguity_rule('x', 'lexical', {})",
    "select pgclarify.remove_ambiguity_rule('x', {})",
    'select pgclarify.set_budget(\'x\', {}, \'{{"period": "day", "max_calls": 1}}\')',
    "select pgclarify.remove_budget('x', {})",
)
TABLES = (
    "corpus", "document", "passage", "run", "candidate", "verdict", "interpretation", "citation", "source_status",
    "seen_stage", "detection", "rewriting", "clarifying_question", "estimate", "listed_answer",
    "ambiguity_rule", "investigation_step", "budget", "usage", "asked_question", "stale_answer",
    "feedback", "finding", "my_changed_name",
)  # fmt: skip


# Policies and our own statements read them with the rights of who asks.
PRIVATE = {"my_changed_name", "seen_stage"}


def refusal(connection: Connection, statement: str, name: str) -> dict[str, str | None]:
    """The error of a refused statement, without the name in it."""
    with pytest.raises(psycopg.Error) as refused:
        connection.execute(statement.encode())
    diagnostic = refused.value.diag
    fields = ("sqlstate", "message_primary", "message_detail", "message_hint", "context", "schema_name", "table_name")
    told = {field: getattr(diagnostic, field) for field in fields}
    return {field: text.replace(name, "…") if text else text for field, text in told.items()}


def seen(connection: Connection) -> dict[str, list[Any]]:
    """All rows that a role sees in each table and view."""
    return {
        name: connection.execute(
            f"select * from pgclarify{'_private' if name in PRIVATE else ''}.{name}".encode()  # noqa: S608
        ).fetchall()
        for name in TABLES
    }


def add(connection: Connection, corpus: str, document_id: str, content: str, readers: list[str] | None = None) -> None:
    connection.execute(
        "select pgclarify.add_document(%s, %s, %s, 'Policy', readers => %s)", [corpus, document_id, content, readers]
    )


def answered(worker: ManualWorker, user: Connection, question: str, corpus: str) -> int:
    """A run of the user's in which the best passage is judged and cited; one without a reading if it finds nothing."""
    run_id = int(scalar(user, "select pgclarify.submit('clarify', %s, %s)", question, corpus))
    run = worker.start(run_id)
    assert run is not None
    readings = []
    if worker.retrieve(run_id, run["attempt"], question, vector_of(question)):
        store_grounded_verdict(worker, run_id)
        readings = [reading()]
    worker.finish(run_id, run["attempt"], interpretations=readings)
    return run_id


class TestCorpus:
    """For a user, a corpus with another reader does not exist."""

    @pytest.fixture
    def stranger(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> Connection:
        """A user who may search corpus "open", while "hidden" has documents and an answered run."""
        team = make_role("pgclarify_user", name="team")
        connection.execute(MAKE_OPEN_CORPUS, ["open"])
        connection.execute("select pgclarify.create_corpus('hidden', options => %s)", [json.dumps({"reader": team})])
        add(connection, "hidden", "secret", HIDDEN)
        worker = make_worker()
        worker.index_everything()
        answered(worker, connect(team), "cars", "hidden")
        return connect(make_role("pgclarify_user", name="stranger"))

    @pytest.mark.committed
    @parametrize_in_one_test("statement", OF_CORPUS)
    def test_is_refused_as_one_that_is_not_there(self, stranger: Connection, statement: str) -> None:
        there = refusal(stranger, statement.format("'hidden'"), "hidden")

        # The same number of letters, because similarity to other names depends on it.
        assert there == refusal(stranger, statement.format("'hiddem'"), "hiddem")
        assert there["sqlstate"] == "42704"
        # The error of a misspelt name does not suggest the hidden one either.
        assert "hidden" not in str(refusal(stranger, statement.format("'hiden'"), "hiden"))
        stranger.execute("set pgclarify.corpus = 'hidden'")
        by_setting = refusal(stranger, statement.format("null"), "hidden")
        stranger.execute("set pgclarify.corpus = 'hiddem'")
        assert by_setting == refusal(stranger, statement.format("null"), "hiddem")

    def test_has_no_rows(self, stranger: Connection) -> None:
        rows = seen(stranger)

        assert "hidden" not in str(rows)
        assert "secret" not in str(rows)
        assert {name: len(found) for name, found in rows.items() if found} == {
            "corpus": 1
        }  # fmt: skip

    def test_is_not_the_only_one(self, stranger: Connection) -> None:
        """A call without a name means the only corpus that this role may search."""
        assert stranger.execute("select * from pgclarify.search('cars', options => %s)", [LEXICAL]).fetchall() == []


class TestRun:
    """For a user, runs of other roles do not exist."""

    @pytest.mark.committed
    def test_is_refused_as_one_that_is_not_there(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        alice, bob = (connect(make_role("pgclarify_user", name=name)) for name in ("alice", "bob"))
        connection.execute(MAKE_OPEN_CORPUS, ["open"])
        add(connection, "open", "1", HIDDEN)
        # This number occurs nowhere else in a message.
        connection.execute("alter table pgclarify_private.run alter column run_id restart with 123456789")
        worker = make_worker()
        worker.index_everything()
        over = answered(worker, alice, "cars", "open")
        waiting = int(scalar(alice, "select pgclarify.submit('clarify', 'vans', 'open')"))

        for statement in OF_RUN:
            missing = refusal(bob, statement.format(987654321), "987654321")
            assert missing["sqlstate"] == "42704"
            for run_id in (over, waiting):
                assert refusal(bob, statement.format(run_id), str(run_id)) == missing
        assert scalar(alice, "select status from pgclarify.run where run_id = %s", waiting) == "queued"

    def test_its_answer_is_not_served_to_who_has_other_roles_now(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        team, name = make_role(name="team"), make_role("pgclarify_user", name="alice")
        connection.execute(sql.SQL("grant {} to {}").format(sql.Identifier(team), sql.Identifier(name)))
        alice = connect(name)
        connection.execute(MAKE_OPEN_CORPUS, ["open"])
        add(connection, "open", "secret", HIDDEN, [team])
        worker = make_worker()
        worker.index_everything()
        as_member = answered(worker, alice, "cars", "open")
        assert scalar(alice, "select count(*) from pgclarify.clarify('cars', 'open')") == 1

        connection.execute(sql.SQL("revoke {} from {}").format(sql.Identifier(team), sql.Identifier(name)))
        as_stranger = answered(worker, alice, "cars", "open")
        assert as_stranger != as_member
        assert scalar(alice, "select count(*) from pgclarify.clarify('cars', 'open')") == 0

        # Membership without inheritance gives no usage. With inheritance, the earlier answer is valid again.
        member = sql.SQL("grant {} to {} with inherit {}")
        for inherit, expected in (("false", as_stranger), ("true", as_member)):
            connection.execute(member.format(sql.Identifier(team), sql.Identifier(name), sql.SQL(inherit)))
            assert scalar(alice, "select pgclarify.submit('clarify', 'cars', 'open')") == expected


class TestPassages:
    """A passage of other readers does not exist for a user who may search the rest of the corpus."""

    def test_functions_in_conditions_see_nothing(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        """A condition with a function that reveals its arguments gets readable rows only."""
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        add(connection, "insurance", "secret", HIDDEN, [])
        add(connection, "insurance", "open", "Vans are insured.")
        make_worker().index_everything()
        connection.execute("""
            create function public.tell(content text) returns boolean language plpgsql cost 0.0000001 as
            $$ begin raise notice '%', content; return true; end $$
        """)
        stranger = connect(make_role("pgclarify_user", name="stranger"))
        told: list[str | None] = []
        stranger.add_notice_handler(lambda notice: told.append(notice.message_primary))

        for relation in ("document", "passage"):
            stranger.execute(f"select from pgclarify.{relation} where public.tell(content)".encode())

        assert told == ["Vans are insured."] * 2

    def test_title_and_passages_of_a_citation_are_hidden_after_the_membership_ends(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        """Between the answer and its reading the membership ends: title, address and passages are not shown again."""
        team, name = make_role(name="team"), make_role("pgclarify_user", name="alice")
        connection.execute(sql.SQL("grant {} to {}").format(sql.Identifier(team), sql.Identifier(name)))
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [json.dumps({"reader": team})])
        add(connection, "insurance", "secret", HIDDEN)
        worker = make_worker()
        worker.index_everything()
        alice = connect(name)
        run_id = answered(worker, alice, "cars", "insurance")
        titles = (
            "select citations -> 0 ->> 'title' from pgclarify.result(%s)",
            "select title from pgclarify.citation where run_id = %s",
        )
        assert [scalar(alice, query, run_id) for query in titles] == ["Policy", "Policy"]
        searched = "select count(*) from pgclarify_private.search_result_rows(array[%s]::bigint[], %s::name)"
        assert scalar(connection, searched, run_id, name) == 1

        connection.execute(sql.SQL("revoke {} from {}").format(sql.Identifier(team), sql.Identifier(name)))

        assert [scalar(alice, query, run_id) for query in titles] == [None, None]
        assert scalar(connection, searched, run_id, name) == 0

    def test_a_run_that_waits_is_carried_out_with_the_roles_of_its_time(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        team, name = make_role(name="team"), make_role("pgclarify_user", name="alice")
        connection.execute(sql.SQL("grant {} to {}").format(sql.Identifier(team), sql.Identifier(name)))
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [json.dumps({"reader": team})])
        add(connection, "insurance", "secret", HIDDEN)
        worker = make_worker()
        worker.index_everything()
        alice = connect(name)
        run_id = int(scalar(alice, "select pgclarify.submit('clarify', 'cars', 'insurance')"))

        connection.execute(sql.SQL("revoke {} from {}").format(sql.Identifier(team), sql.Identifier(name)))

        assert worker.start(run_id) is None
        assert refusal(alice, OF_RUN[0].format(run_id), str(run_id))["sqlstate"] == "PC003"

    def test_the_caller_is_who_it_has_become(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        """After SET ROLE, the rights of the new role count, and those of the login do not."""
        team, other = make_role("pgclarify_user", name="team"), make_role("pgclarify_user", name="other")
        session = connect(make_role(team, other, name="alice"))
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        add(connection, "insurance", "secret", HIDDEN, [team])
        make_worker().index_everything()
        rows = "select count(*) from pgclarify.passage"

        assert [scalar(session, query) for query in (ZEBRAS, rows)] == [1, 1]
        session.execute(sql.SQL("set role {}").format(sql.Identifier(other)))
        assert [scalar(session, query) for query in (ZEBRAS, rows)] == [0, 0]
        session.execute(sql.SQL("set role {}").format(sql.Identifier(team)))
        assert [scalar(session, query) for query in (ZEBRAS, rows)] == [1, 1]

    def test_a_reader_that_is_dropped_admits_nobody_and_breaks_nothing(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        gone = make_role(name="gone")
        user = connect(make_role("pgclarify_user", gone))
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        add(connection, "insurance", "secret", HIDDEN, [gone, ""])
        make_worker().index_everything()
        assert scalar(user, ZEBRAS) == 1

        connection.execute(sql.SQL("drop role {}").format(sql.Identifier(gone)))
        assert scalar(user, ZEBRAS) == 0
        assert scalar(user, "select count(*) from pgclarify.document") == 0
        # Only the name is stored, so another role of that name is admitted to users who have its rights.
        connection.execute(sql.SQL("create role {}").format(sql.Identifier(gone)))
        assert scalar(user, ZEBRAS) == 0
