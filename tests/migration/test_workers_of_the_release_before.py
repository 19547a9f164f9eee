"""A worker of the release before runs during an upgrade: it finishes its runs, or others take them over."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event
from typing import Any

import psycopg
import pytest
from packaging.version import Version
from psycopg import sql

from pgclarify.install import installer
from tests.migration import releases
from tests.sessions import Connection, scalar

# What workers may call: names and types of parameters, and names of the result's columns.
FUNCTIONS = """
    select
        pg_proc.proname as name,
        coalesce(parameters.names, '{}') as names,
        coalesce(parameters.types, '{}') as types,
        coalesce(
            nullif(parameters.columns, '{}'),
            (
                select array_agg(pg_attribute.attname::text)
                from pg_type
                inner join pg_attribute on pg_attribute.attrelid = pg_type.typrelid
                where pg_type.oid = pg_proc.prorettype and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
            ),
            '{}'
        ) as columns
    from pg_proc
    cross join lateral (
        select
            array_agg(given.name order by given.place) filter (where given.mode in ('i', 'b', 'v')) as names,
            array_agg(format_type(given.type, null) order by given.place) filter (
                where given.mode in ('i', 'b', 'v')
            ) as types,
            array_agg(given.name order by given.place) filter (where given.mode in ('o', 'b', 't')) as columns
        from unnest(
            pg_proc.proargnames, coalesce(pg_proc.proallargtypes, pg_proc.proargtypes::oid[]), pg_proc.proargmodes
        ) with ordinality as listed (name, type, listed_mode, place)
        cross join lateral (select listed.name, listed.type, coalesce(listed.listed_mode, 'i') as mode, listed.place)
            as given
    ) as parameters
    where pg_proc.pronamespace = 'pgclarify_private'::regnamespace
        and exists (
            select from aclexplode(pg_proc.proacl) as entry
            where entry.grantee = 'pgclarify_worker'::regrole and entry.privilege_type = 'EXECUTE'
        )
    order by pg_proc.proname
"""


def missing(connection: Connection, functions: list[tuple[Any, ...]]) -> list[str]:
    """Return the functions that cannot be called as before, or whose results have other columns.

    Workers make objects of results, which take no column more and none less.
    """
    now = {(name, *columns) for name, _, _, columns in connection.execute(FUNCTIONS).fetchall()}
    return [
        name
        for name, names, types, columns in functions
        if (name, *columns) not in now or not answers(connection, name, names, types)
    ]


def answers(connection: Connection, name: str, names: list[str], types: list[str]) -> bool:
    arguments = sql.SQL(", ").join(
        sql.SQL("{} => null::{}").format(sql.Identifier(parameter), sql.SQL(of_type))
        for parameter, of_type in zip(names, types, strict=True)
    )
    call = sql.SQL("explain select from pgclarify_private.{}({}) as called")
    try:
        # It is not executed.
        connection.execute(call.format(sql.Identifier(name), arguments))
    except psycopg.Error:
        return False
    return True


@pytest.fixture
def before(make_database: Callable[..., str]) -> str:
    """A database of the newest release, without documents."""
    dsn = make_database()
    newest = max(releases.FOLDER.glob("*.unused.gz"), key=lambda path: Version(path.name.removesuffix(".unused.gz")))
    releases.restore(gzip.decompress(newest.read_bytes()), dsn)
    return dsn


def test_an_upgrade_keeps_the_functions_that_workers_call_or_takes_their_runs_from_them(before: str) -> None:
    with closing(psycopg.connect(before, autocommit=True)) as connection:
        functions = connection.execute(FUNCTIONS).fetchall()
        assert missing(connection, functions) == []
        connection.execute("select pgclarify.submit('detect_ambiguity', 'Which one?')")
        connection.execute("update pgclarify_private.run set status = 'running', worker_id = 1, started_at = now()")

        installer.install(before)

        goes_on = scalar(connection, "select status from pgclarify_private.run") == "running"
        assert goes_on == (missing(connection, functions) == [])


def test_an_upgrade_and_the_transactions_of_a_busy_worker_do_not_end_each_other(before: str) -> None:
    """They take the same locks in another order than the upgrade."""
    is_over = Event()

    def work() -> int:
        done = 0
        with psycopg.connect(before, autocommit=True) as busy:
            while not is_over.is_set():
                with busy.transaction():
                    busy.execute("lock table pgclarify_private.worker in row exclusive mode")
                    busy.execute("select pg_sleep(0.1)")
                    busy.execute("lock table pgclarify_private.verdict in row exclusive mode")
                done += 1
                # Otherwise, two of them would hold a lock all the time.
                is_over.wait(0.1)
        return done

    with ThreadPoolExecutor() as pool:
        working = pool.submit(work)
        try:
            assert installer.install(before).previous is not None
            # The same tables, other functions.
            with psycopg.connect(before, autocommit=True) as connection:
                connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'older'")
            installer.install(before)
        finally:
            is_over.set()
        assert working.result() > 0


@pytest.mark.parametrize(
    ("change", "is_missing"),
    [
        ("drop function {}put_back_run(bigint, integer, interval)", True),
        ("alter type {}model_call add attribute more text", False),
        (
            "drop function {0}put_back_run(bigint, integer, interval);"
            " create function {0}put_back_run(run_id bigint, attempt integer, pause interval, more text default '')"
            " returns void language sql begin atomic end;"
            " grant execute on function {0}put_back_run(bigint, integer, interval, text) to pgclarify_worker",
            False,
        ),
        (
            "drop function {0}put_back_run(bigint, integer, interval);"
            " create function {0}put_back_run(run_id bigint, attempt integer, wait interval)"
            " returns void language sql begin atomic end;"
            " grant execute on function {0}put_back_run(bigint, integer, interval) to pgclarify_worker",
            True,
        ),
        (
            "drop function {0}known_completions(bigint, integer, jsonb);"
            " create function {0}known_completions(run_id bigint, attempt integer, calls jsonb)"
            " returns table (ordinal integer) language sql begin atomic select 1; end;"
            " grant execute on function {0}known_completions(bigint, integer, jsonb) to pgclarify_worker",
            True,
        ),
    ],
)
def test_a_function_is_missed_if_its_calls_or_the_columns_that_they_read_are_gone(
    connection: Connection, change: str, is_missing: bool
) -> None:
    functions = connection.execute(FUNCTIONS).fetchall()
    assert missing(connection, functions) == []

    connection.execute(change.format("pgclarify_private.").encode())

    assert bool(missing(connection, functions)) is is_missing
