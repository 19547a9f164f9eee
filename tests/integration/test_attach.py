"""Attaching tables: the created objects, and the result of a dry run."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.integration.attaching import (
    ATTACH,
    EVERYTHING,
    READABLE,
    STATE,
    TRIGGERS,
    attach,
    notices,
    table_reader_of,
)
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.test_privileges import PUBLIC_HAS, listed
from tests.migration.test_objects import WITHOUT_COMMENT, rows
from tests.sessions import Connect, Connection, scalar, sqlstate_of
from tests.workers import until

pytestmark = pytest.mark.rolled_back


class TestAttaching:
    def test_attaching_grants_only_the_columns_that_are_read(self, alice: Connection) -> None:
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

    def test_created_objects_have_comments_and_no_public_rights(
        self, alice: Connection, connection: Connection
    ) -> None:
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
        assert sqlstate_of(alice, ATTACH) == "42710"
        alice.execute("select pgclarify.create_corpus('other')")

        second = attach(alice, corpus="other")

        assert first != second
        assert len(alice.execute(TRIGGERS.encode()).fetchall()) == 10

    @parametrize_in_one_test(
        "options, state",
        [
            ({"id_prefix": "x" * 201}, "22023"),
            ({"title": "Title"}, "42703"),
            ({"metadata": "Language"}, "42703"),
            ({"uri": "id"}, "42804"),
            ({"readers": "title"}, "42804"),
            ({"metadata": ["language", "groups"]}, "42703"),
        ],
    )
    def test_options_are_checked(self, alice: Connection, connection: Connection, options: Any, state: str) -> None:
        call = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', %s::jsonb)"
        assert sqlstate_of(alice, call, [json.dumps(options)]) == state
        assert rows(connection, STATE) == []

    @parametrize_in_one_test(
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
        assert sqlstate_of(alice, f"select pgclarify.attach_table({arguments})") == state


@pytest.mark.committed
def test_a_table_is_attached_once_by_two_calls_at_the_same_time(
    alice: Connection, connection: Connection, connect: Connect
) -> None:
    other = connect(alice.info.user)
    waits = "select exists (select from pg_locks where pid = %s and not granted)"
    with ThreadPoolExecutor() as pool:
        with alice.transaction():
            attach(alice)
            waiting = pool.submit(sqlstate_of, other, ATTACH)
            until(lambda: scalar(connection, waits, other.info.backend_pid))
        assert waiting.result(60) == "42710"


@pytest.mark.committed
@pytest.mark.parametrize("table", ["app.article", "app.page"])
def test_two_calls_grant_rights_on_a_schema_at_the_same_time(
    alice: Connection, connection: Connection, connect: Connect, table: str
) -> None:
    connection.execute(f"create schema old authorization {alice.info.user}".encode())
    alice.execute("create table old.page (id bigint primary key, body text)")
    alice.execute("create table app.page (id bigint primary key, body text)")
    alice.execute("select pgclarify.create_corpus('second')")
    # The role that reads is there, but may not use the schema yet.
    attach(alice, "old.page")
    late = connect(alice.info.user)
    waits = "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s"
    with ThreadPoolExecutor(1) as pool:
        with alice.transaction():
            attach(alice)
            attaching = pool.submit(attach, late, table, "second")
            while not attaching.done() and not scalar(connection, waits, late.info.backend_pid):
                pass
        assert attaching.result()
    may_read = "select has_column_privilege(%s, %s, 'body', 'select')"
    assert scalar(connection, may_read, table_reader_of(connection), table)


@pytest.mark.committed
def test_runs_start_while_a_table_is_being_attached(alice: Connection, connection: Connection) -> None:
    with alice.transaction():
        attach(alice)

        # As start_run locks it.
        assert sqlstate_of(connection, "select from pgclarify_private.corpus for share nowait") is None


class TestDryRun:
    def test_a_dry_run_lists_the_statements_and_changes_nothing(
        self, alice: Connection, connection: Connection
    ) -> None:
        told = notices(alice)
        before = rows(connection, EVERYTHING)

        call = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', '{\"dry_run\": true}')"
        assert scalar(alice, call) is None

        assert rows(connection, EVERYTHING) == before
        assert len(told) == 1
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
        # The attach does what the dry run said.
        with alice.transaction(force_rollback=True):
            attach(alice)
            assert listed(alice, READABLE) == {"id", "body"}

    def test_a_dry_run_names_the_table_as_it_is(self, alice: Connection) -> None:
        told = notices(alice)
        alice.execute("alter table app.article rename to capture_7_article")

        scalar(
            alice, "select pgclarify.attach_table('kb', 'app.capture_7_article', 'id', 'body', '{\"dry_run\": true}')"
        )

        assert " on app.capture_7_article " in told[0].detail
        assert "capture_N_article" not in told[0].detail

    def test_a_dry_run_lists_all_problems(self, alice: Connection, connection: Connection) -> None:
        told = notices(alice)
        alice.execute("create unlogged table app.t (id numeric primary key, body text)")
        dry_run = "select pgclarify.attach_table('kb', %s, 'id', 'body', '{\"dry_run\": true}')"

        assert scalar(alice, dry_run, "app.t") is None
        assert len([notice for notice in told if "cannot be attached" in notice.message]) == 2
        assert all(notice.detail and notice.hint for notice in told)
        assert rows(connection, STATE) == []
