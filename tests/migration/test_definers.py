"""Functions with other rights than their caller's: all are listed, and a search_path cannot redirect them."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.by_hand import Connection
from tests.migration.definers import LIST, Definer, attach, definers, listed, relations


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
    return {name for name in function.relations() if "." not in name} - {name for (name,) in known}


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
    assert {signature: names for signature, names in found.items() if names} == {}


def test_each_that_is_not_bound_is_in_a_language_that_we_can_read(functions: list[Definer]) -> None:
    assert {function.language for function in functions if not function.is_bound} == {"plpgsql"}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("select 1 from a; select 2 from only b as c, d, e.f join g on true", {"a", "b", "d", "e.f", "g"}),
        ("with w as (select 1 from a) select * from w", {"a"}),
        ("select * from unnest(x) with ordinality as u (n, p), a b, c where d", {"a", "c"}),
        ("insert into a (b) select c from d on conflict do update set b = 1", {"a", "d"}),
        ("update a set b = 1 from c where true; delete from d using e; select 1 from f for update", set("acdef")),
        ("select extract(year from day), substring(t from 2), x is distinct from y into z", set()),
        ("-- from a\nperform 1 /* from b */; x := 'from c'", set()),
        ('select 1 from "A b".c, "d"', {'"A b".c', '"d"'}),
        ("begin lock table a in share update exclusive mode; end", {"a"}),
    ],
)
def test_relations_are_found_where_they_are_named(body: str, names: set[str]) -> None:
    assert relations(body) == names


def test_statements_made_at_run_time_are_read_too(connection: Connection) -> None:
    connection.execute("""
        create function pgclarify_private.odd() returns void language plpgsql security definer
        set search_path = pg_catalog, pg_temp as
        $$ begin execute format('select 1 from %I.a, pgclarify.%I, b, pg_class', 'x', 'y') using c; end $$
    """)
    (odd,) = (function for function in definers(connection) if function.signature == "pgclarify_private.odd()")

    assert found_in_pg_temp(connection, odd) == {"b"}


def test_a_temporary_relation_is_what_an_unqualified_name_finds(connection: psycopg.Connection[object]) -> None:
    """The reason for these tests: pg_temp is still searched when it is last in a search_path."""
    connection.execute("set search_path = pg_catalog, pg_temp; create temp view new_rows as select 1 as id")
    assert connection.execute("select id from new_rows").fetchall() == [(1,)]
