"""The commands grant and revoke, on a database of their own."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from pgclarify.cli.main import main
from tests.integration.by_hand import Connection, MakeRole, scalar

Run = Callable[..., tuple[int, str, str]]

# White space, quotes and semicolons belong to it.
SESAME = 'open sesame; it\'s "long" '


@pytest.fixture
def run(database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs a command on the test's database: its exit code, and what it prints on both streams."""
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    monkeypatch.delenv("PGCLARIFY_ROLE_PASSWORD", raising=False)
    # There may be a .env file in the working directory.
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        return int(caught.value.code or 0), *capsys.readouterr()

    return run


@pytest.fixture
def corpus(connection: Connection, admin: Connection) -> Iterator[str]:
    """The name of a corpus. Roles that are named after it are dropped at the end."""
    name = f"corpus_{uuid4().hex[:12]}"
    connection.execute("select pgclarify.create_corpus(%s)", [name])
    yield name
    for (role,) in admin.execute("select rolname from pg_roles where rolname ~ %s", [name]).fetchall():
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def verifier(connection: Connection, role: str) -> str | None:
    """The hash by which the server checks a password."""
    row = connection.execute("select rolpassword from pg_authid where rolname = %s", [role]).fetchone()
    return None if row is None else row[0]


def test_sql_is_printed_and_done(run: Run, connection: Connection, corpus: str, make_role: MakeRole) -> None:
    ann = make_role(name="ann")
    group = f"analysts_of_{corpus}"
    made = f"create role {group} nologin;\n"

    exit_code, planned, said = run("corpus", "grant", ann, "--analyst", corpus, "--dry-run")
    assert exit_code == 0
    assert made in planned
    assert "nothing has changed" in said
    assert scalar(connection, "select count(*) from pg_roles where rolname = %s", group) == 0

    exit_code, done, said = run("corpus", "grant", ann, "--analyst", corpus)
    assert (exit_code, done) == (0, planned)
    assert f"pgclarify dsn --role {ann}" in said
    assert run("corpus", "grant", ann, "--analyst", corpus)[:2] == (0, "")
    assert run("corpus", "revoke", ann, "--analyst", corpus)[:2] == (0, f"revoke {group} from {ann};\n")
    assert run("corpus", "revoke", ann, "--analyst", corpus)[:2] == (0, "")
    exit_code, printed, _ = run("corpus", "grant", ann, "--analyst", corpus, "--json")
    assert json.loads(printed) == {
        "role": ann,
        "created": False,
        "dry_run": False,
        "statements": [f"grant {group} to {ann}"],
    }


@pytest.mark.parametrize("is_in_environment", [True, False])
def test_a_login_is_made_with_a_password_that_the_server_never_gets(
    run: Run, connection: Connection, corpus: str, monkeypatch: pytest.MonkeyPatch, is_in_environment: bool
) -> None:
    connection.execute(
        "do $$ begin execute format('alter database %I set log_statement = ddl', current_database()); end $$"
    )
    # The fixture drops all roles with the corpus in their names.
    ann = f"Ann O'Neil {corpus}"
    connection.execute("select pgclarify.grant_access(%s, 'pgclarify_user')", [corpus])
    if is_in_environment:
        monkeypatch.setenv("PGCLARIFY_ROLE_PASSWORD", SESAME)
    exit_code, printed, said = run(
        "corpus", "grant", ann, "--user", corpus, "--create", stdin="" if is_in_environment else f"{SESAME}\n"
    )

    assert exit_code == 0
    assert printed.splitlines() == [f'create role "{ann}" login;', f'grant pgclarify_user to "{ann}";']
    kept = verifier(connection, ann)
    assert kept is not None
    assert kept.startswith("SCRAM-SHA-256$4096:")
    # Other processes write to it, too, and may be in the middle of a character.
    log = scalar(connection, "select pg_read_binary_file('server.log')").decode(errors="replace")
    assert kept in log
    assert "sesame" not in log + printed + said

    # The same command again changes nothing, not even the password.
    assert run("corpus", "grant", ann, "--user", corpus, "--create", stdin="another\n")[:2] == (0, "")
    assert verifier(connection, ann) == kept


