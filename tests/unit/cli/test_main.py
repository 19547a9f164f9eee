"""Exit codes, errors and help, without a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from pgclarify.cli.commands import COMMANDS
from pgclarify.cli.main import explain, main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


def test_help_and_version_succeed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    output = capsys.readouterr().out
    assert all(str(command.name) in output for command in COMMANDS)
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("pgclarify ")


@pytest.mark.parametrize("command", [["ask"], ["explain"], ["corpus"], ["corpus", "list"], ["eval", "run"]])
def test_the_help_gives_no_type_to_options_without_a_value(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*command, "--help") == 0
    assert "bool" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("ask",),
        ("ask", "q", "--top-k", "many"),
        ("investigate", "q", "--option", "max_steps"),
        ("estimate", "q", "--file", "/dev/null"),
        ("ask", "q", "--timeout", "0"),
        ("load", "corpus", "/no/such/*.md"),
        ("load", "/dev/null", "/dev/null"),
        ("up", "--listen", "db.example:5433"),
    ],
)
def test_wrong_usage_is_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("dsn",),
        ("ask", "rental cars"),
        ("worker",),
    ],
)
def test_without_a_server_one_sentence_and_a_hint(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Error: No database is named, and the embedded server is not running.\n")
    assert "Hint: Start it with: pgclarify up --detach" in captured.err
    assert "Traceback" not in captured.err


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", "postgresql://me:sesame@127.0.0.1:1/app")
    assert run("search", "rental cars") == 1
    error = capsys.readouterr().err
    assert error.startswith("Error: No connection to the database server.\nDetail: ")
    assert "Hint: Check the URL, and whether the server is running." in error
    assert "sesame" not in error


@pytest.mark.parametrize(
    ("needs", "used", "hint"),
    [
        (True, False, "The server is running."),
        (False, True, "The server is running."),
        (False, False, "Check the URL"),
    ],
)
def test_a_password_that_is_refused_is_not_taken_for_a_server_that_is_down(
    needs: bool, used: bool, hint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Refusal(psycopg.OperationalError):
        pgconn = SimpleNamespace(needs_password=needs, used_password=used)  # type: ignore[assignment]

    def refuse(*_: object, **__: object) -> None:
        raise Refusal("no")

    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", "postgresql://me:stale@127.0.0.1/app")
    monkeypatch.setattr(psycopg, "connect", refuse)
    assert run("search", "rental cars") == 1
    assert f"Hint: {hint}" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["nonsense", "postgresql://me:sesame@[::/app", "host=here password=sesame nonsense"])
@pytest.mark.parametrize("command", [("search", "rental cars"), ("init",), ("doctor",)])
def test_an_address_that_cannot_be_read_is_not_repeated(
    url: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", url)
    assert run(*command) == 1
    captured = capsys.readouterr()
    assert "onnection string cannot be used" in captured.out + captured.err
    assert "sesame" not in captured.out + captured.err


def test_a_wrong_setting_is_named_and_its_value_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGCLARIFY_LLM_CONCURRENCY", "sesame")
    assert run("search", "rental cars") == 1
    error = capsys.readouterr().err
    assert "PGCLARIFY_LLM_CONCURRENCY" in error
    assert "sesame" not in error


def test_a_file_of_questions_that_is_not_in_utf8_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "questions.txt"
    file.write_bytes("Wo?\nWie spät?".encode("latin-1"))
    assert run("estimate", "--file", str(file)) == 1
    assert "Line 2 of questions.txt is no text" in capsys.readouterr().err


def test_settings_that_are_not_in_utf8_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".env").write_bytes(b"PGCLARIFY_DATA_DIR=caf\xe9")
    monkeypatch.chdir(tmp_path)
    assert run("dsn") == 1
    assert ".env is not in UTF-8" in capsys.readouterr().err


def test_debug_shows_where_it_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCLARIFY_DEBUG", "1")
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", "postgresql://127.0.0.1:1/app")
    with pytest.raises(Exception, match="no connection"):
        main(["search", "rental cars"])


def test_explain_has_an_answer_to_any_error(tmp_path: Path) -> None:
    with pytest.raises(OSError) as missing:
        (tmp_path / "gone").read_text()
    assert explain(missing.value) == ("no such file or directory", f"The path is {tmp_path / 'gone'}.", None)
    message, detail, hint = explain(ZeroDivisionError("division by zero"))
    assert (message, detail) == ("unexpected ZeroDivisionError", "division by zero")
    assert "PGCLARIFY_DEBUG=1" in str(hint)
    with pytest.raises(UnicodeEncodeError) as no_text:
        "caf\udce9".encode()
    assert explain(no_text.value)[:2] == ("an argument is no valid text", "Its character 4 is none.")
    message, _, hint = explain(psycopg.OperationalError("broken pipe"))
    assert (message, "Wait until the server is back" in str(hint)) == ("broken pipe", True)
    assert explain(psycopg.DataError("NUL is no text")) == ("NUL is no text", None, None)


def test_the_command_line_starts_without_what_is_heavy() -> None:
    code = "import sys, pgclarify.cli.main as m\ntry: m.main(['--help'])\nfinally: print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    heavy = {"torch", "sqlalchemy", "openai", "sentence_transformers", "numpy", "psycopg", "pydantic", "alembic"}
    assert heavy.isdisjoint(loaded)
    assert not any(name.startswith("pgclarify.declared") for name in loaded)
    assert {name for name in loaded if name.startswith("pgclarify.cli.")} == {
        "pgclarify.cli.asking_commands",
        "pgclarify.cli.commands",
        "pgclarify.cli.deferred",
        "pgclarify.cli.forms",
        "pgclarify.cli.main",
        "pgclarify.cli.terminal",
    }


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_utf8_is_no_reason_to_fail(encoding: str, tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "pgclarify.cli", "load", "c", str(tmp_path / "naïve 東京")],
        env={"PYTHONIOENCODING": encoding, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
    )
    assert finished.returncode == 2
    assert b"Traceback" not in finished.stderr


def test_a_shell_completes_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_PGCLARIFY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "pgclarify inv")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 0
    assert capsys.readouterr().out.split() == ["investigate"]


def test_a_command_ends_while_a_model_is_searched_for() -> None:
    # Python would wait for the thread.
    program = """
import asyncio, time
from pgclarify.cli.main import main
from pgclarify.embedding.registry import Registry

async def search() -> None:
    registry = Registry(lambda name: time.sleep(600), most_loaded=1)
    searching = asyncio.create_task(registry.get("no-such-model"))
    await asyncio.sleep(0.1)
    searching.cancel()
    registry.close()

asyncio.run(search())
main(["--version"])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.startswith("pgclarify ")


def test_a_worker_says_the_same_about_a_missing_server_as_a_question(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", "postgresql://127.0.0.1:1/x")
    said = [(run(*arguments), capsys.readouterr().err) for arguments in (("ask", "rental cars"), ("worker",))]
    assert said[0] == said[1]
