"""A role with a table and a corpus, and the state of the table after attaching it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS
from tests.sessions import Connect, Connection, MakeRole, scalar
from tests.workers import wait_until_searchable

ATTACH = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body')"
RESYNC = "select pgclarify.resync('kb', 'app.article')"
DETACH = "select pgclarify.detach_table('kb', 'app.article')"
STATE = "select state from pgclarify_private.source"
TRIGGERS = """
    select tgname::text, tgenabled::text from pg_trigger
    where tgrelid = 'app.article'::regclass and not tgisinternal order by tgname
"""
READABLE = """
    select distinct attname::text from pg_attribute cross join lateral aclexplode(attacl) as granted
    where attrelid = 'app.article'::regclass and attnum > 0 and not attisdropped
        and starts_with(pg_get_userbyid(granted.grantee), 'pgclarify_')
    order by attname
"""
# All objects of the user that attaching could change, and all of ours.
EVERYTHING = """
    select 'trigger ' || tgrelid::regclass || tgname from pg_trigger where not tgisinternal
    union all
    select 'column ' || attrelid::regclass || attname || attacl::text from pg_attribute where attacl is not null
    union all
    select concat('schema ', nspname, nspacl::text) from pg_namespace where nspname = 'app'
    union all
    select 'routine ' || oid::regprocedure from pg_proc
    where pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
    union all
    select 'source ' || source_id from pgclarify_private.source
    order by 1
"""


@pytest.fixture
def alice(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    """The owner of corpus "kb" and of schema "app", which has the table "article"."""
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
    """A user who owns only the corpus "bobs"."""
    session = connect(make_role("pgclarify_user", name="bob"))
    session.execute("select pgclarify.create_corpus('bobs')")
    return session


@pytest.fixture
def note(alice: Connection, bob: Connection, connection: Connection) -> int:
    """The source of Bob's table "bobs.note". Alice's source is in schema "app", which all roles may use."""
    attach(alice)
    alice.execute("grant usage on schema app to public")
    connection.execute(f"create schema bobs authorization {bob.info.user}".encode())
    bob.execute("grant usage on schema bobs to public")
    bob.execute("create table bobs.note (id bigint primary key, body text)")
    bob.execute("insert into bobs.note values (1, 'Ships.')")
    bob.execute("create table bobs.loot (who text, said text)")
    bob.execute("grant insert on bobs.loot to public")
    bob.execute("select pgclarify.add_document('bobs', 'x', 'By hand.')")
    return attach(bob, "bobs.note", "bobs")


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


def table_reader_of(connection: Connection, table: str = "app.article") -> str:
    """The role that reads the attached tables of a table's owner. It need not exist. For superusers."""
    return str(scalar(connection, "select pgclarify_private.table_reader_of(%s::regclass)", table))


def give_document(alice: Connection, connection: Connection, source_id: int, document_id: str = "1") -> None:
    """Give an attached table a document, as if a worker had made it from a row."""
    alice.execute("select pgclarify.add_document('kb', %s, 'Of the table.')", [document_id])
    connection.execute("update pgclarify_private.document set source_id = %s where id = %s", [source_id, document_id])


def make_outdated_corpus(superuser: Connection, corpus: str) -> None:
    """Make a corpus that every role may search, with a document, and an attached table that is dropped."""
    superuser.execute(MAKE_OPEN_CORPUS, [corpus])
    superuser.execute("select pgclarify.add_document(%s, 'tug', 'The tug costs 41 dollars.')", [corpus])
    superuser.execute(f"create table public.{corpus} (id bigint primary key, body text)".encode())
    attach(superuser, f"public.{corpus}", corpus, id_prefix="row/")
    superuser.execute(f"drop table public.{corpus}".encode())
    # A search waits until a table is loaded, or a worker has noticed that it cannot be.
    superuser.execute("update pgclarify_private.source set state = 'following' where state = 'loading'")
    wait_until_searchable(superuser, corpus)


class Notice(NamedTuple):
    """A notice to a session."""

    message: str
    detail: str
    hint: str


def notices(session: Connection) -> list[Notice]:
    """A list that receives all later notices to the session."""
    told: list[Notice] = []
    session.add_notice_handler(
        # The diagnostic is valid only in the handler, so copy it.
        lambda notice: told.append(
            Notice(notice.message_primary or "", notice.message_detail or "", notice.message_hint or "")
        )
    )
    return told


def refusal(session: Connection, query: str, *parameters: Any) -> psycopg.errors.Diagnostic:
    """The error of a refused statement."""
    with pytest.raises(psycopg.Error) as refused:
        session.execute(query.encode(), parameters)
    return refused.value.diag
