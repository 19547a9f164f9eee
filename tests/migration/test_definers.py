"""Functions with other rights than their caller's: all are listed, and a search_path cannot redirect them."""

from __future__ import annotations

import psycopg
import pytest

from tests.migration.definers import LIST, Definer, attach, definers, listed
from tests.sessions import Connection


@pytest.fixture
def functions(connection: Connection) -> list[Definer]:
    attach(connection)
    return definers(connection)


def found_in_pg_temp(connection: Connection, function: Definer) -> set[str]:
    """Relations that a function names without a schema, and that no schema of its search_path before pg_temp has."""
    path = function.path or ()
    before = path[: path.index("pg_temp")] if "pg_temp" in path else ()
    known = connection.execute(
        "select relname from pg_class where relnamespace::regnamespace::text = any(%s)", [list(before)]
    ).fetchall()
    return function.unqualified() - {name for (name,) in known}


def test_each_is_listed(functions: list[Definer]) -> None:
    """If this fails, run python -m tests.migration.definers and review git diff."""
    assert listed(functions).splitlines() == LIST.read_text().splitlines()


def test_none_is_open_to_the_public(functions: list[Definer]) -> None:
    assert [function.signature for function in functions if "public" in function.grantees] == []


def test_each_pins_a_path_that_ends_with_the_sessions_own_schema(functions: list[Definer]) -> None:
    ours = {"pg_catalog", "pgclarify", "pgclarify_capture"}
    for function in functions:
        path = function.path or ()
        assert path[-1:] == ("pg_temp",), function.signature
        assert set(path[:-1]) <= ours, function.signature


def test_none_names_a_relation_that_a_session_could_put_in_its_place(
    connection: Connection, functions: list[Definer]
) -> None:
    found = {function.signature: found_in_pg_temp(connection, function) for function in functions}
    # Part of the text of capture functions, whose search_path has pgclarify_capture with a view of this name.
    assert found.pop("pgclarify_private.make_capture(bigint)") == {"new_rows"}
    assert {signature: names for signature, names in found.items() if names} == {}


def test_each_that_is_not_bound_is_in_a_language_that_we_can_read(functions: list[Definer]) -> None:
    assert {function.language for function in functions if not function.is_bound} == {"plpgsql"}


def test_relations_are_found_where_a_function_names_them(connection: Connection) -> None:
    connection.execute("""
        create function pgclarify_private.odd() returns void language plpgsql security definer
        set search_path = pg_catalog, pg_temp as
        $$
        declare
            v_count bigint := (select count(*) from a);
            v_run pgclarify_private.run;
        begin
            v_run.question := (with w as (select 1 from pgclarify.run) select question from w join b on true);
            if exists (select from c, pg_class) then
                lock table d;
            end if;
            execute format('select 1 from %I.z, pgclarify.%I, e where (%s) for update of z', 'x', 'y', '') using v_run;
            execute 'select 1 ' || 'from f';
        end
        $$
    """)
    (odd,) = (function for function in definers(connection) if function.signature == "pgclarify_private.odd()")

    assert found_in_pg_temp(connection, odd) == {*"abcdef"}


def test_a_temporary_relation_is_what_an_unqualified_name_finds(connection: psycopg.Connection[object]) -> None:
    """The reason for these tests: pg_temp is still searched when it is last in a search_path."""
    connection.execute("set search_path = pg_catalog, pg_temp; create temp view new_rows as select 1 as id")
    assert connection.execute("select id from new_rows").fetchall() == [(1,)]
