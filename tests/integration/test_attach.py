"""Attaching, comparing again and detaching tables: what is made, what is refused, and who may."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from pgclarify import install
from tests.integration.by_hand import Connect, Connection, Hire, MakeRole, scalar, state_of
from tests.integration.test_privileges import PUBLIC_HAS, listed
from tests.migration.test_objects import WITHOUT_COMMENT, rows

ATTACH = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body')"
RESYNC = "select pgclarify.resync('kb', 'app.article')"
DETACH = "select pgclarify.detach_table('kb', 'app.article')"
STATE = "select state from pgclarify.source"
TRIGGERS = """
    select tgname::text, tgenabled::text from pg_trigger
    where tgrelid = 'app.article'::regclass and not tgisinternal order by tgname
"""
READABLE = """
    select attname::text from pg_attribute
    where attrelid = 'app.article'::regclass and attnum > 0 and not attisdropped
        and has_column_privilege('pgclarify_owner', attrelid, attnum, 'select')
    order by attname
"""
# Everything of the user's that attaching could change, and all that is ours.
EVERYTHING = """
    select 'trigger ' || tgrelid::regclass || tgname from pg_trigger where not tgisinternal
    union all
    select 'column ' || attrelid::regclass || attname || attacl::text from pg_attribute where attacl is not null
    union all
    select concat('schema ', nspname, nspacl::text) from pg_namespace where nspname = 'app'
    union all
    select 'routine ' || oid::regprocedure from pg_proc where pronamespace = 'pgclarify'::regnamespace
    union all
    select 'source ' || source_id from pgclarify.source
    order by 1
