"""Who may see and who may write evaluations, with real logins."""

from __future__ import annotations

import re

import pytest
from psycopg import sql

from tests.integration.by_hand import Connect, Connection, Hire, MakeRole, scalar, state_of
from tests.integration.evaluating import carry_out, load

pytestmark = pytest.mark.rolled_back

INSUFFICIENT_PRIVILEGE = "42501"
TABLES = ("eval_run", "eval_case", "eval_metric")

BEGIN = """
    select pgclarify_private.begin_evaluation(caller, jsonb_build_object(
        'name', 'night', 'data_set', 'questions', 'data_set_hash', sha256('q'), 'corpus_id', %s::bigint,
        'corpus_name', 'insurance', 'corpus_revision', 1, 'method', 'clarify', 'settings', '{}'::jsonb,
        'provider', 'openai', 'model', 'm', 'prompt_version', 'v', 'embedding_model', 'm', 'judge', 'lexical',
        'judge_version', '1', 'version', '0.7', 'planned_cases', 1
    ))
    from pgclarify_private.caller as caller
"""
RECORD = """
    select pgclarify_private.record_eval_cases(caller, %s, jsonb_build_array(jsonb_build_object(
        'ordinal', %s::integer, 'case_id', 'a', 'question', 'cars', 'gold', '{}'::jsonb, 'output', '{}'::jsonb,
        'run_id', %s::bigint, 'status', 'succeeded', 'calls', 0, 'reused_calls', 0, 'prompt_tokens', 0,
        'completion_tokens', 0, 'model_seconds', 0, 'seconds', 0, 'metrics', '{"recall": 1}'::jsonb
    )))
    from pgclarify_private.caller as caller
"""
RENAME = "select pgclarify_private.resume_evaluation(caller, %s, 'ours') from pgclarify_private.caller as caller"
FINISH = "select pgclarify_private.finish_evaluation(caller, %s, '[]') from pgclarify_private.caller as caller"
REMOVE = "select pgclarify.remove_evaluation(%s)"


def evaluate(user: Connection, corpus_id: int | None = 1, run_id: int | None = None) -> int:
    """An evaluation with one case and one metric."""
    eval_run_id = int(scalar(user, BEGIN, corpus_id))
    user.execute(RECORD.encode(), [eval_run_id, 1, run_id])
    return eval_run_id


def seen(connection: Connection) -> list[set[int]]:
    """The evaluations whose rows a role sees, by table."""
    return [
        {row[0] for row in connection.execute(f"select eval_run_id from pgclarify.{table}".encode())}  # noqa: S608
        for table in TABLES
    ]


