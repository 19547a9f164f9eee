"""Each operation can be started without waiting, and gives the same rows as the function that waits."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

import pgclarify
from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, MakeRole, scalar, state_of
from tests.openai_server import Server
from tests.workers import Service, asker, model, service, superuser

__all__ = ["asker", "model", "service", "superuser"]

INVALID_PARAMETER, NOT_READY, UNDEFINED_OBJECT = "22023", "55000", "42704"
VAGUE = "rental car"
RUNS = "select count(*) from pgclarify.run"
CALLS = "select count(*) from pgclarify_private.completion where reply is not null"
OPERATIONS = "select operation, row_type, result_function from pgclarify_private.operations() order by operation"
READ_BY = {
    "clarify": "result",
    "consolidate": "result",
    "search": "search_results",
    "investigate": "investigation",
    "detect_ambiguity": "ambiguity",
    "detect_ambiguity_many": "question_ambiguities",
    "rewrite": "rewritten_question",
    "clarifying_questions": "proposed_questions",
    "reply": "rewritten_question",
    "list_answers": "answers",
    "estimate": "estimation",
}
# Names, types and defaults of parameters: of the function that waits, and of the function that prepares its run.
PARAMETERS = """
    select
        parameter.name, parameter.type::regtype::text,
        pg_get_function_arg_default(p.oid, parameter.ordinal::integer) as fallback
    from pg_proc as p
    cross join lateral unnest(p.proargnames, p.proargtypes::oid[]) with ordinality as parameter (name, type, ordinal)
    where p.oid = any(array(select oid from pg_proc where pronamespace = %s::regnamespace and proname = %s))
        and parameter.name not in ('caller', 'timeout')
    order by parameter.ordinal
