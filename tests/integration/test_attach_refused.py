"""Attaching tables: which are refused, who may attach, and as which role they are read."""

from __future__ import annotations

import json
import re

import pytest

from tests.integration.attaching import ATTACH, DETACH, RESYNC, STATE, attach, refusal, table_reader_of
from tests.migration.test_objects import rows
from tests.sessions import Connection, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back


class TestRefused:
    @pytest.mark.parametrize(
        ("made", "state"),
        [
            ("create view app.t as select * from app.article", "42809"),
            ("create materialized view app.t as select * from app.article", "42809"),
            ("create unlogged table app.t (id bigint primary key, body text)", "0A000"),
            ("create temporary table t (id bigint primary key, body text)", "0A000"),
            (
                "create table app.t (id bigint primary key, body text); alter table app.t enable row level security",
                "0A000",
            ),
            ("create table app.t (id bigint primary key, body text); create table app.u () inherits (app.t)", "0A000"),
            ("create table app.t (id numeric primary key, body text)", "42804"),
            ("create table app.t (id timestamptz primary key, body text)", "42804"),
            ("create table app.t (id char(9) primary key, body text)", "42804"),
            ("create domain app.key as bigint; create table app.t (id app.key primary key, body text)", "42804"),
            ("create table app.t (id bigint, body text)", "55000"),
            ("create table app.t (id bigint, body text); create index on app.t (id)", "55000"),
            ("create table app.t (id bigint, body text); create unique index on app.t (id) where id > 0", "55000"),
            ("create table app.t (id bigint, body text, unique (id, body))", "55000"),
            ("create table app.t (id bigint unique deferrable, body text)", "55000"),
            ("create table app.t (id bigint primary key, body jsonb)", "42804"),
        ],
    )
    def test_tables_that_cannot_be_followed_are_refused(
        self, alice: Connection, connection: Connection, made: str, state: str
    ) -> None:
        alice.execute(made.encode())
        table = "t" if "temporary" in made else "app.t"

        diagnostic = refusal(alice, "select pgclarify.attach_table('kb', %s, 'id', 'body')", table)

        assert diagnostic.sqlstate == state
        assert diagnostic.message_detail
        assert diagnostic.message_hint
        assert rows(connection, STATE) == []

    def test_an_id_of_which_different_ones_are_equal(self, alice: Connection, connection: Connection) -> None:
        alice.execute('create collation app.loose from "C"')
        alice.execute("create table app.t (id text collate app.loose primary key, body text)")
        # Only a server built with ICU makes one.
        connection.execute("update pg_collation set collisdeterministic = false where collname = 'loose'")

        assert sqlstate_of(alice, "select pgclarify.attach_table('kb', 'app.t', 'id', 'body')") == "0A000"

    def test_foreign_tables_also_as_partitions(self, alice: Connection, connection: Connection) -> None:
        connection.execute("create extension postgres_fdw; create server elsewhere foreign data wrapper postgres_fdw")
        connection.execute(f"grant usage on foreign server elsewhere to {alice.info.user}".encode())
        alice.execute("create foreign table app.far (id bigint, body text) server elsewhere")
        alice.execute("create table app.t (id bigint, body text, year integer) partition by list (year)")
        alice.execute("create table app.t_2024 partition of app.t (unique (id)) for values in (2024)")
        alice.execute("create foreign table app.t_2025 partition of app.t for values in (2025) server elsewhere")

        assert sqlstate_of(alice, "select pgclarify.attach_table('kb', 'app.far', 'id', 'body')") == "42809"
        assert sqlstate_of(alice, "select pgclarify.attach_table('kb', 'app.t', 'id', 'body')") == "0A000"
        assert sqlstate_of(alice, "select pgclarify.attach_table('kb', 'app.t_2024', 'id', 'body')") is None

    @pytest.mark.parametrize("table", ["pg_catalog.pg_class", "pgclarify.document", "information_schema.sql_parts"])
    def test_tables_of_the_system_and_ours(self, connection: Connection, table: str) -> None:
        connection.execute("select pgclarify.create_corpus('kb')")
        assert sqlstate_of(connection, "select pgclarify.attach_table('kb', %s, 'oid', 'content')", [table]) == "42809"

    def test_types_whose_owner_says_how_they_become_json(self, alice: Connection) -> None:
        alice.execute(
            "create type app.pair as (a text, b text); alter table app.article add pair app.pair, add pairs app.pair[]"
        )
        for column in ("pair", "pairs"):
            options = json.dumps({"metadata": ["language", column]})
            call = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', %s::jsonb)"
            assert sqlstate_of(alice, call, [options]) == "42804"

    def test_enums_become_json_in_one_way_unless_there_is_a_cast(
        self, alice: Connection, connection: Connection
    ) -> None:
        alice.execute(
            "create type app.mood as enum ('good'); alter table app.article add mood app.mood, add moods app.mood[]"
        )
        alice.execute("update app.article set mood = 'good', moods = '{good}' where id = 1")
        attach(alice, metadata=["mood", "moods"])
        read = (
            "select to_jsonb(pgclarify_private.read_rows(source, '{1}')) #> '{documents,0,metadata}'"
            " from pgclarify_private.source"
        )
        assert scalar(connection, read) == {"mood": "good", "moods": ["good"]}
        fault = "select pgclarify_private.source_fault(source) from pgclarify_private.source"
        assert scalar(connection, fault) is None

        alice.execute(
            "create function app.mine(app.mood) returns json language sql immutable return '1'::json;"
            "create cast (app.mood as json) with function app.mine(app.mood)"
        )

        assert "mood" in scalar(connection, fault)

    @pytest.mark.committed
    @pytest.mark.parametrize(
        "made",
        [
            "create table app.t (id bigint, body text)",
            "create table app.t (id numeric primary key, body text)",
            "create table app.t (id char(9) primary key, body text)",
            "create table app.t (id date primary key, body text)",
            "create table app.t (id time primary key, body text)",
            "create table app.t (id timestamp primary key, body text)",
            "create table app.t (id timestamptz primary key, body text)",
            "create table app.t (id interval primary key, body text)",
            "create table app.t (id float8 primary key, body text)",
            "create table app.t (id money primary key, body text)",
            "create type app.mood as enum ('good'); create table app.t (id app.mood primary key, body text)",
            'create table app.t ("Id" timestamptz primary key, body text, document_id bigint)',
            "create table app.t (n int primary key, body text, id text generated always as ('v/' || n))",
            "create table app.t (n int primary key, body text, id int generated always as (n + 1))",
            "create table app.t (n int primary key, body text, id numeric generated always as (n / 2.0))",
            "create table app.t (id numeric, year int, body text) partition by list (year)",
            "create table app.t (id timestamptz, body text) partition by range (id)",
            "create table app.t (id bigint primary key, body jsonb)",
            "create table app.t (id bigint primary key, body timestamptz, document_content text)",
        ],
    )
    def test_the_statements_that_a_hint_proposes_can_be_executed_and_help(self, alice: Connection, made: str) -> None:
        alice.execute(made.encode())
        columns = {"id_column": "Id" if '"Id"' in made else "id", "content_column": "body"}
        call = "select pgclarify.attach_table('kb', 'app.t', %s, %s)"
        hint = refusal(alice, call, *columns.values()).message_hint or ""

        for statement in re.findall(r"(?:alter table|create unique index) .*?(?=; |\. If|\.$)", hint):
            alice.execute(statement.encode())
        if named := re.search(r"id_column => '(\w+)'", hint):
            columns["id_column"] = named[1]
        elif added := re.search(r"add column (document_content\w*)", hint):
            columns["content_column"] = added[1]

        assert sqlstate_of(alice, call, [*columns.values()]) is None


