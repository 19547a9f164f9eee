"""Each operation can be started without waiting, and gives the same rows as the function that waits."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, rows_of
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.stored_answers import rows
from tests.openai_server import Server
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of
from tests.workers import asker, model, service, superuser

__all__ = ["asker", "model", "service", "superuser"]

INVALID_PARAMETER, NOT_READY, UNDEFINED_OBJECT = "22023", "55000", "42704"
VAGUE = "rental car"
HISTORY = ["Who painted it?", "It was Ida Holm."]
RUNS = "select count(*) from pgclarify.run"
CALLS = "select count(*) from pgclarify_private.completion where reply is not null"
ROW_TYPES = {
    "clarify": "clarification",
    "consolidate": "clarification",
    "search": "search_result",
    "investigate": "investigation",
    "detect_ambiguity": "detection",
    "rewrite": "rewriting",
    "clarifying_questions": "proposed_question",
    "reply": "rewriting",
    "list_answers": "answer",
    "estimate": "estimate",
}


def submit(connection: Connection, operation: str, question: str | None = None, **options: object) -> int:
    asked = "select pgclarify.submit(%s, %s, options => %s)"
    return int(scalar(connection, asked, operation, question, json.dumps(options)))


def submitted(
    connection: Connection, operation: str, question: str | None = None, **options: object
) -> list[dict[str, Any]]:
    """Submit an operation, wait, and read its rows."""
    run_id = submit(connection, operation, question, **options)
    (outcome,) = rows(connection, "select status, error from pgclarify.wait(array[%s]::bigint[], null)", run_id)
    assert outcome["status"] in ("succeeded", "partial"), outcome
    return rows(connection, rows_of(ROW_TYPES[operation]), run_id)


def without_run(found: Any) -> Any:
    """What another run of the same question has in common, also in the steps of an investigation."""
    own = {"run_id", "citations", "created_at", "finished_at"}
    if isinstance(found, dict):
        return {name: without_run(value) for name, value in found.items() if name not in own}
    return [without_run(value) for value in found] if isinstance(found, list) else found


@pytest.mark.parametrize(
    ("operation", "asked", "question", "options"),
    [
        ("clarify", "%s, top_k => 4", VAGUE, {"top_k": 4}),
        ("search", "%s, top_k => 5", VAGUE, {"top_k": 5}),
        ("search", """%s, options => '{"method": "lexical"}'""", VAGUE, {"method": "lexical"}),
        ("investigate", "%s", "Which deductible applies to damage by hail?", {}),
        ("detect_ambiguity", "%s", "When does she have time?", {}),
        ("rewrite", "%s, array['Who painted it?', 'It was Ida Holm.']", "Where was she born?", {"history": HISTORY}),
        (
            "clarifying_questions",
            """%s, options => '{"form": "select", "check": "mark"}'""",
            "Zebra",
            {"form": "select", "check": "mark"},
        ),
        ("list_answers", "%s", "Which fee is charged?", {}),
    ],
)
def test_rows_are_those_of_the_function_that_waits(
    asker: Connection, model: Server, operation: str, asked: str, question: str, options: dict[str, Any]
) -> None:
    found = submitted(asker, operation, question, **options)
    waited = rows(asker, f"select * from pgclarify.{operation}({asked})", question)  # noqa: S608 - constants

    assert found
    assert without_run(found) == without_run(waited)
    assert found[0].keys() == waited[0].keys()


def test_a_conversation_can_be_submitted(asker: Connection, model: Server) -> None:
    offered = submitted(asker, "clarifying_questions", "Zebra", check="none")
    (replied,) = submitted(asker, "reply", run_id=offered[0]["run_id"], reply="the animal")
    assert submitted(asker, "clarifying_questions", reply=replied["run_id"], check="none")


@pytest.mark.rolled_back
class TestWithoutWorker:
    @pytest.fixture(autouse=True)
    def _corpus(self, connection: Connection) -> None:
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])

    @pytest.mark.committed
    def test_a_run_is_part_of_the_transaction(self, connection: Connection, connect: Connect) -> None:
        with connection.transaction(force_rollback=True):
            submit(connection, "rewrite", "cars")
            assert scalar(connect(), RUNS) == 0
        assert scalar(connection, RUNS) == 0

    @parametrize_in_one_test(
        "operation, question, options",
        [
            (None, "cars", "{}"),
            ("clarfy", "cars", "{}"),
            ("clarify", "cars", '{"question": "vans"}'),
            ("clarify", "cars", '{"caller": {}}'),
            ("clarify", "cars", '{"top_k": "5"}'),
            ("clarify", "cars", '{"top_k": 5.5}'),
            ("clarify", "cars", '{"top_k": 99999999999}'),
            ("clarify", "cars", '{"timeout": "5s"}'),
            ("rewrite", "cars", '{"history": "before"}'),
            ("rewrite", "cars", '{"history": ["before", 5]}'),
            ("rewrite", "cars", '{"history": ["before", null]}'),
            ("consolidate", None, '{"run_id": true}'),
        ],
    )
    def test_wrong_arguments_of_submit_are_refused_with_a_hint(
        self, connection: Connection, operation: str | None, question: str | None, options: str
    ) -> None:
        with pytest.raises(psycopg.Error) as refused:
            connection.execute("select pgclarify.submit(%s, %s, options => %s)", [operation, question, options])

        assert refused.value.sqlstate == INVALID_PARAMETER
        assert refused.value.diag.message_hint
        assert scalar(connection, RUNS) == 0

    def test_rows_of_another_operation_or_role_cannot_be_read(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        run_id = submit(connection, "search", "cars")
        stranger = connect(make_role("pgclarify_user"))
        for operation, row_type in ROW_TYPES.items():
            # The run is not over, or belongs to another operation.
            assert sqlstate_of(connection, rows_of(row_type), [run_id]) == NOT_READY, operation
            assert sqlstate_of(stranger, rows_of(row_type), [run_id]) == UNDEFINED_OBJECT, operation
        assert scalar(connection, "select pgclarify.cancel(array[%s]::bigint[])", run_id)
        assert sqlstate_of(connection, rows_of("search_result"), [run_id]) == "PC003"


@pytest.mark.rolled_back
class TestCatalog:
    @parametrize_in_one_test("operation", sorted(ROW_TYPES.keys() - {"reply"}))
    def test_submit_has_the_parameters_of_the_waiting_function(self, connection: Connection, operation: str) -> None:
        names = "select proargnames[:pronargs] from pg_proc where pronamespace::regnamespace::text = 'pgclarify'"
        waiting = scalar(connection, f"{names} and proname = %s", operation)
        parameters = scalar(connection, "select pgclarify_private.parameters_of(%s)", operation)
        assert parameters.keys() == set(waiting) - {"options", "timeout"}

    def test_every_operation_has_a_view_of_its_runs(self, connection: Connection) -> None:
        for (view,) in connection.execute("select result_view from pgclarify_private.operations()").fetchall():
            connection.execute(f"select run_id from pgclarify.{view}".encode())  # noqa: S608 - our names
