"""EXPLAIN shows a reader nothing of rows that the reader may not see.

PostgreSQL may apply a leakproof comparison before a policy. The plan's estimates, and the rows that its filters
removed, would then depend on hidden text. These tests fill every table that a view reads with rows that are closed to
the reader, and compare plans for constants below and above the text of those rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing

import psycopg
import pytest
from psycopg import sql

from tests.sessions import Connection, MakeRole
from tests.workers import as_role

# Every hidden text begins with Saluki.
BELOW, ABOVE = "Sa", "Sb"
ROWS = 300
VALUES = {
    "text": "'Saluki ' || ordinal",
    "name": "('saluki_' || ordinal)::name",
    "jsonb": """jsonb_build_object('hidden', 'Saluki ' || ordinal)""",
    "text[]": "array['Saluki ' || ordinal]",
    "name[]": "array['nobody']::name[]",
    "bigint": "1000 + ordinal",
    "integer": "1000 + ordinal",
    "oid": "0",
    "numeric": "ordinal",
    "real": "0.5",
    "double precision": "0.5",
    "boolean": "true",
    "timestamp with time zone": "now()",
    "date": "current_date",
    "bytea": "sha256(ordinal::text::bytea)",
    "uuid": "gen_random_uuid()",
    "tsvector": "''::tsvector",
    "real[]": "array[0.5]::real[]",
}
# Comparisons by type of column, each with what a constant below, and one above the hidden values, is written as.
COMPARISONS = {
    "text": [
        ("{column} = {value}", "Saluki 1", "Saluki x"),
        ('{column} collate "C" < {value}', BELOW, ABOVE),
        ('{column} collate "C" >= any (array[{value}])', BELOW, ABOVE),
        ("{column} like {value}", "Sa%", "Sb%"),
        ("{column} in (select prefix || {value} || ordinal from guesses)", "Saluki ", "Zebra "),
    ],
    "name": [
        ("{column} = {value}", "saluki_1", "saluki_x"),
        ("{column} < {value}", "sa", "sb"),
        ("{column} = any (array[{value}]::name[])", "saluki_1", "saluki_x"),
    ],
    "jsonb": [
        ("{column} @> {value}", '{"hidden": "Saluki 1"}', '{"hidden": "x"}'),
        ("{column} = {value}", '{"hidden": "Saluki 1"}', '{"hidden": "x"}'),
        ("{column} ->> 'hidden' < {value}", BELOW, ABOVE),
    ],
    "text[]": [("{column} @> {value}", "{Saluki 1}", "{x}"), ("{column} < {value}", "{Sa}", "{Sb}")],
    "name[]": [("{column} @> {value}", "{nobody}", "{x}"), ("{column} < {value}", "{a}", "{z}")],
}
# These have a closed list of values. Plans tell how many hidden rows have which (docs/security.md).
CLOSED_LISTS = {
    "operation",
    "status",
    "stop_code",
    "abstention_code",
    "doubt",
    "doubt_code",
    "level",
    "outcome",
    "kind",
    "state",
    "route",
    "form",
    "period",
    "ambiguity_type",
    ("pgclarify.candidate", "origin"),
    ("pgclarify.evaluation", "method"),
    ("pgclarify_private.seen_stage", "name"),
    ("pgclarify.verdict", "error_code"),
}
SETTINGS = {
    "with indexes": ("set enable_seqscan = off",),
    "without indexes": ("set enable_indexscan = off", "set enable_bitmapscan = off", "set enable_indexonlyscan = off"),
}
COLUMNS = """
    select c.oid::regclass::text, a.attname::text, format_type(a.atttypid, null)
    from pg_class as c
    inner join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and c.relkind in ('r', 'p', 'v', 'm', 'f') and has_table_privilege('pgclarify_reader', c.oid, 'select')
        and pg_get_userbyid(c.relowner) = 'pgclarify_views'
        and format_type(a.atttypid, null) = any (%s)
    order by 1, a.attnum