"""


def rows(connection: Connection, statement: str, *parameters: object) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement.encode(), parameters).fetchall()


def start(connection: Connection, operation: str, **arguments: object) -> int:
    return int(scalar(connection, "select pgclarify.start(%s, %s)", operation, json.dumps(arguments)))


def started(connection: Connection, operation: str, **arguments: object) -> list[dict[str, Any]]:
    """Start an operation, wait, and read its rows."""
    run_id = start(connection, operation, **arguments)
    (outcome,) = rows(connection, "select status, error from pgclarify.wait(array[%s]::bigint[], null)", run_id)
    assert outcome["status"] in ("succeeded", "partial"), outcome
    return rows(connection, f"select * from pgclarify.{READ_BY[operation]}(%s)", run_id)  # noqa: S608 - constants


def without_run(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in ("run_id", "citations")} for row in found]


@pytest.mark.parametrize(
    ("operation", "asked", "arguments"),
    [
        ("clarify", "%s, top_k => 4", {"question": VAGUE, "top_k": 4}),
        ("search", "%s, top_k => 5", {"question": VAGUE, "top_k": 5}),
        ("search", """%s, options => '{"method": "lexical"}'""", {"question": VAGUE, "options": {"method": "lexical"}}),
        ("investigate", "%s", {"question": "Which deductible applies to damage by hail?"}),
        ("detect_ambiguity", "%s", {"question": "When does she have time?"}),
        ("detect_ambiguity_many", "%s", {"questions": ["How long is it?", "Who wrote Emma?", "How long is it?"]}),
        ("rewrite", "%s, %s", {"question": "Where was she born?", "history": ["Who painted it?", "It was Ida Holm."]}),
        (
            "clarifying_questions",
            """%s, options => '{"form": "select", "check": "mark"}'""",
            {"question": "Zebra", "options": {"form": "select", "check": "mark"}},
        ),
        ("list_answers", "%s", {"question": "Which fee is charged?"}),
        ("estimate", "%s, top_k => 4", {"questions": ["mileage", "mileage"], "top_k": 4}),
    ],
)
def test_rows_are_those_of_the_function_that_waits(
    asker: Connection, model: Server, operation: str, asked: str, arguments: dict[str, Any]
) -> None:
    found = started(asker, operation, **arguments)
    given = [value for name, value in arguments.items() if name in ("question", "questions", "history")]
    waited = rows(asker, f"select * from pgclarify.{operation}({asked})", *given)  # noqa: S608 - constants

    assert found
    if operation == "detect_ambiguity_many":
        # Equal questions have a row each where one waits for them.
        assert [row["question"] for row in found] == ["How long is it?", "Who wrote Emma?"]
        waited = waited[:2]
    assert without_run(found) == without_run(waited)
    assert found[0].keys() == waited[0].keys()


def test_an_answer_is_served_to_who_waits_for_it_later(asker: Connection, model: Server) -> None:
    found = started(asker, "clarify", question="a fee for each day", top_k=5)

    assert rows(asker, "select * from pgclarify.clarify('a fee for each day', top_k => 5)") == found
    assert start(asker, "clarify", question="a fee for each day", top_k=5) == found[0]["run_id"]
    grouped = started(asker, "consolidate", run_id=found[0]["run_id"], options={"consolidation": "conservative"})
    assert {row["run_id"] for row in grouped} != {found[0]["run_id"]}


def test_a_reply_is_worked_out_beforehand(asker: Connection, superuser: Connection, model: Server) -> None:
    offered = started(asker, "clarifying_questions", question="Zebra", options={"check": "none"})
    (made,) = started(asker, "reply", run_id=offered[0]["run_id"], reply="the animal")
    calls = scalar(superuser, CALLS)

    (turn,) = rows(asker, "select * from pgclarify.reply(%s, 'the animal')", offered[0]["run_id"])
    assert turn["question"] == made["rewritten"]
    assert scalar(superuser, CALLS) == calls
    options = {"conversation": turn["conversation_id"], "check": "none"}
    more = started(asker, "clarifying_questions", question=None, options=options)
    again = [more[0]["run_id"], "in the wild"]
    assert rows(asker, "select * from pgclarify.reply(%s, %s)", *again)[0]["turn"] == 2
    # It is a turn already.
    statement = "select pgclarify.start('reply', jsonb_build_object('run_id', %s::bigint, 'reply', %s::text))"
    assert state_of(asker, statement, again) == NOT_READY


def test_an_estimate_of_what_has_been_answered_is_nothing(asker: Connection, model: Server) -> None:
    assert started(asker, "clarify", question=VAGUE, top_k=3)
    (known,) = started(asker, "estimate", questions=[VAGUE], top_k=3)

    assert (known["distinct_questions"], known["answered"], known["sampled"]) == (1, 1, 0)
    assert (known["calls"], known["calls_at_most"], known["cost_usd"]) == (0, 0, 0)


def test_the_client_starts_and_reads(service: Service, model: Server) -> None:
    with closing(pgclarify.Client(service.connect(service.asker), owns_connection=True)) as client:
        run_ids = [
            client.start("search", "hail", top_k=2),
            client.start("detect_ambiguity_many", ["How long is it?"]),
            client.start("list_answers", "Which fee is charged?", max_answers=2),
        ]
        assert all(outcome.is_over for outcome in client.wait(run_ids, timeout=None))
        assert len(client.search_results(run_ids[0])) == 2
        assert client.question_ambiguities(run_ids[1])[0].run_id == run_ids[1]
        assert client.answers(run_ids[2])[0].run_id == run_ids[2]
        with pytest.raises(pgclarify.errors.NotReady):
            client.answers(run_ids[0])


class TestWithoutWorker:
    @pytest.fixture(autouse=True)
    def _corpus(self, connection: Connection) -> None:
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])

    def test_a_run_is_part_of_the_transaction(self, connection: Connection, connect: Connect) -> None:
        with connection.transaction(force_rollback=True):
            start(connection, "rewrite", question="cars")
            assert scalar(connect(), RUNS) == 0
        assert scalar(connection, RUNS) == 0

    def test_only_who_may_ask_may_start(self, connect: Connect, make_role: MakeRole) -> None:
        asked = """select pgclarify.start('clarify', '{"question": "cars"}')"""
        assert state_of(connect(make_role("pgclarify_reader")), asked) == "42501"
        assert state_of(connect(make_role("pgclarify_user")), asked) is None

    @pytest.mark.parametrize(
        ("operation", "arguments"),
        [
            (None, "{}"),
            ("clarfy", '{"question": "cars"}'),
            ("clarify", None),
            ("clarify", "[]"),
            ("clarify", "{}"),
            ("clarify", '{"question": 5}'),
            ("clarify", '{"question": ""}'),
            ("clarify", '{"question": "cars", "topk": 5}'),
            ("clarify", '{"question": "cars", "search": "dense"}'),
            ("clarify", '{"question": "cars", "caller": {}}'),
            ("clarify", '{"question": "cars", "top_k": "5"}'),
            ("clarify", '{"question": "cars", "top_k": 5.5}'),
            ("clarify", '{"question": "cars", "top_k": null}'),
            ("clarify", '{"question": "cars", "top_k": 99999999999}'),
            ("clarify", '{"question": "cars", "timeout": "5s"}'),
            ("clarify", '{"question": "cars", "options": "dense"}'),
            ("search", '{"question": "cars", "options": {"timeout": "5s"}}'),
            ("search", '{"question": "cars", "options": {"serch": "dense"}}'),
            ("rewrite", '{"question": "cars", "history": "before"}'),
            ("rewrite", '{"question": "cars", "history": ["before", 5]}'),
            ("rewrite", '{"question": "cars", "history": ["before", null]}'),
            ("detect_ambiguity_many", json.dumps({"questions": [str(number) for number in range(501)]})),
            ("consolidate", '{"run_id": true}'),
        ],
    )
    def test_what_cannot_be_started(self, connection: Connection, operation: str | None, arguments: str | None) -> None:
        with pytest.raises(psycopg.Error) as refused:
            connection.execute("select pgclarify.start(%s, %s)", [operation, arguments])

        assert refused.value.sqlstate == INVALID_PARAMETER
        assert refused.value.diag.message_hint
        # psql shows it.
        assert len((refused.value.diag.context or "").splitlines()) <= 10
        assert scalar(connection, RUNS) == 0

    def test_numbers_are_read_as_numbers(self, connection: Connection) -> None:
        run_id = start(connection, "clarify", question="cars", top_k=5.0, corpus=None, options=None)
        assert scalar(connection, "select settings -> 'top_k' from pgclarify.run where run_id = %s", run_id) == 5

    def test_what_cannot_be_read(self, connection: Connection, connect: Connect, make_role: MakeRole) -> None:
        run_id = start(connection, "search", question="cars")
        stranger = connect(make_role("pgclarify_user"))
        for operation, function in READ_BY.items():
            read = f"select * from pgclarify.{function}({run_id})"  # noqa: S608 - constants
            # The run is not over, or belongs to another operation.
            assert state_of(connection, read) == NOT_READY, operation
            assert state_of(stranger, read) == UNDEFINED_OBJECT, operation
        assert scalar(connection, "select pgclarify.cancel(array[%s]::bigint[])", run_id)
        assert state_of(connection, "select * from pgclarify.search_results(%s)", [run_id]) == "PC003"

    def test_a_call_without_a_worker_shows_few_lines_of_context(self, connection: Connection) -> None:
        for call in ("clarify('q')", "search('q')", "investigate('q')", "rewrite('q')", "detect_ambiguity_many('{q}')"):
            with pytest.raises(psycopg.Error) as refused:
                connection.execute(f"select * from pgclarify.{call}".encode())  # noqa: S608 - constants
            assert refused.value.sqlstate == "PC001"
            assert len((refused.value.diag.context or "").splitlines()) <= 5, call


class TestCatalog:
    def test_every_operation_is_known(self, connection: Connection) -> None:
        (allowed,) = connection.execute(
            "select pg_get_constraintdef(oid) from pg_constraint where conname = 'run_operation_is_known'"
        ).fetchall()
        known = connection.execute(OPERATIONS).fetchall()
        assert {name: function for name, _, function in known} == READ_BY
        assert all(f"'{name}'" in allowed[0] for name in READ_BY)
        assert allowed[0].count("::text") == len(READ_BY) + allowed[0].count("::text[]")

    @pytest.mark.parametrize("operation", sorted(READ_BY))
    def test_what_it_takes_is_what_the_function_takes_that_waits(self, connection: Connection, operation: str) -> None:
        waiting = connection.execute(PARAMETERS, ["pgclarify", operation]).fetchall()
        assert waiting
        assert connection.execute(PARAMETERS, ["pgclarify_private", f"prepare_{operation}"]).fetchall() == waiting

    def test_rows_of_each_type_can_be_read(self, connection: Connection) -> None:
        for name, row_type, function in connection.execute(OPERATIONS).fetchall():
            returned = scalar(connection, "select %s::regproc::oid::regprocedure::text", f"pgclarify.{function}")
            assert returned == f"pgclarify.{function}(bigint)", name
            reader = f"pgclarify_private.rows(pgclarify.{row_type},bigint[],name)"
            assert scalar(connection, "select to_regprocedure(%s) is not null", reader), name
