"""Installing again: changed objects are replaced, others are not touched, and active calls continue."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

from pgclarify.errors import DatabaseError, SchemaMismatch
from pgclarify.install import installer, versions
from tests.integration.by_hand import Connect, Connection, MakeRole, scalar
from tests.integration.in_turn import in_turn
from tests.migration import catalog


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


def test_with_something_to_change_it_says_whom_it_waits_for(
    database: str, connection: Connection, call_in_progress: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'older'")

    with monkeypatch.context() as impatient, pytest.raises(DatabaseError) as refusal:
        impatient.setattr(installer, "LOCK_TIMEOUT", "300ms")
        installer.install(database)
    assert refusal.value.sqlstate == "55P03"
    assert f"{call_in_progress.info.backend_pid} ({call_in_progress.info.user})" in (refusal.value.detail or "")
    call_in_progress.execute("rollback")
    installer.install(database)

    versions.check_schema(connection)


@in_turn(
    "damage",
    [
        "drop view pgclarify.finding",
        "drop policy run_is_visible on pgclarify_private.run",
        "alter table pgclarify_private.run disable row level security",
        "revoke select on pgclarify.run from pgclarify_reader",
        "revoke execute on function pgclarify.cancel(bigint[]) from pgclarify_user",
        "create or replace function pgclarify_private.connection_value(setting text) returns text language"
        " sql immutable"
        " strict parallel safe set search_path = pg_catalog, pg_temp as 'select setting'",
        # As in an older version.
        "alter function pgclarify_private.make_reader_role(oid) owner to pgclarify_owner",
        "grant execute on function pgclarify_private.drop_reader_role(name) to public",
    ],
)
def test_installing_again_repairs_damaged_objects(database: str, connection: Connection, damage: str) -> None:
    whole = catalog.everything(connection)
    connection.execute(damage.encode())
    if "disable" not in damage:
        assert catalog.everything(connection) != whole

    installer.install(database)

    assert catalog.everything(connection) == whole
    assert scalar(connection, "select relrowsecurity from pg_class where oid = 'pgclarify_private.run'::regclass")


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


def test_a_stranger_who_holds_the_lock_of_installs_is_named(
    connection: Connection, database: str, connect: Connect, make_role: MakeRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installer, "SILENT_WAIT", "100ms")
    monkeypatch.setattr(installer, "INSTALL_LOCK_TIMEOUT", "200ms")
    stranger = connect(make_role())
    stranger.execute("select pg_advisory_lock(1885823084, 0)")

    with pytest.raises(DatabaseError) as refusal:
        installer.install(database)

    assert refusal.value.sqlstate == "55P03"
    assert str(stranger.info.backend_pid) in str(refusal.value.detail)
