"""Attaching tables: the created objects, the result of a dry run, and ids that exist already."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.in_turn import in_turn
from tests.integration.attaching import (
    ATTACH,
    DETACH,
    EVERYTHING,
    READABLE,
    RESYNC,
    STATE,
    TRIGGERS,
    attach,
    give_document,
    notices,
    refusal,
    table_reader_of,
)
from tests.integration.by_hand import Connection, scalar, state_of
from tests.integration.test_privileges import PUBLIC_HAS, listed
from tests.migration.test_objects import WITHOUT_COMMENT, rows

pytestmark = pytest.mark.rolled_back


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
            [f"capture_{source_id}"],
        ).fetchall()
        assert capture == [
            (
                "pgclarify_capture",
                ["search_path=pg_catalog, pgclarify_capture, pg_temp"],
                True,
                False,
            )
        ]

    def test_a_table_is_attached_once_to_a_corpus(self, alice: Connection) -> None:
        first = attach(alice)
        assert state_of(alice, ATTACH) == "42710"
        alice.execute("select pgclarify.create_corpus('other')")

        second = attach(alice, corpus="other")

        assert first != second
        assert len(alice.execute(TRIGGERS.encode()).fetchall()) == 10

    @in_turn(
        "options, state",
        [
            ({"no such": 1}, "22023"),
            ({"title": 1}, "22023"),
            ({"metadata": {"language": 1}}, "22023"),
            ({"metadata": [1]}, "22023"),
            ({"id_prefix": "x" * 201}, "22023"),
            ({"dry_run": "yes"}, "22023"),
            ([], "22023"),
            ({"title": "Title"}, "42703"),
            ({"metadata": "Language"}, "42703"),
            ({"uri": "id"}, "42804"),
            ({"readers": "title"}, "42804"),
            ({"metadata": ["language", "groups"]}, "42703"),
        ],
    )
    def test_options_are_checked(self, alice: Connection, connection: Connection, options: Any, state: str) -> None:
        call = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', %s::jsonb)"
        assert state_of(alice, call, [json.dumps(options)]) == state
        assert rows(connection, STATE) == []

    @in_turn(
        "arguments, state",
        [
            ("'nowhere', 'app.article', 'id', 'body'", "42704"),
            ("'kb', null, 'id', 'body'", "22023"),
            ("'kb', 999999, 'id', 'body'", "42P01"),
            ("'kb', 'app.article', null, 'body'", "22023"),
            ("'kb', 'app.article', 'id', null", "22023"),
            ("'kb', 'app.article', 'ctid', 'body'", "42703"),
            ("'kb', 'app.article', 'id', 'Body'", "42703"),
            ("'kb', 'app.article', 'title', 'body'", "55000"),
            ("'kb', 'app.article', 'Groups', 'body'", "42804"),
            ("'kb', 'app.article', 'id', 'id'", "42804"),
            ("null, 'app.article', 'id', 'body'", "22023"),
        ],
    )
    def test_arguments_are_checked(self, alice: Connection, arguments: str, state: str) -> None:
        assert state_of(alice, f"select pgclarify.attach_table({arguments})") == state

    def test_one_column_of_metadata_needs_no_array(self, alice: Connection, connection: Connection) -> None:
        attach(alice, metadata="language")
        assert rows(connection, "select metadata_columns::text from pgclarify_private.source") == ["{language}"]

    def test_an_error_does_not_tell_how_it_came_about(self, alice: Connection) -> None:
        missing = "select pgclarify.attach_table('nowhere', 'app.article', 'id', 'body')"
        no_column = "select pgclarify.attach_table('kb', 'app.article', 'id', 'Body')"
        for call in (missing, no_column, RESYNC, DETACH, "select pgclarify.resync('kb', null)"):
            diagnostic = refusal(alice, call)
            assert diagnostic.message_detail
            assert diagnostic.message_hint
            context = diagnostic.context or ""
            assert context.count("\n") == 0
            assert "SQL statement" not in context

    def test_a_number_that_no_table_has(self, alice: Connection) -> None:
        hint = refusal(alice, "select pgclarify.attach_table('kb', 999999, 'id', 'body')").message_hint or ""
        assert "detach_table" not in hint


class TestDryRun:
    @pytest.mark.wording
    def test_it_says_what_it_would_do_and_does_nothing(self, alice: Connection, connection: Connection) -> None:
        told = notices(alice)
        before = rows(connection, EVERYTHING)

        call = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', '{\"dry_run\": true}')"
        assert scalar(alice, call) is None

        assert rows(connection, EVERYTHING) == before
        assert len(told) == 2
        statements = told[0].detail.split("\n")
        reader = table_reader_of(connection)
        assert statements[:2] == [
            f"grant usage on schema app to {reader};",
            f"grant select (body, id) on table app.article to {reader};",
        ]
        # The attach creates it.
        assert scalar(connection, "select count(*) from pg_roles where rolname = %s", reader) == 0
        assert sum(line.startswith("create trigger pgclarify_N_") for line in statements) == 5
        assert not [line for line in statements[2:] if any(digit in line for digit in "0123456789")]
        assert told[1].message.endswith(": 2")
        # The attach does what the dry run said.
        with alice.transaction(force_rollback=True):
            attach(alice)
            assert listed(alice, READABLE) == {"id", "body"}

    def test_rows_of_a_large_table_are_estimated(self, alice: Connection) -> None:
        told = notices(alice)
        # Otherwise the server would analyze it at an unknown time.
        alice.execute("alter table app.article set (autovacuum_enabled = off)")
        alice.execute(
            "insert into app.article (id, title) select n, repeat('x', 500) from generate_series(3, 20000) as n"
        )
        alice.execute("select pgclarify.attach_table('kb', 'app.article', 'id', 'body', '{\"dry_run\": true}')")
        assert "unknown" in told[-1].message
        alice.execute("analyze app.article")
        alice.execute("select pgclarify.attach_table('kb', 'app.article', 'id', 'body', '{\"dry_run\": true}')")
        assert "about 20000" in told[-1].message

    @pytest.mark.wording
    def test_it_says_all_that_is_in_the_way(self, alice: Connection, connection: Connection) -> None:
        told = notices(alice)
        alice.execute("create unlogged table app.t (id numeric primary key, body text)")
        dry_run = "select pgclarify.attach_table('kb', %s, 'id', 'body', '{\"dry_run\": true}')"

        assert scalar(alice, dry_run, "app.t") is None
        assert len([notice for notice in told if "cannot be attached" in notice.message]) == 2
        assert all(notice.detail and notice.hint for notice in told)
        told.clear()
        alice.execute("select pgclarify.add_document('kb', '2', 'By hand.')")
        assert scalar(alice, dry_run, "app.article") is None

        refused = [notice for notice in told if "cannot be attached" in notice.message]
        assert len(refused) == 1
        assert "id_prefix" in refused[0].hint
        assert rows(connection, STATE) == []


class TestIds:
    @pytest.mark.wording
    def test_of_a_document_by_hand(self, alice: Connection) -> None:
        alice.execute("select pgclarify.add_document('kb', '2', 'By hand.')")

        diagnostic = refusal(alice, ATTACH)

        assert diagnostic.sqlstate == "23505"
        assert '"2"' in (diagnostic.message_detail or "")
        assert '{"id_prefix": "article/"}' in (diagnostic.message_hint or "")
        attach(alice, id_prefix="article/")

    @pytest.mark.wording
    def test_of_a_table_that_was_dropped_and_made_anew(self, alice: Connection, connection: Connection) -> None:
        give_document(alice, connection, attach(alice))
        connection.execute("update pgclarify_private.source set state = 'failed', error = 'x'")
        number = scalar(alice, "select relation_oid from pgclarify.source_status")
        alice.execute("drop table app.article")
        alice.execute("create table app.article (id bigint primary key, body text)")
        alice.execute("insert into app.article values (1, 'Cars.')")

        diagnostic = refusal(alice, ATTACH)

        assert "comes from app.article" in (diagnostic.message_detail or "")
        hint = f"select pgclarify.detach_table('kb', {number})"
        assert hint in (diagnostic.message_hint or "")
        alice.execute(hint.encode())
        assert state_of(alice, ATTACH) is None

    def test_of_a_table_that_is_still_being_loaded(self, alice: Connection) -> None:
        attach(alice)
        alice.execute("create table app.page (id text primary key, body text)")
        alice.execute("insert into app.page values ('1'), ('x')")
        call = "select pgclarify.attach_table('kb', 'app.page', 'id', 'body')"
        assert state_of(alice, call) == "23505"
        alice.execute("delete from app.page where id = '1'")

        assert state_of(alice, call) is None

    def test_prefixes_of_both_tables_count(self, alice: Connection) -> None:
        attach(alice, id_prefix="a/")
        alice.execute("create table app.page (id text primary key, body text)")
        alice.execute("insert into app.page values ('1'), ('/2'), ('x/1')")

        # Documents "1", "/2" and "x/1"; "a1", "a/2" and "ax/1"; "a/1", "a//2" and "a/x/1".
        states = {}
        for prefix in ("", "a", "a/", "b"):
            with alice.transaction(force_rollback=True):
                call = "select pgclarify.attach_table('kb', 'app.page', 'id', 'body', %s::jsonb)"
                states[prefix] = state_of(alice, call, [json.dumps({"id_prefix": prefix})])

        assert states == {"": None, "a": "23505", "a/": "23505", "b": None}

    def test_of_many_rows_that_nobody_has_analyzed(self, alice: Connection) -> None:
        """Comparing all pairs would take many minutes."""
        alice.execute("create table app.page (id bigint primary key, body text)")
        alice.execute("insert into app.article (id) select -n from generate_series(1, 50000) as n")
        alice.execute("insert into app.page (id) select 10 + n from generate_series(1, 50000) as n")
        attach(alice)
        alice.execute("set statement_timeout = '60s'")
        with alice.transaction(force_rollback=True):
            attach(alice, "app.page")
        alice.execute("insert into app.page (id) values (-50000)")

        assert state_of(alice, "select pgclarify.attach_table('kb', 'app.page', 'id', 'body')") == "23505"

    def test_of_another_tables_documents(self, alice: Connection, connection: Connection) -> None:
        give_document(alice, connection, attach(alice), "x")
        connection.execute("update pgclarify_private.source set state = 'following'")
        alice.execute("create table app.page (id text primary key, body text)")
        alice.execute("insert into app.page values ('x')")
        call = "select pgclarify.attach_table('kb', 'app.page', 'id', 'body')"

        diagnostic = refusal(alice, call)
        assert diagnostic.sqlstate == "23505"
        assert "app.article" in (diagnostic.message_detail or "")
        alice.execute(DETACH.encode())

        # Documents of a detached table can be taken over.
        assert state_of(alice, call) is None
