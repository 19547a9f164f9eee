"""Calls that wait for a real worker: in each kind of SQL statement, and with each end of the wait."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from psycopg import sql

from pgclarify.install.installer import install
from tests.integration.held_replies import hold_replies
from tests.integration.manual_worker import MakeWorker
from tests.openai_server import Server
from tests.sessions import Connect, Connection, scalar
from tests.workers import CORPUS, DOCUMENTS, Service, loopbacks, until

CLARIFY = "select * from pgclarify.clarify(%s, top_k => 4)"
WAIT_EVENT = "select wait_event from pg_stat_activity where pid = %s"


def test_readings_come_with_the_words_that_prove_them(asker: Connection, model: Server) -> None:
    rows = asker.execute(
        """
        select ordinal, run_id, status, support, document_ids, citations, interpretation <> '' and answer <> ''
        from pgclarify.clarify('what does a rental cost', corpus => %s, top_k => %s)
        """,
        [CORPUS, len(DOCUMENTS)],
    ).fetchall()

    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert {row[2] for row in rows} == {"succeeded"}
    assert all(row[6] for row in rows)
    cited = []
    for _, _, _, support, document_ids, citations, _ in rows:
        assert len(document_ids) == len(set(document_ids)) == support
        assert [citation["rank"] for citation in citations] == list(range(1, len(citations) + 1))
        assert {citation["document_id"] for citation in citations} == set(document_ids)
        for citation in citations:
            content = DOCUMENTS[int(citation["document_id"])][1]
            assert content[citation["start_char"] : citation["end_char"]] == citation["quote"]
            assert citation["is_current"]
            cited.append(citation["document_id"])
    grounded = asker.execute(
        """
        select candidate.document_id
        from pgclarify.verdict join pgclarify.candidate using (run_id, rank)
        where run_id = %s and outcome = 'grounded'
        """,
        [rows[0][1]],
    ).fetchall()
    assert sorted(cited) == sorted(document_id for (document_id,) in grounded)
    assert 1 < len(cited) < len(DOCUMENTS), "the rules ground some passages and abstain on others"


def test_a_run_outlives_the_transaction_that_asked(asker: Connection, model: Server) -> None:
    with asker.transaction(force_rollback=True):
        rows = asker.execute(CLARIFY, ["rolled back"]).fetchall()

    assert rows
    assert asker.execute("select * from pgclarify.result(%s)", [rows[0][0]]).fetchall() == rows


def test_once_for_each_row(asker: Connection, model: Server) -> None:
    rows = asker.execute(
        """
        select asked.id, array_agg(distinct reading.run_id), count(*)
        from (values (1, 'lateral hail'), (2, 'lateral fuel'), (3, 'lateral hail')) as asked (id, question),
        lateral pgclarify.clarify(asked.question, top_k => 4) as reading
        group by asked.id order by asked.id
        """
    ).fetchall()

    runs = [run_ids for _, run_ids, _ in rows]
    assert [row[0] for row in rows] == [1, 2, 3]
    assert [len(run_ids) for run_ids in runs] == [1, 1, 1]
    assert runs[0] == runs[2] != runs[1], "a question that was answered a moment ago is not asked again"


@pytest.mark.parametrize(
    ("level", "access"),
    [
        ("read committed", "read write"),
        ("read committed", "read only"),
        ("repeatable read", "read only"),
        ("serializable", "read write"),
    ],
)
def test_under_every_isolation_level(asker: Connection, model: Server, level: str, access: str) -> None:
    question = f"{level} {access}"
    with asker.transaction():
        asker.execute(f"set transaction isolation level {level}, {access}".encode())
        asker.execute("select count(*) from pgclarify.run")  # the snapshot is taken here
        inside = asker.execute(CLARIFY, [question]).fetchall()
        calls = model.calls
        again = asker.execute(CLARIFY, [question]).fetchall()
        assert model.calls == calls
        many = asker.execute(
            "select distinct run_id, status from pgclarify.clarify_many(array[%s], top_k => 4)", [question + " many"]
        ).fetchall()

    assert inside
    # Run ids are not compared: a snapshot that cannot see the first run makes a second one, which pays for nothing.
    assert [row[2:8] for row in again] == [row[2:8] for row in inside]
    assert [status for _, status in many] == ["succeeded"]
    assert asker.execute("select * from pgclarify.result(%s)", [inside[0][0]]).fetchall() == inside


@pytest.mark.parametrize("language", ["sql", "plpgsql"])
def test_inside_a_stable_function_of_a_user(
    service: Service, superuser: Connection, asker: Connection, model: Server, language: str
) -> None:
    query = "select * from pgclarify.clarify(question, top_k => 4)"
    body = query if language == "sql" else f"begin return query {query}; end"
    superuser.execute(
        f"""
        create function public.readings_{language}(question text)
        returns setof pgclarify.clarification language {language} stable as $$ {body} $$
        """.encode()
    )

    statement = sql.SQL("select * from {}(%s)").format(sql.Identifier(f"readings_{language}"))
    rows = asker.execute(statement, [f"a stable {language} function"]).fetchall()

    assert rows
    requester = asker.execute("select requested_by from pgclarify.run where run_id = %s", [rows[0][0]])
    assert requester.fetchone() == (service.asker,)


def test_without_a_worker_it_fails_at_once(connection: Connection) -> None:
    connection.execute("select pgclarify.create_corpus('empty')")
    connection.execute("set statement_timeout = '30s'")
    for statement in (
        "select * from pgclarify.clarify('anybody there?', timeout => null)",
        "select * from pgclarify.clarify_many(array['anybody there?'])",
        "select * from pgclarify.search('anybody there?')",
    ):
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(statement.encode())
        assert caught.value.sqlstate == "PC001"
        assert caught.value.diag.message_hint

    assert scalar(connection, "select count(*) from pgclarify.run") == 0


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
def test_after_the_timeout_the_run_goes_on(asker: Connection, model: Server, level: str) -> None:
    with hold_replies(model), pytest.raises(psycopg.Error) as caught, asker.transaction():
        asker.execute(f"set transaction isolation level {level}".encode())
        asker.execute(CLARIFY.replace(")", ", timeout => '0.3s')").encode(), [f"too late {level}"])

    assert caught.value.sqlstate == "PC002"
    (run_id,) = asker.execute("select run_id from pgclarify.run where question = %s", [f"too late {level}"]).fetchall()[
        0
    ]
    assert str(run_id) in (caught.value.diag.message_detail or "")
    assert asker.execute("select status from pgclarify.wait(array[%s::bigint])", [run_id]).fetchone() == ("succeeded",)
    assert asker.execute("select * from pgclarify.result(%s)", [run_id]).fetchall()


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
def test_a_waiting_call_tells_its_progress_if_that_is_switched_on(asker: Connection, model: Server, level: str) -> None:
    told: list[tuple[str | None, str]] = []
    asker.add_notice_handler(lambda notice: told.append((notice.sqlstate, notice.message_primary or "")))
    asker.execute(f"set default_transaction_isolation = '{level}'".encode())
    question = f"no progress {level}"
    with hold_replies(model), pytest.raises(psycopg.Error):
        asker.execute(CLARIFY.replace(")", ", timeout => '1.5s')").encode(), [question])
    asker.execute(
        "select * from pgclarify.wait(array(select run_id from pgclarify.run where question = %s))", [question]
    )
    assert told == []

    asker.execute("set pgclarify.progress = on")
    for call, time_left in (
        (CLARIFY, r" \(the call waits \d+ s more\)"),
        # Without a timeout.
        ("select * from pgclarify.clarify_many(array[%s], top_k => 4)", ""),
    ):
        told.clear()
        question = f"progress {level} {bool(time_left)}"
        # Two of the passages are judged.
        with ThreadPoolExecutor(1) as pool, hold_replies(model, after=2):
            # Readings that a check doubts are judged when all replies are there.
            any_quote = call.replace("top_k => 4", """top_k => 4, options => '{"verify": "none"}'""")
            answer = pool.submit(asker.execute, any_quote.encode(), [question])
            until(lambda: any(" s to go" in text for _, text in told), 60)
        answer.result()

        run_id, passages = asker.execute(
            "select run_id, count(*) from pgclarify.run join pgclarify.candidate using (run_id)"
            " where question = %s group by run_id",
            [question],
        ).fetchall()[0]
        judged = rf"run {run_id}: \d of {passages} passages are judged, about \d+ s to go{time_left}"
        assert any(sqlstate == "PC019" and re.fullmatch(judged, text) for sqlstate, text in told), told


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
def test_a_cancelled_call_cancels_its_run_and_leaves_nothing_behind(
    service: Service, superuser: Connection, model: Server, level: str
) -> None:
    with hold_replies(model), closing(service.connect()) as caller, ThreadPoolExecutor(1) as pool:
        # A superuser who takes the asker's role, and afterwards looks which connections it left open.
        caller.execute(f"set role {service.asker}".encode())
        caller.execute(f"set default_transaction_isolation = '{level}'".encode())
        answer = pool.submit(caller.execute, CLARIFY.encode(), [f"cancelled in {level}"])
        until(lambda: model.in_flight > 0 or answer.done())
        superuser.execute("select pg_cancel_backend(%s::integer)", [caller.info.backend_pid])

        assert isinstance(answer.exception(60), psycopg.errors.QueryCanceled)
        caller.execute("reset role")
        assert scalar(caller, "select pgclarify_dblink.dblink_get_connections()") is None
        until(lambda: loopbacks(superuser) == 0)

    status = "select status from pgclarify.run where question = %s"
    assert scalar(superuser, status, f"cancelled in {level}") == "cancelled"
    # A call in flight is paid for, so it goes on until it is answered.
    until(lambda: model.in_flight == 0)


def test_cancelling_wait_leaves_the_run_alone(
    service: Service, superuser: Connection, asker: Connection, model: Server
) -> None:
    with hold_replies(model), ThreadPoolExecutor(1) as pool:
        run_id = scalar(
            asker, "select pgclarify.submit('clarify', 'wait for it', options => jsonb_build_object('top_k', 4))"
        )
        waiting = pool.submit(asker.execute, b"select * from pgclarify.wait(array[%s::bigint])", [run_id])
        # No call shows that the caller waits, because the run was submitted before.
        until(lambda: scalar(superuser, WAIT_EVENT, asker.info.backend_pid) == "PgSleep" or waiting.done())
        superuser.execute("select pg_cancel_backend(%s::integer)", [asker.info.backend_pid])
        error = waiting.exception(60)
    assert isinstance(error, psycopg.errors.QueryCanceled)

    assert asker.execute("select status from pgclarify.wait(array[%s::bigint])", [run_id]).fetchone() == ("succeeded",)


def test_a_corpus_of_the_open_transaction(asker: Connection, model: Server) -> None:
    with pytest.raises(psycopg.Error) as caught, asker.transaction():
        asker.execute("select pgclarify.create_corpus('uncommitted')")
        asker.execute("select * from pgclarify.clarify('hail', 'uncommitted')")

    assert caught.value.sqlstate == "PC004"


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
def test_waiting_for_a_run_of_the_open_transaction(asker: Connection, superuser: Connection, level: str) -> None:
    with pytest.raises(psycopg.Error) as caught, asker.transaction():
        asker.execute(f"set transaction isolation level {level}".encode())
        asker.execute("select 1")
        # Others begin meanwhile.
        for _ in range(3):
            superuser.execute("select pg_current_xact_id()")
        asker.execute("select * from pgclarify.wait(array[pgclarify.submit('clarify', 'not committed')])")

    assert caught.value.sqlstate == "PC004"


def test_without_dblink_submit_wait_and_result_still_work(
    service: Service, superuser: Connection, asker: Connection, model: Server
) -> None:
    superuser.execute("drop extension dblink cascade")
    try:
        with pytest.raises(psycopg.Error) as caught:
            asker.execute(CLARIFY, ["no second connection"])
        assert caught.value.sqlstate == "PC005"
        assert caught.value.diag.message_hint

        run_id = scalar(
            asker,
            "select pgclarify.submit('clarify', 'no second connection', options => jsonb_build_object('top_k', 4))",
        )
        status = asker.execute("select status from pgclarify.wait(array[%s::bigint])", [run_id]).fetchone()
        assert status == ("succeeded",)
        rows = asker.execute("select * from pgclarify.result(%s)", [run_id]).fetchall()
        assert rows
        # An answered question needs no worker, and so no loopback.
        assert asker.execute(CLARIFY, ["no second connection"]).fetchall() == rows
    finally:
        install(service.dsn)

    assert asker.execute(CLARIFY, ["a second connection again"]).fetchall()


def test_a_loopback_that_is_lost_while_a_call_waits_names_the_run(
    service: Service, superuser: Connection, asker: Connection, model: Server
) -> None:
    unfinished_runs = scalar(
        superuser, "select pg_get_functiondef('pgclarify_private.unfinished_runs(bigint[])'::regprocedure)"
    )
    superuser.execute(
        """
        create or replace function pgclarify_private.unfinished_runs(run_ids bigint[])
        returns bigint[]
        language plpgsql stable security definer
        as $$
        begin
            raise exception 'the loopback connection failed' using errcode = 'PC005', detail = 'It is refused.';
        end
        $$
        """
    )
    try:
        with pytest.raises(psycopg.Error) as caught, asker.transaction():
            asker.execute("set transaction isolation level repeatable read")
            asker.execute(CLARIFY, ["a connection that is lost"])
    finally:
        superuser.execute(unfinished_runs)

    told = caught.value.diag
    assert caught.value.sqlstate == "PC005"
    (run_id,) = asker.execute(
        "select run_id from pgclarify.run where question = 'a connection that is lost'"
    ).fetchall()[0]
    assert (told.table_name, told.column_name, told.datatype_name) == ("run", "run_id", str(run_id))
    assert str(run_id) in (told.message_detail or "")
    assert f"pgclarify.wait(array[{run_id}])" in (told.message_hint or "")
    assert asker.execute("select status from pgclarify.wait(array[%s::bigint])", [run_id]).fetchone() == ("succeeded",)


def test_calls_cut_off_at_any_moment_leave_nothing_behind(
    service: Service, superuser: Connection, model: Server
) -> None:
    """The call may be cancelled while the loopback is being opened or closed, or while the run is being entered."""
    model.latency = 600.0
    for milliseconds in range(1, 61):
        level = "repeatable read" if milliseconds % 2 else "read committed"
        # A new session for each, because open connections end with their session, and are counted before that.
        with closing(service.connect()) as caller:
            caller.execute(f"set role {service.asker}".encode())
            caller.execute(f"set default_transaction_isolation = '{level}'".encode())
            # The limit is for this statement only. Otherwise the statements after it would be cancelled, too.
            cut_off = f"set local statement_timeout = {milliseconds}; {CLARIFY}"
            with pytest.raises(psycopg.errors.QueryCanceled):
                psycopg.ClientCursor(caller).execute(cut_off.encode(), [f"cut off after {milliseconds} ms"])
            caller.execute("reset role")
            assert scalar(caller, "select pgclarify_dblink.dblink_get_connections()") is None

    unfinished = "select count(*) from pgclarify.run where starts_with(question, 'cut off') and finished_at is null"
    until(lambda: loopbacks(superuser) == 0 and scalar(superuser, unfinished) == 0)


def test_a_call_that_is_cut_off_while_its_run_is_committed_cancels_it(
    connection: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    connection.execute("select pgclarify.create_corpus('empty')")
    make_worker()
    connection.execute("""
        create function public.linger() returns trigger language plpgsql set lock_timeout = 0 as
        $$ begin perform pg_advisory_xact_lock_shared(1); return null; end $$;
        create constraint trigger linger after insert on pgclarify_private.run
            deferrable initially deferred for each row execute function public.linger();
        select pg_advisory_lock(1);
    """)
    held = """
        select count(*) from pg_stat_activity
        where datname = current_database() and usename = 'pgclarify_loopback' and wait_event = 'advisory'
    """
    caller = connect()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(caller.execute, CLARIFY.encode(), ["cut off"])
        until(lambda: scalar(connection, held) == 1 or answer.done())
        connection.execute("select pg_cancel_backend(%s::integer)", [caller.info.backend_pid])
        # Wait until the session that cancels the run waits for the lock.
        until(lambda: scalar(connection, held) == 2 or answer.done())
        connection.execute("select pg_advisory_unlock(1)")
        assert isinstance(answer.exception(60), psycopg.errors.QueryCanceled)

    assert until(lambda: scalar(connection, "select status from pgclarify.run")) == "cancelled"