def test_a_person_types_a_password_twice_and_unseen(database: str, connection: Connection, corpus: str) -> None:
    ann = f"ann_{corpus}"
    command = [sys.executable, "-m", "pgclarify.cli", "corpus", "grant", ann, "--user", corpus, "--create"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PGCLARIFY_DATABASE_URL": database}
    with subprocess.Popen(
        command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = ""
        for prompt in (f"Password of {ann}: ", "Repeat for confirmation: "):
            # Input before the prompt is complete is discarded.
            while not shown.endswith(prompt):
                assert select.select([ours], [], [], 60)[0], shown
                shown += os.read(ours, 10_000).decode()
            os.write(ours, f"{SESAME}\n".encode())
        # The terminal ends with an error when its other end is closed.
        with suppress(OSError):
            while data := os.read(ours, 10_000).decode():
                shown += data
        os.close(ours)
        assert process.wait(60) == 0
    assert f"create role {ann} login" in shown.replace('"', "")
    assert "sesame" not in shown
    assert (verifier(connection, ann) or "").startswith("SCRAM-SHA-256$")


def test_how_to_close_an_open_corpus_is_a_statement(
    run: Run, connection: Connection, corpus: str, make_role: MakeRole
) -> None:
    assert run("corpus", "grant", "pgclarify_user", "--user", corpus)[0] == 0
    _, _, said = run("corpus", "grant", make_role(name="ann"), "--user", corpus)
    # Lines break where the screen ends.
    (statement,) = re.findall(r"select pgclarify\.revoke_access\(.*?\)", " ".join(said.split()))
    connection.execute(statement)
    assert scalar(connection, "select reader from pgclarify.corpus where corpus = %s", corpus) is None


def test_a_grant_that_cannot_succeed_changes_nothing(run: Run, connection: Connection, corpus: str) -> None:
    nobody = f"nobody in {corpus}"
    for arguments in (
        ("corpus", "grant", nobody, "--user", corpus),
        # No password comes.
        ("corpus", "grant", nobody, "--user", corpus, "--create"),
        # The second corpus is not there, so the first is not granted either.
        ("corpus", "grant", nobody, "--user", corpus, "no such corpus", "--create"),
        ("corpus", "revoke", nobody, "--user", corpus),
        ("corpus", "grant", "pgclarify_owner", "--user", corpus),
    ):
        exit_code, printed, said = run(*arguments, stdin=f"{SESAME}\n" if "no such corpus" in arguments else "")
        assert (exit_code, printed) == (1, "")
        assert "Error: " in said
        # Notices from the server before the error describe nothing that was committed.
        assert "is open to every member" not in said
    assert verifier(connection, nobody) is None
    assert scalar(connection, "select count(*) from pg_roles where rolname = %s", nobody) == 0


def test_names_are_quoted_and_harmless_on_a_screen(run: Run, corpus: str, connection: Connection) -> None:
    evil = f'x"; drop role postgres; -- \x1b[31m {corpus}'
    exit_code, printed, _ = run("corpus", "grant", evil, "--reader", corpus, "--create", stdin=SESAME)
    assert exit_code == 0
    assert "\x1b" not in printed
    with connection.transaction():
        assert scalar(connection, "select pg_has_role(%s, 'pgclarify_reader', 'usage')", evil) is True


def test_a_role_that_may_not_make_roles_gets_an_error(
    run: Run,
    database: str,
    connection: Connection,
    corpus: str,
    make_role: MakeRole,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection.execute("select pgclarify.grant_access(%s, 'pgclarify_user')", [corpus])
    user, ann = make_role("pgclarify_user"), make_role(name="ann")
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", psycopg.conninfo.make_conninfo(database, user=user))
    for arguments in (
        ("corpus", "grant", f"new {corpus}", "--user", corpus, "--create"),
        ("corpus", "grant", ann, "--user", corpus),
    ):
        exit_code, printed, said = run(*arguments, stdin=f"{SESAME}\n")
        assert (exit_code, printed) == (1, "")
        assert "permission denied" in said.lower()
