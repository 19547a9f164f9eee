"""What the pages say about SQL: the API's page against the catalogs, and every block of SQL against a server."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify import embedded
from tests.pages import CHECKOUT, PAGES, blocks, tables
from tests.workers import Service, load, wait_until_searchable

SQL_PAGE = CHECKOUT / "docs" / "sql.md"
# Creates and drops roles, so it runs where nothing stays.
OPERATIONS_PAGE = CHECKOUT / "docs" / "operations.md"
# The number that stands in the pages for the run that was submitted last.
RUN_ID = "17"

# Schema-qualified internal names begin with an underscore.
PUBLIC_FUNCTIONS = r"""
    select p.proname, coalesce(parameter.name, ''), format_type(parameter.type, null),
        coalesce(regexp_replace(pg_get_function_arg_default(p.oid, parameter.place::integer), '::[a-z\[\] ]+$', ''), '')
    from pg_proc as p
    cross join lateral unnest(p.proargnames, p.proargtypes::oid[]) with ordinality as parameter (name, type, place)
    where p.pronamespace = 'pgclarify'::regnamespace and p.proname not like '\_%'
        and has_function_privilege('pgclarify_user', p.oid, 'execute')
    order by p.proname, parameter.place
"""
COLUMNS = r"""
    select c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace = 'pgclarify'::regnamespace and c.relname not like '\_%' and a.attnum > 0
        and (c.relkind = 'c' or c.relkind = 'v' and has_table_privilege('pgclarify_reader', c.oid, 'select'))
    order by c.relname, a.attnum
"""
READABLE_TABLES = """
    select c.relname
    from pg_class as c
    where c.relnamespace = 'pgclarify'::regnamespace and c.relkind in ('r', 'p')
        and has_table_privilege('pgclarify_reader', c.oid, 'select')
"""
INDEXING = """
do $$ begin
    while exists (select from pgclarify.corpus_status where pending > 0) loop perform pg_sleep(0.05); end loop;
