"""Installs: twice, six at once, over an older schema, over a newer one, and while calls are active."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgclarify.errors import ConfigurationError, DatabaseError, PermissionDenied, SchemaMismatch, ServerUnavailable
from pgclarify.install import functions, installer, versions
from tests.integration.attaching import attach
from tests.migration import catalog
from tests.servers import in_database
from tests.sessions import Connect, Connection, MakeRole, scalar
from tests.workers import as_role

HEAD = "v0_4_0"


def test_installing_twice_changes_nothing(database: str, connection: psycopg.Connection[Any]) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    keys = connection.execute("select * from pgclarify_private.caller_key").fetchall()
    ways_back = connection.execute("select * from pgclarify_private.loopback").fetchall()

    installation = installer.install(database)

    assert (installation.previous, installation.current, installation.has_dblink) == (HEAD, HEAD, True)
    assert connection.execute("select * from pgclarify_private.caller_key").fetchall() == keys
    assert connection.execute("select * from pgclarify_private.loopback").fetchall() == ways_back
    assert connection.execute("select corpus from pgclarify.corpus").fetchall() == [("insurance",)]
    assert len(keys) == len(ways_back) == 1


def test_six_installs_at_once(make_database: Callable[..., str]) -> None:
    dsn = make_database()

    with ThreadPoolExecutor(6) as pool:
        installations = list(pool.map(installer.install, [dsn] * 6))

    assert sorted(str(installation.previous) for installation in installations) == ["None"] + [HEAD] * 5
    assert {installation.current for installation in installations} == {HEAD}
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        assert connection.execute("select count(*) from pgclarify_private.caller_key").fetchone() == (1,)
        assert connection.execute("select pgclarify.create_corpus('insurance')").fetchone() == (1,)


def test_a_failed_install_leaves_nothing(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("create schema pgclarify authorization pgclarify_owner")
        connection.execute("set role pgclarify_owner")
        # A conflict with one of our public functions: the same signature with another result type.
        connection.execute("create function pgclarify.cancel(run_ids bigint[]) returns text language sql as 'select 1'")

        with pytest.raises(psycopg.errors.InvalidFunctionDefinition):
            installer.install(dsn)

        assert connection.execute("select to_regclass('pgclarify_private.run')").fetchone() == (None,)
        assert connection.execute("select count(*) from pg_extension where extname = 'vector'").fetchone() == (0,)


@pytest.mark.parametrize("schema", ["pgclarify", "pgclarify_private"])
def test_a_schema_of_somebody_else_is_not_moved_into(
    make_role: Callable[..., str], make_database: Callable[..., str], schema: str
) -> None:
    dsn = make_database()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute(
            sql.SQL("create schema {} authorization {}").format(sql.Identifier(schema), sql.Identifier(make_role()))
        )

    with pytest.raises(ConfigurationError):
        installer.install(dsn)


@pytest.mark.parametrize(("relation", "column"), [("schema_version", "version_num"), ("applied_sql", "shipped_hash")])
def test_code_of_somebody_elses_schema_does_not_run_as_the_installer(
    make_role: Callable[..., str], make_database: Callable[..., str], relation: str, column: str
) -> None:
    dsn = make_database()
    stranger = make_role()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute(sql.SQL("create schema of_the_stranger authorization {}").format(sql.Identifier(stranger)))
        connection.execute(sql.SQL("create schema pgclarify_private authorization {}").format(sql.Identifier(stranger)))
        with closing(psycopg.connect(dsn, user=stranger, autocommit=True)) as attacker:
            # A sequence keeps its state when a transaction is rolled back.
            attacker.execute("create sequence of_the_stranger.runs")
            attacker.execute(
                "create function of_the_stranger.run() returns text language sql"
                " as $$ select nextval('of_the_stranger.runs')::text $$"
            )
            attacker.execute(
                sql.SQL("create view pgclarify_private.{} as select of_the_stranger.run() as {}").format(
                    sql.Identifier(relation), sql.Identifier(column)
                )
            )

        with pytest.raises(ConfigurationError):
            installer.install(dsn)

        assert connection.execute("select is_called from of_the_stranger.runs").fetchone() == (False,)


@pytest.mark.parametrize("group", [None, "pgclarify_user"])
def test_a_role_without_rights_learns_who_may_install(database: str, make_role: MakeRole, group: str | None) -> None:
    role = make_role(*filter(None, [group]))

    with pytest.raises(PermissionDenied) as caught:
        installer.install(as_role(database, role))

    assert "superuser" in (caught.value.hint or "")


@pytest.mark.parametrize("revision", ["0001", "0015", "0017", "9999"])
def test_a_schema_that_there_is_no_way_from_is_left_alone(
    database: str, connection: psycopg.Connection[Any], revision: str
) -> None:
    connection.execute("update pgclarify_private.schema_version set version_num = %s", [revision])

    with pytest.raises(SchemaMismatch):
        installer.install(database)

    assert connection.execute("select version_num from pgclarify_private.schema_version").fetchone() == (revision,)
    assert connection.execute("select count(*) from pgclarify.corpus").fetchone() == (0,)


def test_checking_a_missing_schema_is_an_error(make_database: Callable[..., str]) -> None:
    with (
        closing(psycopg.connect(make_database(), autocommit=True)) as connection,
        pytest.raises(SchemaMismatch),
    ):
        versions.check_schema(connection)


def test_installing_into_a_missing_database_is_an_error(server: str) -> None:
    with pytest.raises(ServerUnavailable):
        installer.install(in_database(server, "there_is_none"))


def test_installing_keeps_what_rests_on_our_views(database: str, connection: psycopg.Connection[Any]) -> None:
    connection.execute("create view public.mine as select * from pgclarify.run")
    connection.execute("create view public.readings as select * from pgclarify.result(1)")

    installer.install(database)

    assert connection.execute("select count(*) from public.mine").fetchone() == (0,)


@pytest.fixture
def call_in_progress(connect: Connect, make_role: MakeRole) -> Connection:
    """A session with a call of ours in an open transaction, like one that waits for an answer."""
    caller = connect(make_role("pgclarify_user"))
    caller.execute("begin")
    caller.execute("select from pgclarify_private.caller, pgclarify.run, pgclarify.worker_status")
    return caller


def test_with_nothing_to_change_it_waits_for_nobody(
    database: str, connection: Connection, call_in_progress: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installer, "LOCK_TIMEOUT", "1s")
    views = (
        "select oid, xmin::text from pg_class"
        " where relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace) order by oid"
    )
    before = connection.execute(views.encode()).fetchall()

    installer.install(database)

    assert connection.execute(views.encode()).fetchall() == before
    assert scalar(call_in_progress, "select count(*) from pgclarify.run") == 0


def test_a_table_of_another_role_in_a_schema_of_ours_is_not_locked(
    database: str, connection: Connection, connect: Connect, make_role: MakeRole
) -> None:
    role = make_role("pgclarify_user")
    owner = connect(role)
    connection.execute(sql.SQL("grant create on schema pgclarify to {}").format(sql.Identifier(owner.info.user)))
    owner.execute("create table pgclarify.mine ()")
    connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'older'")

    installer.install(database)

    assert scalar(connection, "select count(*) from pgclarify.mine") == 0


def test_with_something_to_change_it_says_whom_it_waits_for(
    database: str, connection: Connection, call_in_progress: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'older'")
    call_in_progress.execute("set application_name = 'a nightly job' -- \x1b[8m")
    said: list[str] = []

    with monkeypatch.context() as impatient, pytest.raises(DatabaseError) as refusal:
        # More than the second after which it says so.
        impatient.setattr(installer, "LOCK_TIMEOUT", "1200ms")
        installer.install(database, on_wait=said.append)
    assert refusal.value.sqlstate == "55P03"
    (meanwhile,) = said
    for sentence in (meanwhile, refusal.value.detail or ""):
        assert f"{call_in_progress.info.backend_pid} ({call_in_progress.info.user}, a nightly job" in sentence
        # What the session does, and since when its transaction is open, as far as the installing role may see it.
        assert "set application_name" in sentence
        # A terminal would obey it.
        assert "\x1b" not in sentence
        assert re.search(r"\d+ s", sentence)
    call_in_progress.execute("rollback")
    installer.install(database)

    versions.check_schema(connection)


def test_an_install_and_calls_that_come_all_the_time_do_not_end_each_other(
    database: str, connection: Connection, connect: Connect, make_role: MakeRole
) -> None:
    """A call locks a view before it locks the tables of the view."""
    connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'older'")
    callers = [connect(make_role("pgclarify_user")) for _ in range(4)]
    is_over = Event()

    def call(caller: Connection) -> int:
        done = 0
        while not is_over.is_set():
            caller.execute("select from pgclarify_private.caller, pgclarify.run, pgclarify.worker_status")
            done += 1
            # Otherwise, some of them would hold a lock all the time.
            is_over.wait(0.05)
        return done

    with ThreadPoolExecutor(len(callers)) as pool:
        calling = [pool.submit(call, caller) for caller in callers]
        try:
            installer.install(database)
        finally:
            is_over.set()
        assert all(calls.result() > 0 for calls in calling)
    versions.check_schema(connection)


DAMAGES = (
    "drop view pgclarify.finding",
    "drop policy run_is_visible on pgclarify_private.run",
    "alter table pgclarify_private.run disable row level security",
    "revoke select on pgclarify.run from pgclarify_reader",
    "revoke execute on function pgclarify.cancel(bigint[]) from pgclarify_user",
    "create or replace function pgclarify_private.connection_value(setting text) returns text language sql immutable"
    " strict parallel safe set search_path = pg_catalog, pg_temp as 'select setting'",
    # As in an older version.
    "alter function pgclarify_private.make_reader_role(oid) owner to pgclarify_owner",
    "grant execute on function pgclarify_private.drop_reader_role(name) to public",
)


def test_installing_again_repairs_damaged_objects(database: str, connection: Connection) -> None:
    """All at once, because an install is slow. Each would be noticed if it were the only one."""
    whole, undamaged = catalog.everything(connection), scalar(connection, functions._STATE)
    for damage in DAMAGES:
        with connection.transaction(force_rollback=True):
            connection.execute(damage.encode())
            assert scalar(connection, functions._STATE) != undamaged, damage
    for damage in DAMAGES:
        connection.execute(damage.encode())

    installer.install(database)

    assert catalog.everything(connection) == whole
    assert scalar(connection, "select relrowsecurity from pg_class where oid = 'pgclarify_private.run'::regclass")


def test_an_install_makes_functions_while_a_table_is_being_attached(
    database: str, connection: Connection, alice: Connection
) -> None:
    """Both change the rights on our schema."""
    connection.execute("grant execute on function pgclarify_private.drop_reader_role(name) to public")
    waits = "select count(*) from pg_stat_activity where datname = %s and wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as pool:
        with alice.transaction():
            attach(alice)
            installing = pool.submit(installer.install, database)
            while not installing.done() and not scalar(connection, waits, connection.info.dbname):
                pass
        assert installing.result().previous == HEAD


def test_a_deadlock_with_a_running_call_is_an_error_of_ours(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(*_: object, **__: object) -> None:
        raise psycopg.errors.DeadlockDetected

    monkeypatch.setattr(installer, "apply_sql", lose)
    with pytest.raises(DatabaseError) as refused:
        installer.install(database)

    assert refused.value.sqlstate == "40P01"


def test_functions_of_another_version_are_refused(database: str, connection: Connection) -> None:
    connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'other'")
    with pytest.raises(SchemaMismatch):
        versions.check_schema(connection)

    connection.execute("delete from pgclarify_private.applied_sql")
    with pytest.raises(SchemaMismatch):
        versions.check_schema(connection)

    installer.install(database)

    versions.check_schema(connection)


def as_owner(connection: Connection, *statements: str) -> None:
    with connection.transaction():
        connection.execute("set local role pgclarify_owner")
        for statement in statements:
            connection.execute(statement.encode())


def test_internal_functions_of_an_older_version_go(database: str, connection: Connection) -> None:
    as_owner(
        connection,
        "create function pgclarify_private.old_helper() returns integer begin atomic select 1; end",
        "create function pgclarify_private.old(integer) returns integer security definer begin atomic"
        " select pgclarify_private.old_helper(); end",
        # A function with the name of an existing one, and with other arguments.
        "create function pgclarify_private.sign(subject text, key text) returns text begin atomic select subject; end",
        "create function pgclarify.older() returns integer begin atomic select 1; end",
    )

    installer.install(database)

    assert scalar(connection, "select to_regprocedure('pgclarify_private.old(integer)')") is None
    assert scalar(connection, "select to_regprocedure('pgclarify_private.old_helper()')") is None
    assert scalar(connection, "select to_regprocedure('pgclarify_private.sign(text, text)')") is None
    # Users' views may rest on public ones.
    assert scalar(connection, "select pgclarify.older()") == 1


def test_installing_again_does_not_drop_views_of_users(database: str, connection: Connection) -> None:
    as_owner(connection, "create function pgclarify_private.old() returns integer begin atomic select 1; end")
    connection.execute("create view public.mine as select pgclarify_private.old()")

    with pytest.raises(DatabaseError) as refusal:
        installer.install(database)

    assert refusal.value.sqlstate == "2BP01"
    assert "public.mine" in (refusal.value.detail or "")
    assert scalar(connection, "select count(*) from public.mine") == 1


def test_an_internal_function_that_returned_something_else_is_replaced(database: str, connection: Connection) -> None:
    whole = catalog.everything(connection)
    as_owner(
        connection,
        "drop function pgclarify_private.my_roles() cascade",
        "create function pgclarify_private.my_roles() returns text[] language sql stable begin atomic"
        " select array[current_user::text]; end",
        "create policy corpus_is_readable on pgclarify_private.corpus for select to pgclarify_reader"
        " using (readers && pgclarify_private.my_roles()::name[])",
    )
    assert catalog.everything(connection) != whole

    installer.install(database)

    assert catalog.everything(connection) == whole


def test_an_install_says_which_session_it_waits_for_and_goes_on_after_it(
    connection: Connection, database: str, connect: Connect, make_role: MakeRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installer, "SILENT_WAIT", "100ms")
    connection.execute(
        sql.SQL("alter database {} set statement_timeout = '300ms'").format(sql.Identifier(connection.info.dbname))
    )
    stranger = connect(make_role())
    stranger.execute("set application_name = 'a nightly job'")
    stranger.execute("select pg_advisory_lock_shared(1885823084, 0)")
    said: list[str] = []

    def on_wait(sentence: str) -> None:
        said.append(sentence)
        stranger.execute("select pg_advisory_unlock_shared(1885823084, 0)")

    assert installer.install(database, on_wait=on_wait).previous is not None
    (sentence,) = said
    assert str(stranger.info.backend_pid) in sentence
    assert "a nightly job" in sentence

    # It does not wait for ever.
    monkeypatch.setattr(installer, "INSTALL_LOCK_TIMEOUT", "200ms")
    stranger.execute("select pg_advisory_lock(1885823084, 0)")
    with pytest.raises(DatabaseError) as refusal:
        installer.install(database)
    assert refusal.value.sqlstate == "55P03"
    assert str(stranger.info.backend_pid) in str(refusal.value.detail)
