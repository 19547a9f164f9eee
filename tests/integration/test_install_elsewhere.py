"""Installs on other servers: new ones, ones with few rights, ones that ask for passwords, and standbys."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded
from pgclarify.cli import connection
from pgclarify.cli.doctor import server
from pgclarify.cli.doctor.check import Level
from pgclarify.errors import ConfigurationError, ServerUnavailable
from pgclarify.install import installer
from tests.pages import CHECKOUT, blocks
from tests.servers import folder_of_servers, in_database
from tests.sessions import scalar, sqlstate_of
from tests.workers import (
    Worker,
    as_role,
    environment,
    load,
    run_command,
    until,
    wait_until_linked,
    wait_until_searchable,
)

NO_WORKER, NO_LOOPBACK = "PC001", "PC005"
PASSWORD = "a shared secret"  # noqa: S105 - of servers that live as long as their tests


@pytest.fixture
def root(new_server: str) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection to it, in autocommit."""
    with closing(psycopg.connect(new_server, autocommit=True)) as connection:
        yield connection


@pytest.fixture
def make_tenant(new_server: str, root: psycopg.Connection[Any]) -> Callable[[str], str]:
    """Make databases of a login that may create roles but is not superuser. The extensions are installed for it."""
    root.execute("create role tenant login createrole")

    def make(name: str) -> str:
        root.execute(sql.SQL("create database {} owner tenant").format(sql.Identifier(name)))
        dsn = in_database(new_server, name)
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:
            connection.execute("create extension vector")
            connection.execute("create extension dblink")
        return as_role(dsn, "tenant")

    return make


def ask(dsn: str, user: str = "postgres") -> str | None:
    """The SQLSTATE of a question without a worker."""
    with closing(psycopg.connect(dsn, user=user, autocommit=True)) as connection:
        connection.execute("select pgclarify.create_corpus(gen_random_uuid()::text)")
        corpus = scalar(connection, "select max(corpus) from pgclarify.corpus")
        return sqlstate_of(connection, "select * from pgclarify.clarify('cars', %s)", [corpus])


def demand_password(root: psycopg.Connection[Any]) -> None:
    """Let the server ask only the loopback for its password."""
    rules = Path(str(scalar(root, "show hba_file")))
    (above,) = blocks(CHECKOUT / "docs" / "operations.md", "text")
    rules.write_text(above.code + rules.read_text())
    root.execute("select pg_reload_conf()")
    until(lambda: scalar(root, "select count(*) from pg_hba_file_rules where user_name = '{pgclarify_loopback}'") == 1)
    # The postmaster makes sessions, and reads the file some time later.
    until(lambda: not may_come_without_password(root))