"""


@pytest.fixture
def alice(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    """Who owns corpus "kb" and schema "app", with table "article" in it."""
    role = make_role("pgclarify_user", name="alice")
    connection.execute(f"create schema app authorization {role}".encode())
    session = connect(role)
    session.execute("select pgclarify.create_corpus('kb')")
    session.execute(
        "create table app.article ("
        ' id bigint primary key, title text, body text, url varchar, "Groups" text[], language text, secret text)'
    )
    session.execute("insert into app.article (id, body) values (1, 'Cars.'), (2, 'Trucks.')")
    return session


@pytest.fixture
def bob(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    """A user with a corpus of his own, "bobs", and nothing else."""
    session = connect(make_role("pgclarify_user", name="bob"))
    session.execute("select pgclarify.create_corpus('bobs')")
    return session


def attach(session: Connection, table: str = "app.article", corpus: str = "kb", **options: Any) -> int:
    """Attach a table with columns id and body."""
    return int(
        scalar(
            session,
            "select pgclarify.attach_table(%s, %s, 'id', 'body', %s::jsonb)",
            corpus,
            table,
            json.dumps(options),
        )
    )


def refusal(session: Connection, query: str, *parameters: Any) -> psycopg.errors.Diagnostic:
    """What a statement is refused with."""
    with pytest.raises(psycopg.Error) as refused:
        session.execute(query.encode(), parameters)
    return refused.value.diag


class TestAttaching:
    def test_it_reads_what_it_needs_and_nothing_else(self, alice: Connection) -> None:
        source_id = attach(
            alice, title="title", uri="url", readers="Groups", metadata=["language", "id"], id_prefix="a/"
        )

        assert listed(alice, READABLE) == {"id", "body", "title", "url", "Groups", "language"}
        assert alice.execute(TRIGGERS.encode()).fetchall() == [
            (f"pgclarify_{source_id}_delete", "O"),
            (f"pgclarify_{source_id}_insert", "O"),
            (f"pgclarify_{source_id}_replica", "R"),
            (f"pgclarify_{source_id}_truncate", "A"),
            (f"pgclarify_{source_id}_update", "O"),
        ]
        status = alice.execute(
            "select corpus, source_id, relation, relation_oid::regclass::text, state, error, pending_changes,"
            " loaded_at, attached_by from pgclarify.source_status"
        ).fetchall()
        assert status == [
            ("kb", source_id, "app.article", "app.article", "loading", None, 0, None, alice.info.user),
        ]

    def test_it_is_rolled_back_as_a_whole(self, alice: Connection, connection: Connection) -> None:
        before = rows(connection, EVERYTHING)
        with alice.transaction(force_rollback=True):
            attach(alice)
        assert rows(connection, EVERYTHING) == before

    def test_what_it_makes_is_like_all_else(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice)

        assert rows(connection, WITHOUT_COMMENT) == []
        assert listed(connection, PUBLIC_HAS) == set()
        capture = connection.execute(
            "select proowner::regrole::text, proconfig, prosecdef,"
            " has_function_privilege('pgclarify_reader', oid, 'execute') from pg_proc where proname = %s",
            [f"_capture_{source_id}"],
        ).fetchall()
        assert capture == [("pgclarify_owner", ["search_path=pg_catalog, pg_temp"], True, False)]

    def test_a_table_is_attached_once_to_a_corpus(self, alice: Connection) -> None:
        first = attach(alice)
        assert state_of(alice, ATTACH) == "42710"
        alice.execute("select pgclarify.create_corpus('other')")

        second = attach(alice, corpus="other")

        assert first != second
        assert len(alice.execute(TRIGGERS.encode()).fetchall()) == 10

    @pytest.mark.parametrize(
        ("options", "state"),
        [
            ({"no such": 1}, "22023"),
            ({"title": 1}, "22023"),
            ({"metadata": "language"}, "22023"),
            ({"metadata": [1]}, "22023"),
            ({"id_prefix": "x" * 201}, "22023"),
            ({"dry_run": "yes"}, "22023"),
            ([], "22023"),
            ({"title": "Title"}, "42703"),
            ({"uri": "id"}, "42804"),
            ({"readers": "title"}, "42804"),
            ({"metadata": ["language", "groups"]}, "42703"),
        ],
    )
    def test_options_are_checked(self, alice: Connection, connection: Connection, options: Any, state: str) -> None:
        call = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', %s::jsonb)"
        assert state_of(alice, call, [json.dumps(options)]) == state
        assert rows(connection, STATE) == []

    @pytest.mark.parametrize(
        ("arguments", "state"),
        [
            ("null, 'app.article', 'id', 'body'", None),
            ("'nowhere', 'app.article', 'id', 'body'", "42704"),
            ("'kb', null, 'id', 'body'", "22023"),
            ("'kb', 999999, 'id', 'body'", "42P01"),
            ("'kb', 'app.article', null, 'body'", "42703"),
            ("'kb', 'app.article', 'id', null", "42703"),
            ("'kb', 'app.article', 'ctid', 'body'", "42703"),
            ("'kb', 'app.article', 'id', 'Body'", "42703"),
            ("'kb', 'app.article', 'title', 'body'", "55000"),
            ("'kb', 'app.article', 'Groups', 'body'", "42804"),
            ("'kb', 'app.article', 'id', 'id'", "42804"),
        ],
    )
    def test_arguments_are_checked(self, alice: Connection, arguments: str, state: str | None) -> None:
        assert state_of(alice, f"select pgclarify.attach_table({arguments})") == state


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
    def test_what_cannot_be_followed(self, alice: Connection, connection: Connection, made: str, state: str) -> None:
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

        assert state_of(alice, "select pgclarify.attach_table('kb', 'app.t', 'id', 'body')") == "0A000"

    def test_a_virtual_id(self, alice: Connection) -> None:
        if alice.info.server_version >= 180000:
            alice.execute("create table app.t (n bigint, body text, id text generated always as ('a') virtual)")
            diagnostic = refusal(alice, "select pgclarify.attach_table('kb', 'app.t', 'id', 'body')")
            assert diagnostic.sqlstate == "0A000"
            # It can have no index, either.
            assert "not unique" in (diagnostic.message_detail or "")

    def test_foreign_tables_also_as_partitions(self, alice: Connection, connection: Connection) -> None:
        connection.execute("create extension postgres_fdw; create server elsewhere foreign data wrapper postgres_fdw")
        connection.execute(f"grant usage on foreign server elsewhere to {alice.info.user}".encode())
        alice.execute("create foreign table app.far (id bigint, body text) server elsewhere")
        alice.execute("create table app.t (id bigint, body text, year integer) partition by list (year)")
        alice.execute("create table app.t_2024 partition of app.t (unique (id)) for values in (2024)")
        alice.execute("create foreign table app.t_2025 partition of app.t for values in (2025) server elsewhere")

        assert state_of(alice, "select pgclarify.attach_table('kb', 'app.far', 'id', 'body')") == "42809"
        assert state_of(alice, "select pgclarify.attach_table('kb', 'app.t', 'id', 'body')") == "0A000"
        assert state_of(alice, "select pgclarify.attach_table('kb', 'app.t_2024', 'id', 'body')") is None

    @pytest.mark.parametrize("table", ["pg_catalog.pg_class", "pgclarify.document", "information_schema.sql_parts"])
    def test_tables_of_the_system_and_ours(self, connection: Connection, table: str) -> None:
        connection.execute("select pgclarify.create_corpus('kb')")
        assert state_of(connection, "select pgclarify.attach_table('kb', %s, 'oid', 'content')", [table]) == "42809"

    def test_types_whose_owner_says_how_they_become_json(self, alice: Connection) -> None:
        alice.execute(
            "create type app.mood as enum ('good'); alter table app.article add mood app.mood, add moods app.mood[]"
        )
        for column in ("mood", "moods"):
            options = json.dumps({"metadata": ["language", column]})
            call = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', %s::jsonb)"
            assert state_of(alice, call, [options]) == "42804"

    def test_all_that_is_wrong_is_told_at_once(self, alice: Connection) -> None:
        alice.execute("create unlogged table app.t (id numeric, body jsonb)")

        diagnostic = refusal(alice, "select pgclarify.attach_table('kb', 'app.t', 'id', 'body', '{\"title\": \"no\"}')")

        assert diagnostic.sqlstate == "0A000"
        for told in ('column "id" cannot be an id', '"id" is not unique', '"body" cannot be the content', '"no"'):
            assert told in (diagnostic.message_detail or "")


class TestWho:
    def test_only_the_owner_of_the_table(self, alice: Connection, bob: Connection, connection: Connection) -> None:
        call = "select pgclarify.attach_table('bobs', 'app.article', 'id', 'body')"
        assert state_of(bob, call) == "42501"
        alice.execute(f"grant usage on schema app to {bob.info.user}".encode())
        alice.execute(f"grant select, trigger on app.article to {bob.info.user} with grant option".encode())
        assert state_of(bob, call) == "42501"
        connection.execute(f"grant {alice.info.user} to {bob.info.user}".encode())

        assert state_of(bob, call) is None

    def test_only_the_owner_of_the_corpus(self, alice: Connection, bob: Connection) -> None:
        attach(alice)
        for call in (ATTACH, RESYNC, DETACH):
            assert state_of(bob, call) == "42501"
        assert bob.execute("select from pgclarify.source_status").fetchall() == []
        assert rows(alice, "select state from pgclarify.source_status") == ["loading"]

    def test_nobody_reads_through_what_somebody_else_has_attached(
        self, alice: Connection, bob: Connection, connection: Connection
    ) -> None:
        attach(alice)
        # Bob's by name, but he may read nothing of it.
        connection.execute(f"grant usage on schema app to {bob.info.user}".encode())
        connection.execute(f"alter table app.article owner to {bob.info.user}".encode())
        bob.execute("revoke select on app.article from current_user")

        diagnostic = refusal(bob, "select pgclarify.attach_table('bobs', 'app.article', 'id', 'body')")

        assert diagnostic.sqlstate == "42501"
        assert "body, id" in (diagnostic.message_detail or "")

    def test_internal_functions_give_nothing_away(
        self, alice: Connection, bob: Connection, connection: Connection
    ) -> None:
        source_id = attach(alice)
        internal = "select pgclarify.{}(_caller, {}) from pgclarify._caller"
        for name in ("_source_steps", "_check_ids"):
            assert state_of(bob, internal.format(name, source_id)) in ("42501", "42704")
            assert state_of(bob, internal.format(name, 999)) is not None
        for name in ("_make_capture", "_drop_capture", "_load_anew"):
            assert state_of(bob, f"select pgclarify.{name}({source_id})") == "42501"
        assert state_of(bob, "select * from pgclarify.source") == "42501"
        assert state_of(bob, "select * from pgclarify.change") == "42501"

    def test_a_schema_that_is_not_the_callers(self, alice: Connection, bob: Connection, connection: Connection) -> None:
        connection.execute(f"create schema closed authorization {alice.info.user}".encode())
        alice.execute(f"grant usage, create on schema closed to {bob.info.user}".encode())
        bob.execute("create table closed.article (id bigint primary key, body text)")
        call = "select pgclarify.attach_table('bobs', 'closed.article', 'id', 'body')"

        diagnostic = refusal(bob, call)
        assert diagnostic.sqlstate == "42501"
        assert "grant usage on schema closed to pgclarify_owner" in (diagnostic.message_hint or "")
        alice.execute("grant usage on schema closed to pgclarify_owner")

        assert state_of(bob, call) is None

    def test_code_of_others_is_not_run(self, alice: Connection) -> None:
        alice.execute(
            "create function app.evil(bigint) returns boolean language plpgsql immutable as"
            " $$ begin raise exception 'run by %', current_user using errcode = 'XX999'; end $$"
        )
        alice.execute("alter table app.article add constraint spied check (app.evil(id)) not valid")

        assert state_of(alice, ATTACH) == "42501"


class TestDryRun:
    def test_it_says_what_it_would_do_and_does_nothing(self, alice: Connection, connection: Connection) -> None:
        told: list[str] = []
        alice.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        alice.execute("analyze app.article")
        before = rows(connection, EVERYTHING)

        call = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', '{\"dry_run\": true}')"
        assert scalar(alice, call) is None

        assert rows(connection, EVERYTHING) == before
        assert "about 2," in told[0]
        assert told[1:3] == [
            "grant usage on schema app to pgclarify_owner",
            "grant select (body, id) on table app.article to pgclarify_owner",
        ]
        assert sum(line.startswith("create trigger") for line in told) == 5
        # What it said is what attaching does.
        with alice.transaction(force_rollback=True):
            for line in told[1:3]:
                alice.execute(line.encode())

    def test_it_says_all_that_is_in_the_way(self, alice: Connection, connection: Connection) -> None:
        told: list[str] = []
        alice.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        alice.execute("create unlogged table app.t (id numeric primary key, body text)")
        dry_run = "select pgclarify.attach_table('kb', %s, 'id', 'body', '{\"dry_run\": true}')"

        assert scalar(alice, dry_run, "app.t") is None
        assert len([line for line in told if line.startswith("it cannot be attached")]) == 2
        told.clear()
        alice.execute("select pgclarify.add_document('kb', '2', 'By hand.')")
        assert scalar(alice, dry_run, "app.article") is None

        assert len([line for line in told if line.startswith("it cannot be attached")]) == 1
        assert rows(connection, STATE) == []


class TestIds:
    def test_of_a_document_by_hand(self, alice: Connection) -> None:
        alice.execute("select pgclarify.add_document('kb', '2', 'By hand.')")

        diagnostic = refusal(alice, ATTACH)

        assert diagnostic.sqlstate == "23505"
        assert '"2"' in (diagnostic.message_detail or "")
        assert "id_prefix" in (diagnostic.message_hint or "")
        attach(alice, id_prefix="article/")

    def test_of_a_table_that_is_still_being_loaded(self, alice: Connection) -> None:
        attach(alice)
        alice.execute("create table app.page (id text primary key, body text)")
        alice.execute("insert into app.page values ('1'), ('x')")
        call = "select pgclarify.attach_table('kb', 'app.page', 'id', 'body')"
        assert state_of(alice, call) == "23505"
        alice.execute("delete from app.page where id = '1'")

        assert state_of(alice, call) is None

    def test_of_another_tables_documents(self, alice: Connection, connection: Connection) -> None:
        first = attach(alice)
        alice.execute("select pgclarify.add_document('kb', 'x', 'Of the first table.')")
        connection.execute("update pgclarify.document set source_id = %s", [first])
        connection.execute("update pgclarify.source set state = 'following'")
        alice.execute("create table app.page (id text primary key, body text)")
        alice.execute("insert into app.page values ('x')")
        call = "select pgclarify.attach_table('kb', 'app.page', 'id', 'body')"

        diagnostic = refusal(alice, call)
        assert diagnostic.sqlstate == "23505"
        assert "app.article" in (diagnostic.message_detail or "")
        alice.execute(DETACH.encode())

        # What a detached table has left is there for who wants it.
        assert state_of(alice, call) is None


class TestResync:
    def test_it_mends_what_is_gone(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice)
        whole = alice.execute(TRIGGERS.encode()).fetchall()
        connection.execute(
            "update pgclarify.source set state = 'failed', error = 'x', rows_added = 3, load_cursor = '7'"
        )
        alice.execute(f"drop trigger pgclarify_{source_id}_insert on app.article".encode())
        alice.execute("alter table app.article disable trigger user")
        alice.execute("revoke select (body) on app.article from pgclarify_owner")
        alice.execute("revoke usage on schema app from pgclarify_owner")

        assert scalar(alice, RESYNC) == source_id

        assert alice.execute(TRIGGERS.encode()).fetchall() == whole
        assert listed(alice, READABLE) == {"id", "body"}
        assert connection.execute(
            "select state, error, rows_added, load_cursor, load_phase from pgclarify.source"
        ).fetchone() == ("loading", None, 0, None, "rows")

    def test_it_takes_no_lock_when_nothing_is_gone(self, alice: Connection, connect: Connect) -> None:
        attach(alice)
        writer = connect(alice.info.user)
        with writer.transaction():
            writer.execute("update app.article set title = 'New'")
            alice.execute("set lock_timeout = '1s'")
            alice.execute(RESYNC.encode())

    def test_a_table_that_became_a_partition_gets_other_triggers(
        self, alice: Connection, connection: Connection
    ) -> None:
        source_id = attach(alice)
        alice.execute("create table app.all_articles (like app.article including all) partition by range (id)")
        alice.execute("alter table app.all_articles attach partition app.article for values from (0) to (100)")

        alice.execute(RESYNC.encode())

        assert alice.execute(TRIGGERS.encode()).fetchall() == [
            (f"pgclarify_{source_id}_row", "A"),
            (f"pgclarify_{source_id}_truncate", "A"),
        ]
        alice.execute("insert into app.all_articles (id) values (7)")
        assert rows(connection, "select key from pgclarify.change") == ["7"]

    def test_an_id_of_another_type_is_noted_again(self, alice: Connection, connection: Connection) -> None:
        attach(alice)
        alice.execute("alter table app.article alter id type text")

        alice.execute(RESYNC.encode())
        alice.execute("update app.article set title = 'New' where id = '2'")

        assert rows(connection, "select key from pgclarify.change") == ["2"]

    def test_what_cannot_be_mended_is_an_error(self, alice: Connection) -> None:
        assert state_of(alice, RESYNC) == "42704"
        attach(alice)
        alice.execute("alter table app.article drop column body")
        assert state_of(alice, RESYNC) == "42703"
        alice.execute(DETACH.encode())

        assert state_of(alice, RESYNC) == "55000"

    def test_somebody_with_the_rights_takes_over(
        self, alice: Connection, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        attach(alice)
        heir = connect(make_role("pgclarify_user", alice.info.user, name="heir"))
        connection.execute("update pgclarify.source set attached_by = 'nobody', state = 'failed', error = 'x'")

        heir.execute(RESYNC.encode())

        assert rows(connection, "select attached_by::text from pgclarify.source") == [heir.info.user]


class TestDetaching:
    def test_nothing_is_left_on_the_table(self, alice: Connection, connection: Connection) -> None:
        before = {line for line in rows(connection, EVERYTHING) if not line.startswith("schema")}
        source_id = attach(alice, title="title")
        alice.execute("update app.article set title = 'New'")

        assert scalar(alice, DETACH) == source_id

        after = {line for line in rows(connection, EVERYTHING) if not line.startswith("schema")}
        assert after - before == {f"source {source_id}"}
        assert listed(alice, READABLE) == set()
        assert rows(connection, STATE) == ["detached"]
        assert rows(connection, "select key from pgclarify.change") == []

    @pytest.mark.parametrize(("choice", "state"), [("keep", "detached"), ("remove", "removing"), (None, "detached")])
    def test_documents_stay_or_go(
        self, alice: Connection, connection: Connection, choice: str | None, state: str
    ) -> None:
        attach(alice)
        options = json.dumps({"documents": choice})
        assert state_of(alice, "select pgclarify.detach_table('kb', 'app.article', %s::jsonb)", [options]) is None
        assert rows(connection, STATE) == [state]

    def test_kept_documents_may_go_later(self, alice: Connection, connection: Connection) -> None:
        attach(alice)
        alice.execute(DETACH.encode())

        alice.execute("select pgclarify.detach_table('kb', 'app.article', '{\"documents\": \"remove\"}')")
        alice.execute(DETACH.encode())

        assert rows(connection, STATE) == ["removing"]

    def test_what_another_corpus_needs_stays(self, alice: Connection) -> None:
        attach(alice, title="title")
        alice.execute("select pgclarify.create_corpus('other')")
        second = attach(alice, corpus="other")

        alice.execute(DETACH.encode())

        assert listed(alice, READABLE) == {"id", "body"}
        assert {name for name, _ in alice.execute(TRIGGERS.encode()).fetchall()} == {
            f"pgclarify_{second}_{kind}" for kind in ("insert", "update", "delete", "replica", "truncate")
        }

    def test_attached_again_it_is_the_same_source(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice, id_prefix="a/")
        alice.execute("select pgclarify.add_document('kb', '1', 'Of the table.')")
        connection.execute("update pgclarify.document set source_id = %s", [source_id])
        alice.execute(DETACH.encode())

        assert attach(alice) == source_id

        assert connection.execute("select state, id_prefix from pgclarify.source").fetchall() == [("loading", "")]
        assert listed(alice, READABLE) == {"id", "body"}

    def test_a_dropped_table_goes_by_its_number(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice)
        alice.execute("drop table app.article")
        alice.execute("create table app.article (id bigint primary key, body text)")
        assert state_of(alice, DETACH) == "42704"
        (number, name) = alice.execute("select relation_oid, relation from pgclarify.source_status").fetchall()[0]
        assert name == "app.article"
        assert f"detach_table('kb', {number})" in (
            refusal(alice, "select pgclarify.resync('kb', %s::oid::regclass)", number).message_hint or ""
        )

        assert scalar(alice, f"select pgclarify.detach_table('kb', {number})") == source_id

        assert rows(connection, STATE) == ["detached"]

    def test_also_without_the_table(self, alice: Connection, bob: Connection, connection: Connection) -> None:
        attach(alice)
        connection.execute(f"alter table app.article owner to {bob.info.user}".encode())

        alice.execute(DETACH.encode())

        assert alice.execute(TRIGGERS.encode()).fetchall() == []

    def test_a_dropped_corpus_lets_go_of_its_tables(self, alice: Connection, hire: Hire) -> None:
        attach(alice)
        alice.execute("select pgclarify.drop_corpus('kb')")
        alice.execute("update app.article set title = 'New'")
        worker = hire()
        drop = "select pgclarify._drop_orphan_capture()"

        with alice.transaction():
            alice.execute("update app.article set title = 'Newer'")
            assert state_of(worker.connection, drop) == "55P03"
        assert scalar(worker.connection, drop) is not None

        assert scalar(worker.connection, drop) is None
        assert alice.execute(TRIGGERS.encode()).fetchall() == []


def test_an_upgrade_makes_what_notes_changes_anew(database: str, alice: Connection, connection: Connection) -> None:
    source_id = attach(alice)
    definition = scalar(connection, f"select pg_get_functiondef('pgclarify._capture_{source_id}()'::regprocedure)")
    before = alice.execute(TRIGGERS.encode()).fetchall()
    install.install(database)
    assert alice.execute(TRIGGERS.encode()).fetchall() == before
    connection.execute(definition.replace("tg_op = 'INSERT'", "tg_op = 'OTHER'").encode())
    connection.execute("update pgclarify.applied_sql set shipped_hash = 'older'")

    install.install(database)

    assert alice.execute(TRIGGERS.encode()).fetchall() == before
    assert (
        scalar(connection, f"select pg_get_functiondef('pgclarify._capture_{source_id}()'::regprocedure)") == definition
    )


def test_uninstalling_takes_the_triggers_along(alice: Connection, database: str) -> None:
    attach(alice)
    install.uninstall(database)
    alice.execute("update app.article set title = 'New'")
    assert alice.execute(TRIGGERS.encode()).fetchall() == []