end $$;
"""


def by_name(rows: list[tuple[Any, ...]]) -> dict[str, list[list[str]]]:
    """Rows by their first column."""
    found: dict[str, list[list[str]]] = {}
    for key, *rest in rows:
        found.setdefault(key, []).append(rest)
    return found


def test_every_public_function_is_told_with_its_parameters(connection: psycopg.Connection[Any]) -> None:
    there = by_name(connection.execute(PUBLIC_FUNCTIONS.encode()).fetchall())
    told = {heading: [row[:3] for row in rows] for heading, rows in tables(SQL_PAGE, "parameter").items()}
    assert told == there


def test_every_type_and_view_is_told_with_its_columns(connection: psycopg.Connection[Any]) -> None:
    there = by_name(connection.execute(COLUMNS.encode()).fetchall())
    told = {heading: [row[:2] for row in rows] for heading, rows in tables(SQL_PAGE, "column").items()}
    assert told == there


def test_every_table_that_may_be_read_is_named(connection: psycopg.Connection[Any]) -> None:
    there = {row[0] for row in connection.execute(READABLE_TABLES.encode())}
    sentence = re.search(r"tables that may be read.*?\n\n", SQL_PAGE.read_text(), re.S)
    assert sentence
    assert set(re.findall(r"`(\w+)`", sentence[0])) == there


def test_options_are_those_that_are_checked(connection: psycopg.Connection[Any]) -> None:
    (known,) = connection.execute("select pgclarify._clarify_options()").fetchone() or ({},)
    options = tables(SQL_PAGE, "option")
    told = {row[0]: re.findall(r"\w+", row[1]) for row in options["clarify"]}
    assert told.keys() == known.keys()
    for name, option in known.items():
        if "choices" in option and "default" not in option:
            assert set(told[name]) == {*option["choices"], "no", "default"}
        elif "choices" in option:
            assert (set(told[name]), told[name][0]) == (set(option["choices"]), option["default"])
        if option.get("type") == "integer":
            assert {str(option["least"]), str(option["most"])} <= set(told[name])
    with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
        connection.execute("""select pgclarify.create_corpus('x', options => '{"no such": 1}')""")
    detail = refused.value.diag.message_detail or ""
    assert {row[0] for row in options["create_corpus"]} == set(re.findall(r"\w+", detail.partition(":")[2]))


def test_options_of_investigate_are_those_that_are_checked(connection: psycopg.Connection[Any]) -> None:
    (known,) = connection.execute("select pgclarify._investigate_options()").fetchone() or ({},)
    told = {row[0]: row[1:] for row in tables(SQL_PAGE, "option")["investigate"]}

    assert json.loads(told.pop("timeout")[0]) == "5min"
    assert {name: json.loads(row[0]) for name, row in told.items()} == {
        name: option["default"] for name, option in known.items()
    }
    for name, option in known.items():
        meaning = told[name][1]
        assert set(option.get("choices", [])) <= set(re.findall(r'"(\w+)"', meaning))
        if option.get("type") == "integer":
            most = option["most"]
            assert f"{option['least']} to {most if most < 10_000 else f'{most:,}'}" in meaning


def test_options_of_clarifying_questions_are_those_that_are_checked(connection: psycopg.Connection[Any]) -> None:
    known: tuple[Any, ...] = connection.execute("select pgclarify._clarifying_question_options()").fetchone() or ({},)
    checked: tuple[Any, ...] = connection.execute(
        "select pgclarify._clarifying_question_settings('{}')"
    ).fetchone() or ({},)
    told = {row[0]: row[1:] for row in tables(SQL_PAGE, "option")["clarifying_questions"]}

    assert told.keys() == known[0].keys()
    assert {name: json.loads(default) for name, (default, _) in told.items() if default} == checked[0]
    for name, option in known[0].items():
        meaning = told[name][1]
        assert set(option.get("choices", [])) <= set(re.findall(r'"(\w+)"', meaning))
        if option.get("type") == "integer" and name != "conversation":
            assert f"{option['least']} to {option['most']}" in meaning


@pytest.mark.parametrize(
    ("function", "asked"),
    [("detect_ambiguity", "'q', '{}'"), ("detect_ambiguity_many", "'{q}'"), ("rewrite", "'q', '{}'")],
)
def test_options_before_asking_are_those_that_are_checked(
    connection: psycopg.Connection[Any], function: str, asked: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
        connection.execute(f"select pgclarify.{function}({asked}, '{{\"no such\": 1}}')".encode())
    detail = refused.value.diag.message_detail or ""
    told = {row[0] for row in tables(SQL_PAGE, "option")[function]}
    assert told == set(re.findall(r"\w+", detail.partition(":")[2]))


def test_options_of_list_answers_are_those_that_are_checked(connection: psycopg.Connection[Any]) -> None:
    (known,) = connection.execute("select pgclarify._list_answers_options()").fetchone() or ({},)
    told = {row[0]: row[1:] for row in tables(SQL_PAGE, "option")["list_answers"]}

    assert told.keys() == known.keys()
    for name, option in known.items():
        default, meaning = told[name]
        assert (json.loads(default) if default else None) == option.get("default")
        assert set(option.get("choices", [])) <= set(re.findall(r'"(\w+)"', meaning))
        if option.get("type") == "integer":
            assert f"{option['least']:,} to {option['most']:,}" in meaning


def test_options_of_search_are_those_that_are_checked(connection: psycopg.Connection[Any]) -> None:
    (known,) = connection.execute("select pgclarify._search_options()").fetchone() or ({},)
    told = {row[0]: row[1:] for row in tables(SQL_PAGE, "option")["search"]}

    assert told.keys() == known.keys()
    for name, option in known.items():
        default, meaning = told[name]
        assert set(option.get("choices", [])) <= set(re.findall(r'"(\w+)"', meaning))
        if "default" in option:
            assert json.loads(default) == option["default"]
        if option.get("type") == "integer":
            assert f"{option['least']} to {option['most']}" in meaning


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_functions_and_views_that_a_page_names_exist(page: Path, connection: psycopg.Connection[Any]) -> None:
    named = set(re.findall(r"\bpgclarify\.(\w+)", page.read_text()))
    rows = connection.execute("""
        select proname from pg_proc where pronamespace = 'pgclarify'::regnamespace
        union all
        select relname from pg_class where relnamespace = 'pgclarify'::regnamespace
    """)
    # Modules of the Python package, parameters of a session, and what a dump is called.
    elsewhere = {"algorithms", "client", "corpus", "errors", "install", "protocols", "reuse_runs", "sql", "testing"}
    assert named - elsewhere <= {row[0] for row in rows}


def psql(dsn: str, script: str) -> str:
    """What psql prints for a script, which has to succeed."""
    done = subprocess.run(
        [embedded.binary("psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", dsn],
        input=script,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def reader_dsn(service: Service) -> str:
    """Whoever tries the pages out: a role that may ask and make tables, in a database with the corpora they name."""
    with closing(service.connect()) as superuser:
        load(superuser, "insurance")
        wait_until_searchable(superuser, "insurance")
        superuser.execute("grant create on schema public to public")
    return psycopg.conninfo.make_conninfo(service.dsn, user=service.asker)


def test_sql_of_the_pages_runs_and_has_these_columns(reader_dsn: str) -> None:
    for page in PAGES:
        if page != OPERATIONS_PAGE:
            try_out(page, reader_dsn)


def try_out(page: Path, dsn: str) -> None:
    """Run the SQL of a page in one session, since its examples follow each other."""
    script = ["\\pset footer off"]
    for place, block in enumerate(blocks(page, "sql")):
        script += [INDEXING, f"\\echo block {place}"]
        for line in block.code.splitlines():
            script.append(re.sub(rf"\b{RUN_ID}\b", ":run_id", line))
            if "pgclarify.submit(" in line:
                script.append(
                    "select max(run_id) as run_id from pgclarify.run_summary where operation = 'clarify' \\gset"
                )
    printed = psql(dsn, "\n".join(script))

    for place, block in enumerate(blocks(page, "sql")):
        shown = re.search(rf"^block {place}\n(.*?)(?=^block |\Z)", printed, re.M | re.S)
        assert shown, (page, place)
        if block.output is not None:
            # Answers are the provider's matter; columns are ours.
            assert columns(block.output) == columns(shown[1]), (page, block.code)


def columns(output: str) -> list[str]:
    """The names in the first line of what psql prints."""
    return [name.strip() for name in output.strip("\n").partition("\n")[0].split("|")]


def test_sql_of_operations_runs(database: str) -> None:
    for block in blocks(OPERATIONS_PAGE, "sql"):
        psql(database, f"begin;\n{block.code}\nrollback;")


def test_what_operations_removes_is_gone(database: str) -> None:
    (removal,) = (block.code for block in blocks(OPERATIONS_PAGE, "sql") if "drop schema pgclarify" in block.code)
    left = """
        select count(*) from pg_shdepend as d
        where d.refobjid in (select oid from pg_roles where rolname in
            ('pgclarify_owner', 'pgclarify_user', 'pgclarify_reader', 'pgclarify_worker', 'pgclarify_loopback',
             'pgclarify_table_reader'))
            and d.dbid = (select oid from pg_database where datname = current_database())
    """
    counts = [
        int(psql(database, f"begin;\n\\o /dev/null\n{script}\n\\o\n\\pset tuples_only on\n{left};\nrollback;"))
        for script in ("", removal)
    ]
    assert counts[0] > 0
    assert counts[1] == 0
