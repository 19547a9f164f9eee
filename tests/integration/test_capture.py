"""What triggers record of an attached table: each change once, nothing that was rolled back, and no errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

Attach = Callable[..., int]


@pytest.fixture
def alice(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    """The owner of corpus "kb" and of schema "app", which has a table."""
    role = make_role("pgclarify_user", name="alice")
    connection.execute(f"create schema app authorization {role}".encode())
    session = connect(role)
    session.execute("select pgclarify.create_corpus('kb')")
    session.execute("create table app.article (id bigint primary key, title text, body text)")
    session.execute("insert into app.article select n, 'Title', 'Body' from generate_series(1, 3) as n")
    return session


@pytest.fixture
def attach(alice: Connection) -> Attach:
    """Attach a table of alice."""

    def attach_table(table: str = "app.article", id_column: str = "id", **options: Any) -> int:
        return int(scalar(alice, "select pgclarify.attach_table('kb', %s, %s, 'body')", table, id_column))

    return attach_table


@pytest.fixture
def noted(connection: Connection) -> Callable[[], list[tuple[str, str | None]]]:
    """The changes recorded since the last call: table and key, sorted by name."""

    def take() -> list[tuple[str, str | None]]:
        rows = connection.execute(
            "with noted as (delete from pgclarify_private.change returning *) select relation::regclass::text, key"
            " from noted cross join unnest(coalesce(keys, array[null])) as key"
        ).fetchall()
        return sorted(rows, key=lambda row: (row[0], row[1] or ""))

    return take


Noted = Callable[[], list[tuple[str, str | None]]]


def keys(rows: list[tuple[str, str | None]]) -> list[str | None]:
    return sorted((key for _, key in rows), key=lambda key: key or "")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("insert into app.article values (4), (5)", ["4", "5"]),
        ("insert into app.article select from generate_series(1, 0)", []),
        ("update app.article set title = 'New'", ["1", "2", "3"]),
        ("update app.article set id = id + 10 where id = 2", ["12", "2"]),
        ("update app.article set id = id + 1 where id >= 2", ["2", "3", "4"]),
        ("delete from app.article where id = 3", ["3"]),
        ("truncate app.article", [None]),
        ("insert into app.article values (3), (4) on conflict (id) do update set title = 'New'", ["3", "4"]),
        (
            "merge into app.article using (values (1), (2), (7)) as given (id) on article.id = given.id"
            " when matched and given.id = 1 then delete when matched then update set title = 'New'"
            " when not matched then insert values (given.id)",
            ["1", "2", "7"],
        ),
    ],
)
def test_every_change_is_noted(
    alice: Connection, attach: Attach, noted: Noted, statement: str, expected: list[str | None]
) -> None:
    if "id + 1 " in statement:
        # In this order no id exists twice.
        alice.execute("truncate app.article; insert into app.article values (3), (2)")
    attach()
    alice.execute(statement.encode())
    assert keys(noted()) == expected


@pytest.mark.parametrize("rows", [149, 150, 3000])
def test_many_rows_of_a_statement_are_noted_together(
    alice: Connection, connection: Connection, attach: Attach, noted: Noted, rows: int
) -> None:
    """Workers take them in parts, so the arrays stay short."""
    alice.execute("create table app.many (id integer unique, body text)")
    attach("app.many")
    parts = "select count(*), max(cardinality(keys)) from pgclarify_private.change"

    def expect(*expected: int) -> None:
        (counted, longest) = connection.execute(parts).fetchone() or (0, 0)
        assert counted <= len(expected) / 150 + 1
        assert longest <= 150
        assert sorted(int(key or 0) for key in keys(noted())) == sorted(expected)

    alice.execute("insert into app.many select generate_series(1, %s)", [rows])
    expect(*range(1, rows + 1))
    alice.execute("update app.many set body = 'b'")
    expect(*range(1, rows + 1))
    alice.execute("update app.many set id = -id")
    expect(*range(1, rows + 1), *range(-rows, 0))
    # Almost all old keys, one new one.
    alice.execute("update app.many set id = case id when -7 then 8 end")
    expect(8, *range(-rows, 0))
    alice.execute("update app.many set id = -id")
    expect(8, -8)
    alice.execute("delete from app.many")
    expect(-8)


def test_rows_without_an_id_are_not_noted(alice: Connection, attach: Attach, noted: Noted) -> None:
    alice.execute("create table app.draft (id integer unique, body text)")
    attach("app.draft")

    alice.execute("insert into app.draft values (null, 'a'), (1, 'b')")
    alice.execute("update app.draft set id = case body when 'a' then 2 end")

    assert keys(noted()) == ["1", "1", "2"]


@pytest.mark.parametrize("name", ["Select", "new", "tg_relid", "key", "a'b\"c%1$s$body$\\"])
def test_columns_may_have_any_name(
    alice: Connection, connection: Connection, attach: Attach, noted: Noted, name: str
) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    others = "".join(f", {other} text" for other in ("tg_op", "source_id", "relation", "new_rows", "changed"))
    alice.execute(f"create table app.odd ({quoted} bigint unique, body text{others})".encode())
    attach("app.odd", name)

    alice.execute("insert into app.odd values (1), (2)")
    alice.execute("update app.odd set body = 'b'")
    alice.execute("delete from app.odd")
    assert keys(noted()) == ["1", "1", "1", "2", "2", "2"]

    connection.execute("set session_replication_role = replica; insert into app.odd values (3); delete from app.odd")

    assert keys(noted()) == ["3", "3"]


class TestReplication:
    """Statements that logical replication applies fire row triggers only, in the role "replica"."""

    def test_each_row_is_noted_once(self, connection: Connection, attach: Attach, noted: Noted) -> None:
        attach()
        connection.execute("set session_replication_role = replica")
        connection.execute("insert into app.article values (4), (5)")
        connection.execute("update app.article set id = 14 where id = 4")
        connection.execute("delete from app.article where id = 5")
        assert keys(noted()) == ["14", "4", "4", "5", "5"]

        connection.execute("truncate app.article")

        assert keys(noted()) == [None]

    def test_also_in_partitions(self, connection: Connection, partitioned: Connection, noted: Noted) -> None:
        connection.execute("set session_replication_role = replica")
        connection.execute("insert into app.event values (1, 'a', 2024)")
        connection.execute("insert into app.event_2025 values (2, 'a', 2025)")

        assert noted() == [("app.event_2024", "1"), ("app.event_2025", "2")]


@pytest.fixture
def partitioned(alice: Connection, attach: Attach) -> Connection:
    """Table app.event, partitioned by year, attached."""
    alice.execute(
        "create table app.event (id bigint, body text, year integer, unique (id, year)) partition by list (year)"
    )
    alice.execute("create table app.event_2024 partition of app.event for values in (2024)")
    alice.execute("create table app.event_2025 partition of app.event for values in (2025)")
    attach("app.event")
    return alice


class TestPartitions:
    def test_rows_are_noted_whichever_table_a_statement_names(self, partitioned: Connection, noted: Noted) -> None:
        partitioned.execute("insert into app.event values (1, 'a', 2024), (2, 'a', 2025)")
        partitioned.execute("insert into app.event_2024 values (3, 'a', 2024)")
        assert noted() == [("app.event_2024", "1"), ("app.event_2024", "3"), ("app.event_2025", "2")]

        partitioned.execute("update app.event_2025 set body = 'b'")
        assert noted() == [("app.event_2025", "2")]
        # From one partition into another.
        partitioned.execute("update app.event set year = 2025 where id = 1")
        assert keys(noted()) == ["1", "1"]
        partitioned.execute("delete from app.event")

        assert keys(noted()) == ["1", "2", "3"]

    def test_partitions_that_come_later_are_noted(self, partitioned: Connection, noted: Noted) -> None:
        partitioned.execute("create table app.event_2026 partition of app.event for values in (2026)")
        partitioned.execute("create table app.later (like app.event including all)")
        partitioned.execute("alter table app.event attach partition app.later for values in (2027)")

        partitioned.execute("insert into app.event_2026 values (6, 'a', 2026)")
        partitioned.execute("insert into app.event values (7, 'a', 2027)")

        assert noted() == [("app.event_2026", "6"), ("app.later", "7")]

    def test_truncate_is_noted_on_the_table_and_on_its_partitions(self, partitioned: Connection, noted: Noted) -> None:
        partitioned.execute("truncate app.event_2024")
        assert noted() == [("app.event_2024", None)]

        partitioned.execute("truncate app.event")

        assert noted() == [("app.event", None), ("app.event_2024", None), ("app.event_2025", None)]

    def test_a_single_partition_can_be_attached(self, alice: Connection, attach: Attach, noted: Noted) -> None:
        alice.execute("create table app.event (id bigint, body text, primary key (id)) partition by range (id)")
        alice.execute("create table app.low partition of app.event for values from (0) to (10)")
        alice.execute("create table app.high partition of app.event for values from (10) to (20)")
        attach("app.low")

        alice.execute("insert into app.event values (1), (11)")
        alice.execute("update app.event set body = 'b'")

        assert noted() == [("app.low", "1"), ("app.low", "1")]


def test_a_statement_on_the_parent_is_noted_for_an_heir(alice: Connection, attach: Attach, noted: Noted) -> None:
    alice.execute("create table app.special (unique (id)) inherits (app.article)")
    alice.execute("insert into app.special values (7)")
    attach("app.special")

    alice.execute("update app.article set title = 'New'")
    alice.execute("truncate app.article")

    assert noted() == [("app.special", None), ("app.special", "7")]


@pytest.mark.parametrize(
    "table",
    [
        "create table app.note (id bigint unique, body text)",
        "create table app.note (id bigint, body text, year integer default 2024, unique (id, year))"
        " partition by list (year); create table app.note_2024 partition of app.note for values in (2024)",
    ],
    ids=["plain", "partitioned"],
)
@pytest.mark.parametrize(
    "change",
    [
        "alter table app.note drop column id",
        "alter table app.note rename column id to key",
        "alter table app.note alter column id type text",
        "alter table app.note alter column id type numeric",
    ],
)
def test_no_write_fails_without_the_id_column_as_it_was(
    alice: Connection, attach: Attach, noted: Noted, table: str, change: str
) -> None:
    writes = ("insert into app.note (body) values ('a')", "update app.note set body = 'b'", "delete from app.note")
    alice.execute(table.encode())
    attach("app.note")
    # All in one session, which keeps its old plans and functions.
    for write in writes:
        alice.execute(write.encode())
    assert noted() == []
    alice.execute(change.encode())

    for write in writes:
        alice.execute(write.encode())

    assert keys(noted()) == [None, None, None]


def test_other_columns_may_come_and_go(alice: Connection, attach: Attach, noted: Noted) -> None:
    attach()
    alice.execute("update app.article set title = 'New' where id = 1")
    alice.execute("alter table app.article add column first integer default 1")
    alice.execute("alter table app.article drop column title")
    alice.execute("alter table app.article alter column body type varchar")
    alice.execute("update app.article set body = 'New' where id = 2")
    alice.execute("insert into app.article values (8)")
    alice.execute("delete from app.article where id = 3")

    assert keys(noted()) == ["1", "2", "3", "8"]


def test_a_writer_needs_no_rights_on_our_schemas(
    alice: Connection, attach: Attach, connect: Connect, make_role: MakeRole, noted: Noted
) -> None:
    attach()
    writer = make_role(name="writer")
    alice.execute(f"grant usage on schema app to {writer}".encode())
    alice.execute(f"grant insert on app.article to {writer}".encode())
    session = connect(writer)
    session.execute("set search_path = app; set default_transaction_isolation = serializable")
    session.execute("insert into article values (50)")

    assert keys(noted()) == ["50"]


@pytest.mark.committed
def test_writers_do_not_wait_for_each_other(alice: Connection, attach: Attach, connect: Connect, noted: Noted) -> None:
    attach()
    other = connect(alice.info.user)
    other.execute("set lock_timeout = '30s'")
    with alice.transaction():
        alice.execute("update app.article set title = 'New' where id = 1")
        other.execute("update app.article set title = 'New' where id = 2")

    assert keys(noted()) == ["1", "2"]
