"""How the command line names its own commands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pgclarify.cli.terminal import commands, write_page

TEXT = "pgclarify down && pgclarify demo, not the package pgclarify-dbt, nor pgclarify."


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a separate Python with our program, below the current folder."""
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "pgclarify"):
        (folder / name).touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", "/nowhere")
    return folder


def test_commands_have_a_path_where_their_name_is_not_found(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = ".venv/bin/pgclarify down && .venv/bin/pgclarify demo, not the package pgclarify-dbt, nor pgclarify."
    assert commands(TEXT) == told
    monkeypatch.chdir(programs)
    assert commands("pgclarify down") == f"{programs}/pgclarify down"


def test_commands_have_their_name_where_it_is_found(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs))
    assert commands(TEXT) == TEXT
    (programs / "pgclarify").unlink()
    assert commands(TEXT) == TEXT


def test_a_small_file_that_was_written_is_not_told_as_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_page("{}", str(tmp_path / "a.jsonl"))
    assert "(1 kB)" in capsys.readouterr().err