class TestWho:
    def test_only_the_owner_of_the_table(self, alice: Connection, bob: Connection, connection: Connection) -> None:
        call = "select pgclarify.attach_table('bobs', 'app.article', 'id', 'body')"
        assert sqlstate_of(bob, call) == "42501"
        alice.execute(f"grant usage on schema app to {bob.info.user} with grant option".encode())
        alice.execute(f"grant select, trigger on app.article to {bob.info.user} with grant option".encode())
        diagnostic = refusal(bob, call)
        assert diagnostic.sqlstate == "42501"
        assert bob.info.user in (diagnostic.message_hint or "")
        connection.execute(f"grant {alice.info.user} to {bob.info.user}".encode())

        assert sqlstate_of(bob, call) is None

    def test_only_the_owner_of_the_corpus(self, alice: Connection, bob: Connection) -> None:
        attach(alice)
        for call in (ATTACH, RESYNC, DETACH):
            assert sqlstate_of(bob, call) == "42501"
        assert bob.execute("select from pgclarify.source_status").fetchall() == []
        assert rows(alice, "select state from pgclarify.source_status") == ["loading"]

    def test_nobody_reads_through_what_somebody_else_has_attached(
        self, alice: Connection, bob: Connection, connection: Connection
    ) -> None:
        attach(alice)
        # Bob's by name, but he may read nothing of it.
        connection.execute(f"grant usage on schema app to {bob.info.user} with grant option".encode())
        connection.execute(f"alter table app.article owner to {bob.info.user}".encode())
        bob.execute("revoke select on app.article from current_user")

        diagnostic = refusal(bob, "select pgclarify.attach_table('bobs', 'app.article', 'id', 'body')")

        assert diagnostic.sqlstate == "42501"
        assert "body, id" in (diagnostic.message_detail or "")

    def test_internal_functions_give_nothing_away(
        self, alice: Connection, bob: Connection, connection: Connection
    ) -> None:
        source_id = attach(alice)
        internal = "select pgclarify_private.{} from pgclarify_private.caller"
        relation = scalar(connection, "select 'app.article'::regclass::oid::text")
        for call in ("source_steps(caller, '{}', {})", "verify_locked(caller, '{}', {}, 'app.article')"):
            there = refusal(bob, internal.format(call.format("kb", relation)))
            missing = refusal(bob, internal.format(call.format("none", relation)))
            assert there.sqlstate == missing.sqlstate == "42704"
            assert (there.message_detail, (there.message_hint or "").replace("kb", "none")) == (
                missing.message_detail,
                missing.message_hint,
            )
        for name in ("make_capture", "drop_capture", "load_anew"):
            assert sqlstate_of(bob, f"select pgclarify_private.{name}({source_id})") == "42501"
        assert sqlstate_of(bob, "select * from pgclarify_private.source") == "42501"
        assert sqlstate_of(bob, "select * from pgclarify_private.change") == "42501"

    def test_a_schema_that_is_not_the_callers(self, alice: Connection, bob: Connection, connection: Connection) -> None:
        connection.execute(f"create schema closed authorization {alice.info.user}".encode())
        alice.execute(f"grant usage, create on schema closed to {bob.info.user}".encode())
        bob.execute("create table closed.article (id bigint primary key, body text)")
        call = "select pgclarify.attach_table('bobs', 'closed.article', 'id', 'body')"

        diagnostic = refusal(bob, call)
        assert diagnostic.sqlstate == "42501"
        assert bob.info.user in (diagnostic.message_hint or "")
        alice.execute(f"grant usage on schema closed to {bob.info.user} with grant option".encode())

        assert sqlstate_of(bob, call) is None

    def test_code_of_others_is_not_run(self, alice: Connection) -> None:
        alice.execute(
            "create function app.evil(bigint) returns boolean language plpgsql immutable as"
            " $$ begin raise exception 'run by %', current_user using errcode = 'XX999'; end $$"
        )
        alice.execute("alter table app.article add constraint spied check (app.evil(id)) not valid")

        assert sqlstate_of(alice, ATTACH) == "42501"