class TestWhoSees:
    def test_who_evaluated_and_members_of_that_role(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        load(connection)
        team = make_role("pgclarify_user", name="team")
        eval_run_id = evaluate(connect(team))

        for session in (connect(team), connect(make_role(team)), connection):
            assert seen(session) == [{eval_run_id}] * 3
        for role in (make_role("pgclarify_user"), make_role("pgclarify_reader")):
            assert seen(connect(role)) == [set()] * 3

    def test_the_analyst_until_the_corpus_is_dropped(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        analysts = make_role("pgclarify_reader", name="analysts")
        load(connection, analyst=analysts)
        load(connection, "other")
        alice, analyst = connect(make_role("pgclarify_user")), connect(make_role(analysts))
        watched, other = evaluate(alice), evaluate(alice, corpus_id=2)

        assert seen(analyst) == [{watched}] * 3
        connection.execute("select pgclarify.drop_corpus('insurance')")
        assert seen(analyst) == [set()] * 3
        assert seen(alice) == [{watched, other}] * 3
        assert scalar(alice, "select corpus_id from pgclarify.eval_run where eval_run_id = %s", watched) is None

    def test_a_case_outlives_its_run(
        self, connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole
    ) -> None:
        load(connection)
        alice = connect(make_role("pgclarify_user"))
        run_id = carry_out(alice, hire())
        evaluate(alice, run_id=run_id)
        assert scalar(alice, "select run_id from pgclarify.eval_case") == run_id

        connection.execute("delete from pgclarify_private.run")

        assert scalar(alice, "select run_id from pgclarify.eval_case") is None

    def test_is_found_out_once_a_query(self, connection: Connection, connect: Connect, make_role: MakeRole) -> None:
        load(connection)
        alice = connect(make_role("pgclarify_user"))
        assert evaluate(alice) == 1
        connection.execute(
            """
            insert into pgclarify_private.eval_case
            select eval_run_id, n, case_id, question, gold, output, run_id, status, error, calls, reused_calls,
                prompt_tokens, completion_tokens, model_seconds, seconds
            from pgclarify.eval_case cross join generate_series(2, 2000) as n;
            insert into pgclarify_private.eval_metric (eval_run_id, metric, ordinal, value)
            select eval_run_id, metric, ordinal, 1
            from pgclarify.eval_case cross join unnest(array['a', 'b', 'c', 'd']) as metric;
            analyze pgclarify_private.eval_case, pgclarify.eval_metric
            """
        )
        for query, index in (
            ("select * from pgclarify.eval_case where eval_run_id = 1 and ordinal = 7", "eval_case_pk"),
            ("select * from pgclarify.eval_metric where eval_run_id = 1 and ordinal = 7", "eval_metric_case_idx"),
            ("select count(*) from pgclarify.eval_metric", None),
        ):
            explained = alice.execute(f"explain (analyze, costs off, timing off) {query}".encode()).fetchall()
            told = "\n".join(row[0] for row in explained)
            # Roles and visible evaluations are computed once, not for each row.
            assert set(re.findall(r"loops=(\d+)", told)) == {"1"}
            assert "hashed SubPlan" in told
            if index is not None:
                assert index in told


class TestWhoWrites:
    def test_a_reader_writes_nothing(self, connection: Connection, connect: Connect, make_role: MakeRole) -> None:
        team = make_role("pgclarify_user", name="team")
        load(connection)
        eval_run_id = evaluate(connect(team))
        # It sees the team's evaluations, as the analyst of the corpus does.
        analysts = make_role("pgclarify_reader", name="analysts")
        connection.execute("update pgclarify_private.corpus set analyst = %s", [analysts])
        reader = connect(make_role(analysts))
        assert seen(reader) == [{eval_run_id}] * 3

        assert state_of(reader, BEGIN, [1]) == INSUFFICIENT_PRIVILEGE
        assert state_of(reader, RECORD, [eval_run_id, 2, None]) == INSUFFICIENT_PRIVILEGE
        for attempt in (RENAME, FINISH, REMOVE):
            assert state_of(reader, attempt, [eval_run_id]) == INSUFFICIENT_PRIVILEGE

    def test_nobody_writes_rows(self, connection: Connection, connect: Connect, make_role: MakeRole) -> None:
        load(connection)
        alice = connect(make_role("pgclarify_user"))
        eval_run_id = evaluate(alice)

        for table in TABLES:
            copy = f"insert into pgclarify.{table} overriding system value select * from pgclarify.{table}"  # noqa: S608
            for attempt in (copy, f"delete from pgclarify.{table}"):  # noqa: S608
                assert state_of(alice, attempt) in {INSUFFICIENT_PRIVILEGE, "0A000"}
        assert state_of(alice, "update pgclarify_private.eval_run set name = 'mine'") == INSUFFICIENT_PRIVILEGE
        assert seen(alice) == [{eval_run_id}] * 3

    def test_nobody_writes_into_what_is_not_his(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        analysts = make_role("pgclarify_user", name="analysts")
        load(connection, analyst=analysts)
        eval_run_id = evaluate(connect(make_role("pgclarify_user")))
        # The first role may see it, the other may not. Both get the same error as for an evaluation that does not
        # exist.
        for other in (connect(make_role(analysts)), connect(make_role("pgclarify_user"))):
            for number in (eval_run_id, 999):
                assert state_of(other, RECORD, [number, 2, None]) == INSUFFICIENT_PRIVILEGE
                assert state_of(other, RENAME, [number]) == INSUFFICIENT_PRIVILEGE
                assert not scalar(other, FINISH, number)
                assert not scalar(other, REMOVE, number)

        assert seen(connection) == [{eval_run_id}] * 3
        assert scalar(connection, "select name from pgclarify.eval_run") == "night"

    def test_nobody_evaluates_in_another_name(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        load(connection)
        alice = make_role("pgclarify_user")
        mallory = connect(make_role("pgclarify_user"))
        forged = BEGIN.replace("'planned_cases', 1", "'planned_cases', 1, 'requested_by', %s::text")

        eval_run_id = int(scalar(mallory, forged, 1, alice))

        assert seen(connect(alice))[0] == set()
        assert seen(mallory)[0] == {eval_run_id}

    def test_nobody_evaluates_on_a_corpus_or_a_run_that_he_does_not_see(
        self, connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole
    ) -> None:
        """Otherwise an analyst would see texts of any writer, and a writer would learn which ids exist."""
        team = make_role("pgclarify_user", name="team")
        load(connection, reader=team)
        run_id = carry_out(connect(team), hire())
        mallory = connect(make_role("pgclarify_user"))

        for corpus_id in (1, 999):
            assert state_of(mallory, BEGIN, [corpus_id]) == INSUFFICIENT_PRIVILEGE
        eval_run_id = evaluate(mallory, corpus_id=None)
        for other in (run_id, 999):
            assert state_of(mallory, RECORD, [eval_run_id, 2, other]) == INSUFFICIENT_PRIVILEGE

    def test_a_member_goes_on_and_deletes(self, connection: Connection, connect: Connect, make_role: MakeRole) -> None:
        load(connection)
        team = make_role("pgclarify_user", name="team")
        eval_run_id = evaluate(connect(team))
        member = connect(make_role(team))

        member.execute(RECORD.encode(), [eval_run_id, 2, None])
        assert scalar(member, RENAME, eval_run_id) == [1, 2]
        assert scalar(connection, "select name from pgclarify.eval_run") == "ours"
        connection.execute("update pgclarify_private.eval_run set planned_cases = 2")
        assert scalar(member, FINISH, eval_run_id)
        assert scalar(member, REMOVE, eval_run_id)

        assert seen(connection) == [set()] * 3, "its cases and metrics are deleted with it"

    @pytest.mark.parametrize("name", ["o'brien", 'the "boss"', "ä" * 15])
    def test_who_evaluates_may_have_any_name(
        self, connection: Connection, connect: Connect, make_role: MakeRole, name: str
    ) -> None:
        load(connection)
        role = make_role("pgclarify_user", name=name)
        evaluate(connect(role))

        assert scalar(connection, "select requested_by from pgclarify.eval_run") == role

    def test_who_evaluates_is_the_role_that_was_set(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        load(connection)
        team = make_role("pgclarify_user", name="team")
        member = connect(make_role(team))
        member.execute(sql.SQL("set role {}").format(sql.Identifier(team)))
        evaluate(member)

        assert scalar(connection, "select requested_by from pgclarify.eval_run") == team