def may_come_without_password(root: psycopg.Connection[Any]) -> bool:
    try:
        psycopg.connect(root.info.dsn, user="pgclarify_loopback").close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_another_encoding_is_refused(
    make_database: Callable[..., str], admin: psycopg.Connection[Any], encoding: str
) -> None:
    dsn = make_database()
    name = sql.Identifier(str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"]))
    admin.execute(sql.SQL("drop database {}").format(name))
    admin.execute(sql.SQL("create database {} encoding {} locale 'C' template template0").format(name, encoding))

    with pytest.raises(ConfigurationError):
        installer.install(dsn)

    with connection.connect(dsn) as database:
        # The doctor reads it as text.
        assert server.check_revision(database).level is Level.PROBLEM
        roles = connection.client_of(database).rows("client_list_roles", roles=["postgres"])
        assert roles == [{"role": "postgres", "has_usage": True}]


def test_databases_at_once_on_a_new_server(new_server: str, root: psycopg.Connection[Any]) -> None:
    """Roles belong to the whole server, so the second install finds them partly made."""
    names = ["zero", "one", "two"]
    for name in names:
        root.execute(sql.SQL("create database {}").format(sql.Identifier(name)))

    with ThreadPoolExecutor(2) as pool:
        installations = list(pool.map(installer.install, [in_database(new_server, name) for name in names[:2]]))

    assert [installation.previous for installation in installations] == [None] * 2

    # A password that another database is setting stays.
    root.execute("alter role pgclarify_loopback password null")
    stored = "select rolpassword from pg_authid where rolname = 'pgclarify_loopback'"
    waits = "select count(*) from pg_stat_activity where datname = 'two' and wait_event_type = 'Lock'"
    with closing(psycopg.connect(new_server, autocommit=True)) as observer, ThreadPoolExecutor(1) as pool:
        with root.transaction():
            root.execute(sql.SQL("alter role pgclarify_loopback password {}").format(PASSWORD))
            installing = pool.submit(installer.install, in_database(new_server, "two"))
            before = scalar(root, stored)
            while not installing.done() and not scalar(observer, waits):
                pass
        assert not installing.result().has_loopback_password
    assert scalar(root, stored) == before


def test_whoever_may_create_roles_may_install(make_tenant: Callable[[str], str], root: psycopg.Connection[Any]) -> None:
    dsn = make_tenant("first")

    first, second = installer.install(dsn), installer.install(dsn)

    assert (first.previous, second.previous) == (None, first.current)
    assert first.has_dblink
    assert first.has_loopback_password
    assert second.has_loopback_password
    # The installing role is not a member of the role that makes roles. That role works all the same.
    maker = "select pg_has_role('tenant', 'pgclarify_role_maker', 'set')"
    assert not scalar(root, maker)
    root.execute("create role ann login in role pgclarify_user")
    root.execute("grant create, connect on database first to ann")
    with closing(psycopg.connect(dsn, user="ann", autocommit=True)) as ann:
        ann.execute("create schema anns create table note (id bigint primary key, body text)")
        ann.execute("select pgclarify.create_corpus('anns')")
        assert sqlstate_of(ann, "select pgclarify.attach_table('anns', 'anns.note', 'id', 'body')") is None
        assert sqlstate_of(ann, "select pgclarify.detach_table('anns', 'anns.note')") is None
    with closing(psycopg.connect(dsn, autocommit=True)) as tenant:
        assert scalar(tenant, "select pgclarify_private.drop_idle_table_reader()") is not None
    assert scalar(root, "select count(*) from pg_roles where starts_with(rolname, 'pgclarify_reads_')") == 0
    # The server asks for no password, so dblink connects superusers only.
    assert ask(dsn) == NO_LOOPBACK
    demand_password(root)
    assert ask(dsn) == NO_WORKER
    with closing(psycopg.connect(dsn, autocommit=True)) as tenant:
        tenant.execute("drop schema pgclarify, pgclarify_private, pgclarify_capture cascade")


def test_a_second_database_is_told_the_password_and_a_wrong_one_has_a_hint(
    make_tenant: Callable[[str], str], root: psycopg.Connection[Any], tmp_path: Path
) -> None:
    first, second = make_tenant("first"), make_tenant("second")
    installer.install(first, loopback_password=PASSWORD)
    demand_password(root)
    assert ask(first) == NO_WORKER

    assert not installer.install(second).has_loopback_password
    assert ask(second) == NO_LOOPBACK

    variables = environment(second, None) | {"PGCLARIFY_LOOPBACK_PASSWORD": PASSWORD}
    assert run_command("init", variables=variables, folder=tmp_path).returncode == 0
    assert ask(second) == ask(first) == NO_WORKER
    # It stays.
    assert installer.install(second).has_loopback_password
    assert ask(second) == NO_WORKER
    with pytest.raises(ServerUnavailable) as refused:
        connection.connect(psycopg.conninfo.make_conninfo(first, user="pgclarify_loopback", password="stale"))  # noqa: S106
    assert "The server is running" in str(refused.value.hint)
    assert "password" in str(refused.value.hint)


def test_a_role_that_was_there_is_given_what_it_lacks(
    make_tenant: Callable[[str], str], new_server: str, root: psycopg.Connection[Any]
) -> None:
    root.execute("create role pgclarify_loopback nologin")
    root.execute("create role pgclarify_role_maker")
    needed = ("alter role pgclarify_loopback login", "alter role pgclarify_role_maker createrole")

    # A tenant may not alter a role that it has not made. Nothing remains.
    with pytest.raises(ConfigurationError) as refused:
        installer.install(make_tenant("first"))
    assert refused.value.sqlstate == "42501"
    assert "; ".join(needed) in str(refused.value.hint)
    assert scalar(root, "select count(*) from pg_roles where rolname = 'pgclarify_owner'") == 0

    assert installer.install(new_server).mended == needed
    assert installer.install(new_server).mended == ()
    demand_password(root)
    assert ask(new_server) == NO_WORKER


def test_pgvector_in_a_schema_of_its_own(
    make_database: Callable[..., str], make_role: Callable[..., str], run_worker: Callable[..., Worker]
) -> None:
    dsn = make_database()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("create schema extensions")
        connection.execute("create extension vector schema extensions")
        installer.install(dsn)

        run_worker(dsn, user=make_role("pgclarify_worker"))
        load(connection, documents=2)
        wait_until_searchable(connection)
        asker = make_role("pgclarify_user")
        with closing(psycopg.connect(dsn, user=asker, autocommit=True)) as alice:
            assert scalar(alice, "select count(*) from pgclarify.clarify('car deductible')") > 0


def test_pgvector_in_a_schema_that_we_may_not_open(make_tenant: Callable[[str], str], new_server: str) -> None:
    dsn = make_tenant("first")
    with closing(psycopg.connect(in_database(new_server, "first"), autocommit=True)) as connection:
        connection.execute("create schema extensions")
        connection.execute("alter extension vector set schema extensions")

        with pytest.raises(ConfigurationError) as refusal:
            installer.install(dsn)
        assert "extensions" in (refusal.value.hint or "")

        connection.execute("grant usage on schema extensions to tenant with grant option")
        assert installer.install(dsn).previous is None


def test_the_way_to_the_primary_is_kept(database: str, connection: psycopg.Connection[Any]) -> None:
    way = "select host, port, socket_dir from pgclarify_private.loopback"
    socket_dir = scalar(connection, "select split_part(current_setting('unix_socket_directories'), ',', 1)")
    assert connection.execute(way.encode()).fetchone() == (None, None, socket_dir)

    connection.execute("update pgclarify_private.loopback set host = 'primary.example', port = 6543")
    installer.install(database)
    assert connection.execute(way.encode()).fetchone() == ("primary.example", 6543, socket_dir)


@pytest.fixture
def standby(new_server: str, root: psycopg.Connection[Any]) -> Iterator[str]:
    """A hot standby of the new server, which has the schema."""
    installer.install(new_server)
    data_dir = Path(str(scalar(root, "show data_directory")))
    with tempfile.TemporaryDirectory(prefix="pgclarify-standby-", dir=folder_of_servers()) as name:
        folder = Path(name)
        owner = data_dir.stat()
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(folder, owner.st_uid, owner.st_gid)
        cluster = folder / "data"

        def run(program: str, *arguments: str) -> None:
            subprocess.run(
                [embedded.binary(program), *arguments],
                user=owner.st_uid if is_root else None,
                # With our own groups, the program could not enter folders that are closed to them.
                group=owner.st_gid if is_root else None,
                extra_groups=[] if is_root else None,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                # The server outlives pg_ctl, and would keep a pipe open.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
                timeout=300,
            )

        run("pg_basebackup", "-d", new_server, "-D", str(cluster), "-R", "-c", "fast", "--no-sync")
        settings = f"-p 5432 -c unix_socket_directories={folder} -c fsync=off -c hba_file={cluster}/pgclarify_hba.conf"
        run("pg_ctl", "start", "-w", "-t", "240", "-D", str(cluster), "-l", str(folder / "log"), "-o", settings)
        try:
            yield psycopg.conninfo.make_conninfo(new_server, host=name)
        finally:
            run("pg_ctl", "stop", "-w", "-t", "240", "-m", "immediate", "-D", str(cluster))


def test_a_question_on_a_hot_standby(
    new_server: str, standby: str, root: psycopg.Connection[Any], run_worker: Callable[..., Worker]
) -> None:
    load(root, documents=2)
    with closing(psycopg.connect(standby, autocommit=True)) as reader:
        assert scalar(reader, "select pg_is_in_recovery()")
        until(lambda: scalar(reader, "select count(*) from pgclarify.document") == 2)
        # The stored socket is that of the primary, which may be on another machine.
        assert sqlstate_of(reader, "select * from pgclarify.clarify('car deductible')") == NO_LOOPBACK

        socket_dir = str(scalar(root, "select socket_dir from pgclarify_private.loopback"))
        root.execute("update pgclarify_private.loopback set host = %s, port = 5432", [socket_dir])
        until(lambda: scalar(reader, "select host from pgclarify_private.loopback") == socket_dir)
        assert sqlstate_of(reader, "select * from pgclarify.clarify('car deductible')") == NO_WORKER

        run_worker(new_server)
        wait_until_searchable(root)
        citations = scalar(reader, "select string_agg(citations::text, '') from pgclarify.clarify('car deductible')")
        assert "four hundred dollars" in citations


# What stores nothing, on a standby that does not know its primary.
SERVED = (
    "select document_id from pgclarify.search('deductible', options => '{\"method\": \"lexical\"}')",
    "select document_id from pgclarify.search('car deductible')",
    "select answer from pgclarify.clarify('car deductible')",
    "select question, answer from pgclarify.clarify_many(array['car deductible'])",
    "select * from pgclarify.neighbors('rental', '102', (select id from pgclarify.passage where document_id = '102'))",
    "select answer from pgclarify.result((select max(run_id) from pgclarify.run where operation = 'clarify'))",
    "select * from pgclarify.explain((select max(run_id) from pgclarify.run where operation = 'clarify'))",
    "select content from pgclarify.get_document('rental', '102')",
)
REFUSED = (
    "select pgclarify.submit('clarify', 'a toll')",
    "select pgclarify.submit_many('clarify', array['a toll'])",
    "select pgclarify.cancel(array[1])",
    "select * from pgclarify.reply(1, 'for an hour')",
    "select pgclarify.add_document('rental', 'new', 'A text.')",
    "select pgclarify.create_corpus('new')",
    "select pgclarify.set_budget('new', options => '{\"max_calls\": 1}')",
)
VIEWS = "select relname from pg_class where relnamespace = 'pgclarify'::regnamespace and relkind = 'v' order by 1"


def test_a_standby_serves_what_is_stored_and_says_what_needs_the_primary(
    new_server: str, standby: str, root: psycopg.Connection[Any], run_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    load(root, documents=4)
    run_worker(new_server)
    wait_until_searchable(root)
    wait_until_linked(root)
    on_primary = [root.execute(statement.encode()).fetchall() for statement in SERVED]
    # Later than what is written, because commits may be asynchronous.
    written = scalar(root, "select pg_current_wal_insert_lsn()")
    with closing(psycopg.connect(standby, autocommit=True)) as reader:
        until(lambda: scalar(reader, "select pg_last_wal_replay_lsn() >= %s::pg_lsn", written))
        assert [reader.execute(statement.encode()).fetchall() for statement in SERVED] == on_primary
        for (view,) in reader.execute(VIEWS).fetchall():
            reader.execute(f"select * from pgclarify.{view}".encode()).fetchall()  # noqa: S608
        assert scalar(reader, "select is_alive from pgclarify.worker_status")

        for statement in REFUSED:
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as refused:
                reader.execute(statement.encode())
            assert "primary" in (refused.value.diag.message_hint or "")
    for command in ("init", "worker"):
        ended = run_command(command, variables=environment(standby, None), folder=tmp_path)
        assert (ended.returncode, "primary" in ended.stderr) == (1, True)
