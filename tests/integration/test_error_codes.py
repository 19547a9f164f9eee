"""Codes and fields have all that programs need of an error or a failed run. The wording is for people."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pgclarify.client.blocking import Client
from pgclarify.errors import InputError, RunFailed, RunTimeout
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

LEXICAL = '{"method": "lexical"}'


def submit(connection: Connection) -> int:
    return int(
        scalar(
            connection,
            "select pgclarify.submit('clarify', 'cars', 'insurance', jsonb_build_object('top_k', 5) || %s::jsonb)",
            LEXICAL,
        )
    )


def code(connection: Connection, run_id: int) -> Any:
    return scalar(connection, "select error_code from pgclarify.run where run_id = %s", run_id)


def start(worker: ManualWorker, run_id: int) -> tuple[Any, Any]:
    """Start a run that cannot be started; the operation and the code that the worker counts."""
    (row,) = worker.send("start_run", run_id=run_id, worker_id=worker.worker_id, is_alone=False)
    assert (row["must_be_alone"], row["attempt"]) == (False, None)
    return row["operation"], row["error_code"]


@pytest.fixture
def corpus(connection: Connection) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])


@pytest.mark.usefixtures("corpus")
class TestRunsThatCannotBeStarted:
    @pytest.mark.parametrize(
        ("cause", "expected"),
        [
            ("select pgclarify.drop_corpus('insurance')", "42704"),
            ("update pgclarify_private.run set crashes = 10", "PC016"),
            ("update pgclarify_private.embedding_space set error = 'no such model'", "PC011"),
        ],
    )
    def test_a_run_that_cannot_be_started_has_the_code_of_its_cause(
        self, connection: Connection, make_worker: MakeWorker, cause: str, expected: str
    ) -> None:
        run_id = submit(connection)
        connection.execute(cause.encode())
        assert start(make_worker(), run_id) == ("clarify", expected)
        assert code(connection, run_id) == expected

    def test_the_role_may_not_search_any_more(
        self, connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
    ) -> None:
        run_id = submit(connect(make_role("pgclarify_user")))
        connection.execute("update pgclarify_private.corpus set readers = '{}'")
        assert start(make_worker(), run_id) == ("clarify", "42501")
        assert code(connection, run_id) == "42501"


@pytest.mark.usefixtures("corpus")
class TestFields:
    @pytest.mark.committed
    def test_a_failed_run_is_named(self, connection: Connection, make_worker: MakeWorker) -> None:
        run_id = submit(connection)
        worker = make_worker()
        worker.start(run_id)
        worker.finish(run_id, status="failed", error="the model is gone", error_code="PC013")
        with pytest.raises(psycopg.Error) as failed:
            connection.execute("select * from pgclarify.result(%s)", [run_id])
        said = failed.value.diag
        assert (said.sqlstate, said.table_name, said.column_name) == ("PC003", "run", "run_id")
        assert said.datatype_name == str(run_id)
        assert scalar(connection, "select error_code from pgclarify.wait(array[%s::bigint])", run_id) == "PC013"
        with Client(connection) as client, pytest.raises(RunFailed) as caught:
            client.result(run_id)
        assert caught.value.run_ids == (run_id,)

    @pytest.mark.committed
    def test_runs_that_go_on_are_named_however_many(self, connection: Connection, make_worker: MakeWorker) -> None:
        make_worker()
        with Client(connection) as client, pytest.raises(RunTimeout) as caught:
            client.clarify_many([f"q{number}" for number in range(150)], corpus="insurance", timeout=0.2)
        going_on = connection.execute("select run_id from pgclarify.run order by run_id").fetchall()
        assert [(run_id,) for run_id in caught.value.run_ids] == going_on
        assert len(going_on) == 150

    @pytest.mark.committed
    def test_the_client_has_them_as_attributes(self, connection: Connection) -> None:
        with Client(connection) as client, pytest.raises(InputError) as caught:
            client.clarify("q", corpus="insurance", serch="lexical")
        assert caught.value.parameter == "serch"
        assert {"method", "reranker"} <= set(caught.value.choices)


def test_whether_a_corpus_is_to_be_made_or_named(connection: Connection) -> None:
    for constraint in ("corpus_exists", None, "corpus_is_named"):
        if constraint is None:
            connection.execute("select pgclarify.create_corpus('one'), pgclarify.create_corpus('two')")
            continue
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            connection.execute("select pgclarify.submit('clarify', 'q')")
        assert (refused.value.diag.column_name, refused.value.diag.constraint_name) == ("corpus", constraint)


@pytest.mark.parametrize(
    ("status", "stop_code", "expected"),
    [
        ("partial", "budget", "PC007"),
        ("partial", "failed_calls", "01000"),
        ("succeeded", "no_passage", "01000"),
        ("succeeded", "not_answered", None),
    ],
)
def test_a_warning_about_one_run_and_about_many_has_the_code_of_its_cause(
    connection: Connection, status: str, stop_code: str, expected: str | None
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    run_id = submit(connection)
    ended = "update pgclarify_private.run set status = %s, stop_code = %s, started_at = now(), finished_at = now()"
    connection.execute(ended, [status, stop_code])
    codes: list[str | None] = []
    connection.add_notice_handler(lambda said: codes.append(said.sqlstate))
    connection.execute("select from pgclarify.result(%s)", [run_id])
    connection.execute("select pgclarify_private.warn_of_partial(array[%s]::bigint[])", [run_id])
    assert codes == ([] if expected is None else [expected] * 2)