"""


@pytest.fixture
def reader(database: str, connection: Connection, make_role: MakeRole) -> Iterator[Connection]:
    """A role with pgclarify_reader alone, in a database whose rows are all hidden from it."""
    connection.execute("select pgclarify.create_corpus('closed')")
    fill(connection)
    name = make_role("pgclarify_reader")
    with closing(psycopg.connect(as_role(database, name), autocommit=True)) as reader:
        reader.execute("create temporary table guesses as select '' as prefix, generate_series(1, 9) as ordinal")
        yield reader


def fill(connection: Connection) -> None:
    """Put rows into every table of ours that a view reads; checks and keys would only make that harder."""
    connection.execute("set session_replication_role = replica")
    tables = rows(
        connection,
        """
        select distinct stored.oid::regclass::text
        from pg_class as stored
        inner join pg_depend as d on d.refobjid = stored.oid and d.deptype = 'n'
        inner join pg_rewrite as r on r.oid = d.objid
        inner join pg_class as shown on shown.oid = r.ev_class
        where stored.relnamespace = 'pgclarify_private'::regnamespace and stored.relkind in ('r', 'p')
            and pg_get_userbyid(shown.relowner) = 'pgclarify_views'
        """,
    )
    for table in tables:
        for constraint in rows(
            connection,
            f"select conname::text from pg_constraint where conrelid = '{table}'::regclass and contype = 'c'",  # noqa: S608
        ):
            connection.execute(f'alter table {table} drop constraint "{constraint}"'.encode())
        columns = connection.execute(
            """
            select a.attname, format_type(a.atttypid, null) from pg_attribute as a
            where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
            """,
            [table],
        ).fetchall()
        known = {column: VALUES[kind] for column, kind in columns if kind in VALUES}
        # All of the closed corpus, and the corpus itself is there already.
        known |= {
            column: "(select corpus_id from pgclarify_private.corpus order by corpus_id limit 1)"
            for column in known
            if column == "corpus_id" and not table.endswith(".corpus")
        }
        if table.endswith(".model_price"):
            continue
        connection.execute(
            sql.SQL(
                "insert into {} ({}) overriding system value"
                " select {} from generate_series(1, {}) as ordinal on conflict do nothing"
            ).format(
                sql.SQL(table),
                sql.SQL(", ").join(map(sql.Identifier, known)),
                sql.SQL(", ").join(map(sql.SQL, known.values())),
                ROWS,
            )
        )
    connection.execute("reset session_replication_role")
    connection.execute("analyze")


def rows(
    connection: Connection, statement: str | sql.Composed, parameters: Sequence[object] | None = None
) -> list[str]:
    return [str(value) for (value,) in connection.execute(statement, parameters)]


def plans_at_once(
    reader: Connection, connection: Connection, relation: str, conditions: Sequence[sql.Composable]
) -> list[list[str]]:
    """The plans for each condition, without the constants, which are the reader's own.

    Plans count all roles of the server. So the lock keeps parallel tests from making roles meanwhile.
    """
    explain = sql.SQL("explain (analyze, timing off, summary off, buffers off) select 1 from {} where {}")
    with connection.transaction():
        connection.execute("lock table pg_authid in share mode")
        plans = [rows(reader, explain.format(sql.SQL(relation), condition)) for condition in conditions]
    return [[re.sub("'.*?'", "…", line) for line in plan] for plan in plans]


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_a_reader_cannot_bisect_hidden_text_with_explain(
    reader: Connection, connection: Connection, settings: tuple[str, ...]
) -> None:
    for setting in settings:
        reader.execute(setting.encode())
    columns = [
        column
        for column in connection.execute(COLUMNS, [list(COMPARISONS)])
        if not {column[1], column[:2]} & CLOSED_LISTS
    ]
    assert len(columns) > 100
    assert {"pgclarify.citation", "pgclarify.document", "pgclarify.finding"} <= {view for view, *_ in columns}

    telling = []
    for view, column, kind in columns:
        conditions = [
            sql.SQL(comparison).format(column=sql.Identifier(column), value=sql.Literal(value))
            for comparison, *values in COMPARISONS[kind]
            for value in values
        ]
        plans = plans_at_once(reader, connection, view, conditions)
        telling += [
            (view, column, comparison, plan, other)
            for (comparison, *_), plan, other in zip(COMPARISONS[kind], plans[::2], plans[1::2], strict=True)
            if plan != other
        ]
    assert telling == []


def test_explain_tells_a_reader_no_names_of_roles_that_are_noted(
    reader: Connection, connection: Connection, make_role: MakeRole
) -> None:
    for role in ("saluki", "zebra"):
        make_role(name=role)
    connection.execute("select pgclarify_private.note_roles(array(select rolname from pg_roles))")
    connection.execute("analyze pgclarify_private.named_role")
    reader.execute("set enable_seqscan = off")
    # The table itself, if a reader may read it, or what stands for it.
    readable = rows(
        reader,
        "select oid::regclass::text from pg_class where relname in ('named_role', 'my_changed_name')"
        " and has_table_privilege(oid, 'select')",
    )
    assert readable
    for relation in readable:
        conditions = [sql.SQL("name >= 'a'"), sql.SQL("name >= 'zz'")]
        plans = plans_at_once(reader, connection, relation, conditions)
        assert plans[0] == plans[1]


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_explain_tells_a_reader_no_questions_that_mean_the_same_as_its_own(
    reader: Connection, connection: Connection, settings: tuple[str, ...]
) -> None:
    for setting in settings:
        reader.execute(setting.encode())
    # The reader learns the number of a group by asking a question. This one has a hidden run.
    group = connection.execute("select max(question_group_id) from pgclarify_private.run").fetchone()
    assert group is not None
    for view in ("run", "asked_question", "stale_answer"):
        conditions = [sql.SQL("question_group_id = {}").format(number) for number in (group[0], group[0] + 1)]
        plans = [
            [re.sub(r"\d{4,}", "…", line) for line in plan]
            for plan in plans_at_once(reader, connection, f"pgclarify.{view}", conditions)
        ]
        assert plans[0] == plans[1]
