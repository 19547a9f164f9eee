"""Dumps that were restored without owners or rights: init repairs them, and takes nothing that a stranger made."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded
from pgclarify.errors import ConfigurationError
from pgclarify.install import installer
from pgclarify.install.roles import SCHEMAS
from tests.integration.manual_worker import MAKE_OPEN_CORPUS
from tests.migration import catalog
from tests.servers import copy_database, drop_database, hand_to_tenant, in_database
from tests.servers.templates import Lend
from tests.sessions import Connection, MakeRole, scalar, sqlstate_of

MakeDatabase = Callable[..., str]

OWNERS = """
    select format('%s %s of %s', made.kind, made.name, pg_get_userbyid(made.owner))
    from (
        select 'schema', nspname::text, nspowner from pg_namespace
        union all
        select 'relation', oid::regclass::text, relowner from pg_class
        union all
        select 'routine', oid::regprocedure::text, proowner from pg_proc
        union all
        select 'type', oid::regtype::text, typowner from pg_type
    ) as made (kind, name, owner)
    where made.name ~ '^pgclarify(_private|_capture)?([.]|$)' and made.name !~ '[.]pg_toast|[.]read_'
"""
# Grants in the order of their words: a restore may repeat them in another one.
RIGHTS = """
    select format(
        '%s: %s', made.name, (select string_agg(one::text, ',' order by one::text) from unnest(made.acl) as one)
    )
    from (
        select oid::regclass::text, relacl from pg_class where relnamespace::regnamespace::text ~ '^pgclarify'
        union all
        select oid::regprocedure::text, coalesce(proacl, acldefault('f', proowner)) from pg_proc
        where pronamespace::regnamespace::text ~ '^pgclarify(_private|_capture)?$' and proname !~ '^read_'
        union all
        select nspname, nspacl from pg_namespace where nspname ~ '^pgclarify(_private|_capture)?$'
        union all
        select 'default', defaclacl from pg_default_acl where defaclrole = 'pgclarify_owner'::regrole
    ) as made (name, acl)
"""


def look(dsn: str) -> set[str]:
    """Every object of ours, with its owner and its rights."""
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        objects = {line for line in catalog.everything(connection) if not line.startswith(("privileges", "default"))}
        return objects | {line for query in (OWNERS, RIGHTS) for (line,) in connection.execute(query.encode())}


def use(dsn: str) -> None:
    """Make a corpus that every role may ask, and one that follows a table."""
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        connection.execute("select pgclarify.add_document('insurance', 'one', 'Cars are insured.')")
        connection.execute("select pgclarify.create_corpus('notes')")
        connection.execute("create table public.note (id bigint primary key, body text)")
        connection.execute("select pgclarify.attach_table('notes', 'public.note', 'id', 'body')")


def restore(source: str, target: str, folder: Path, *options: str) -> None:
    """Copy a database, as pg_dump and pg_restore do. Errors, such as those about missing roles, do not stop it."""
    dump = folder / "dump"
    subprocess.run([embedded.binary("pg_dump"), "-Fc", "-f", dump, source], check=True, timeout=120)
    subprocess.run(
        [embedded.binary("pg_restore"), *options, "-d", target, dump],
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("options", [("--no-privileges",), ("--no-owner", "--no-privileges")], ids="".join)
def test_init_gives_back_owners_and_rights(
    database: str, make_database: MakeDatabase, make_role: MakeRole, tmp_path: Path, options: tuple[str, ...]
) -> None:
    use(database)
    target = make_database()
    restore(database, target, tmp_path, *options)

    assert (installer.install(target).given_back > 0) == ("--no-owner" in options)

    expected, found = look(database), look(target)
    assert expected - found == set()
    assert found - expected == set()
    ann = make_role("pgclarify_user")
    with closing(psycopg.connect(target, user=ann, autocommit=True)) as session:
        assert scalar(session, "select count(*) from pgclarify.document") == 1
        assert sqlstate_of(session, "select pgclarify_private.inspect_sources()") == "42501"
        assert sqlstate_of(session, "select pgclarify_private.make_reader_role(10)") == "42501"
    with closing(psycopg.connect(target, autocommit=True)) as owner:
        # The triggers of the attached table work, and it can be followed again.
        owner.execute("insert into public.note values (1, 'Ships.')")
        assert scalar(owner, "select count(*) from pgclarify_private.change") == 1
        owner.execute("select pgclarify.resync('notes', 'public.note')")
    assert look(target) == found


@pytest.mark.parametrize("options", [(), ("--no-owner", "--no-privileges")], ids="".join)
def test_a_role_without_superuser_may_restore_and_install(
    database: str, new_server: str, tmp_path: Path, options: tuple[str, ...]
) -> None:
    use(database)
    with closing(psycopg.connect(new_server, autocommit=True)) as root:
        root.execute("create database restored")
        tenant = hand_to_tenant(in_database(new_server, "restored"))
        restore(database, tenant, tmp_path, *options)

        installer.install(tenant)

        root.execute("create role ann login in role pgclarify_user")
    with closing(psycopg.connect(psycopg.conninfo.make_conninfo(tenant, user="ann"), autocommit=True)) as ann:
        assert scalar(ann, "select count(*) from pgclarify.document") == 1
        assert scalar(ann, "select pgclarify.create_corpus('hers') is not null")
        assert sqlstate_of(ann, "select pgclarify_private.inspect_sources()") == "42501"
    with closing(psycopg.connect(tenant, autocommit=True)) as owner:
        owner.execute("select pgclarify_private.adopt_roles()")
        owner.execute("select pgclarify.resync('notes', 'public.note')")
        assert owner.execute(
            "select distinct pg_get_userbyid(relowner) from pg_class where relnamespace::regnamespace::text"
            " in ('pgclarify', 'pgclarify_private', 'pgclarify_capture') order by 1"
        ).fetchall() == [("pgclarify_owner",), ("pgclarify_views",)]


def test_what_another_superuser_has_restored_is_trusted(
    database: str, make_database: MakeDatabase, make_role: MakeRole, tmp_path: Path
) -> None:
    target = make_database()
    other = make_role()
    with closing(psycopg.connect(target, autocommit=True)) as root:
        root.execute(sql.SQL("alter role {} superuser").format(sql.Identifier(other)))
    restore(database, psycopg.conninfo.make_conninfo(target, user=other), tmp_path, "--no-owner", "--no-privileges")

    assert installer.install(target).given_back > 0

    assert look(target) == look(database)


@pytest.fixture(scope="module")
def unowned(
    installed: Lend, server: str, admins: Sequence[Connection], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The name of a database that was restored without its owners."""
    name = copy_database(admins, "template1")
    try:
        with installed() as source:
            restore(source, in_database(server, name), tmp_path_factory.mktemp("dump"), "--no-owner")
        yield name
    finally:
        for admin in admins:
            drop_database(admin, name)