class TestAsWhomItIsRead:
    """The table's owner can create an index after our check for such code, and before our query is planned."""

    @pytest.fixture
    def caught(self, alice: Connection, connection: Connection) -> list[str]:
        """The warnings of the table owner's code, one for each read of the table."""
        attach(alice, title="title")
        alice.execute(
            "create function app.spy(bigint) returns bigint language plpgsql immutable"
            # It sets client_min_messages, because warnings are off where it is called.
            " set client_min_messages = warning as $$ begin raise warning 'run by %', current_user; return $1; end $$"
        )
        # A constant expression with the function, which the planner evaluates.
        alice.execute("create index spied on app.article ((app.spy(1))) where app.spy(2) > 0")
        said: list[str] = []
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        return said

    @pytest.mark.parametrize(
        "read",
        [
            "select pgclarify_private.next_keys(source, 10, 1000) from pgclarify_private.source",
            "select pgclarify_private.first_keys(source, '{1,2}', 1000) from pgclarify_private.source",
            "select pgclarify_private.missing_keys(source, '{1,2}') from pgclarify_private.source",
            "select pgclarify_private.read_rows(source, '{1,2}') from pgclarify_private.source",
        ],
    )
    def test_the_owners_code_has_no_rights_of_ours(self, connection: Connection, caught: list[str], read: str) -> None:
        connection.execute(read.encode())

        assert set(caught) == {f"run by {table_reader_of(connection)}"}
