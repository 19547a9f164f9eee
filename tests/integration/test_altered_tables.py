"""What the owner of an attached table may change in it afterwards: no other column, row or table becomes readable."""

from __future__ import annotations

import pytest

from tests.integration.attaching import attach
from tests.integration.manual_worker import MakeWorker
from tests.sessions import Connection

pytestmark = pytest.mark.rolled_back

FAILED, FOLLOWING = "failed", "following"


@pytest.mark.parametrize(
    ("state", "statements"),
    [
        (FAILED, "alter table app.article drop constraint article_pkey"),
        (
            FAILED,
            "alter table app.article drop constraint article_pkey;"
            " create unique index on app.article (id) where id > 0",
        ),
        (FAILED, "alter table app.article enable row level security"),
        (FAILED, "alter table app.article enable row level security; create policy p on app.article using (true)"),
        # Without the other one, this changes nothing.
        (FOLLOWING, "alter table app.article force row level security"),
        (FAILED, "alter table app.article set unlogged"),
        (FAILED, "alter table app.article disable trigger user"),
        (FAILED, "alter table app.article rename body to old; alter table app.article rename secret to body"),
        (FAILED, "alter table app.article drop body; alter table app.article add body text default 'Hidden.'"),
        (
            FAILED,
            "alter table app.article drop body;"
            " alter table app.article add body text generated always as (secret) stored",
        ),
        (FAILED, 'alter table app.article rename "Groups" to old; alter table app.article add "Groups" text[]'),
        (FAILED, 'alter table app.article alter "Groups" type text using null'),
        (FAILED, "drop table app.article; create table app.article as table app.other"),
        # Its readers may mean either table.
        (FAILED, "alter table app.article rename to old; alter table app.other rename to article"),
        (FOLLOWING, "alter table app.article rename to old"),
        (
            FAILED,
            "alter table app.article rename to part; create table app.article (like app.part) partition by range (id);"
            " alter table app.article attach partition app.part default",
        ),
        (FAILED, "create table app.child () inherits (app.article)"),
        (FAILED, "alter table app.article set schema closed"),
        (FOLLOWING, "alter table app.article set schema opened"),
        (FAILED, "alter table app.article owner to bob"),
        (FAILED, "alter table app.article owner to bob; grant all on table app.article to alice"),
        (FAILED, "reassign owned by alice to bob"),
        (FAILED, "drop owned by alice"),
        (FAILED, "revoke usage on schema app from public"),
    ],
)
def test_an_altered_table_is_followed_as_it_was_or_has_failed(
    alice: Connection, bob: Connection, connection: Connection, make_worker: MakeWorker, state: str, statements: str
) -> None:
    names = {"alice": alice.info.user, "bob": bob.info.user}
    for schema in ("closed", "opened"):
        connection.execute(f"create schema {schema} authorization {names['alice']}".encode())
    connection.execute("grant usage on schema app, opened to public")
    alice.execute("create table app.other (like app.article including all)")
    alice.execute("insert into app.other (id, body) values (9, 'Hidden.')")
    alice.execute("update app.article set secret = 'Hidden.'")
    attach(alice, readers="Groups")
    worker = make_worker()
    worker.follow_everything()

    for name, role in names.items():
        statements = statements.replace(f" {name}", f" {role}")
    # As a superuser, because a role gives its table only to roles that it is a member of.
    connection.execute(statements.encode())
    worker.send("inspect_sources")
    worker.follow_everything()

    found = connection.execute("select id, content from pgclarify_private.document order by id").fetchall()
    assert found == [("1", "Cars."), ("2", "Trucks.")]
    ((shown, error),) = connection.execute("select state, error from pgclarify.source_status").fetchall()
    assert (shown, error is not None) == (state, state == FAILED)