class TestOfAStranger:
    """Code that runs as the installer counts in a sequence, which keeps its state when a transaction is rolled back."""

    @pytest.fixture
    def stranger(self, make_role: MakeRole) -> str:
        return make_role(name="stranger")

    @pytest.fixture
    def restored(self, unowned: str, make_database: MakeDatabase) -> str:
        return make_database(unowned)

    @pytest.fixture
    def root(self, restored: str, stranger: str) -> Iterator[psycopg.Connection[Any]]:
        with closing(psycopg.connect(restored, autocommit=True)) as connection:
            connection.execute(f"create schema of_stranger authorization {stranger}".encode())
            with connection.transaction():
                connection.execute(f"set local role {stranger}".encode())
                connection.execute("create sequence of_stranger.runs")
                connection.execute(
                    "create function of_stranger.run() returns text language sql"
                    " as $$ select nextval('of_stranger.runs')::text $$"
                )
            yield connection

    def refuses(self, root: psycopg.Connection[Any], restored: str) -> None:
        before = root.execute(OWNERS.encode()).fetchall()
        with pytest.raises(ConfigurationError):
            installer.install(restored)
        assert scalar(root, "select is_called from of_stranger.runs") is False
        assert root.execute(OWNERS.encode()).fetchall() == before

    def test_a_whole_dump_is_refused(self, root: psycopg.Connection[Any], restored: str, stranger: str) -> None:
        # All that init would look at.
        for schema in SCHEMAS:
            root.execute(f"alter schema {schema} owner to {stranger}".encode())
        for (table,) in root.execute(
            "select oid::regclass::text from pg_class where relnamespace = 'pgclarify_private'::regnamespace"
            " and relkind in ('r', 'p')"
        ).fetchall():
            root.execute(f"alter table {table} owner to {stranger}".encode())
        with root.transaction():
            root.execute(f"set local role {stranger}".encode())
            for table, column in (("schema_version", "version_num"), ("applied_sql", "shipped_hash")):
                root.execute(f"alter table pgclarify_private.{table} rename to {table}_2".encode())
                root.execute(f"create view pgclarify_private.{table} as select of_stranger.run() as {column}".encode())

        self.refuses(root, restored)

    @pytest.mark.parametrize(
        "statement",
        [
            "create or replace view pgclarify_private.mine as select of_stranger.run() as found",
            "create function pgclarify_private.mine() returns text language sql as $$ select of_stranger.run() $$",
            "create table pgclarify.mine (found text default of_stranger.run())",
            "create type pgclarify_capture.mine as enum ('found')",
            "create domain pgclarify_private.mine as text check (of_stranger.run() <> value)",
        ],
    )
    def test_one_object_among_ours_is_refused(
        self, root: psycopg.Connection[Any], restored: str, stranger: str, statement: str
    ) -> None:
        root.execute(
            f"grant usage, create on schema pgclarify, pgclarify_private, pgclarify_capture to {stranger}".encode()
        )
        with root.transaction():
            root.execute(f"set local role {stranger}".encode())
            root.execute(statement.encode())

        self.refuses(root, restored)

    @pytest.mark.parametrize("schema", SCHEMAS)
    def test_one_schema_is_refused(
        self, root: psycopg.Connection[Any], restored: str, stranger: str, schema: str
    ) -> None:
        root.execute(sql.SQL("alter schema {} owner to {}").format(sql.Identifier(schema), sql.Identifier(stranger)))

        self.refuses(root, restored)


@pytest.mark.parametrize("relation", ["table", "view"])
def test_a_schema_of_the_installer_that_is_none_of_ours_is_left_alone(
    make_database: MakeDatabase, relation: str
) -> None:
    dsn = make_database()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("create schema pgclarify; create schema pgclarify_private")
        connection.execute(
            "create table pgclarify_private.schema_version (version_num text)"
            if relation == "table"
            else "create view pgclarify_private.schema_version as select 'v0_4_0' as version_num"
        )
        before = connection.execute(OWNERS.encode()).fetchall()

        with pytest.raises(ConfigurationError):
            installer.install(dsn)

        assert connection.execute(OWNERS.encode()).fetchall() == before
