"""tests/scrambled.py: `make wording` replaces texts of messages, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import scrambled

ROOT = Path(scrambled.__file__).parents[1]
RAISED = """
begin
    if v_kind = 'a kind of it' then
        raise exception 'corpus "%" is not there', v_name
            using errcode = 'undefined_object', detail = format('It was %s by %s.', v_how, v_who),
                hint = 'Make one: ' || v_statement || '.';
    end if;
end
"""
MADE = """
from pgclarify.embedded.listening import Address
from pgclarify.cli.main import explain
from pgclarify.errors import PgclarifyError
from pgclarify.install.shipped import sql_files
try:
    Address.parse("nowhere")
except PgclarifyError as error:
    print(*explain(error), sep="\\n")
print("no corpus is named" in dict(sql_files())["corpora/corpus.sql"])
"""


@pytest.fixture(autouse=True)
def variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(scrambled.VARIABLE, "1")


def test_texts_of_a_raise_are_replaced_in_sql() -> None:
    text = scrambled.scramble_sql("x.sql", RAISED)
    for said in ("is not there", "It was", "Make one"):
        assert said in RAISED
        assert said not in text
    assert len(scrambled.TOKEN.findall(text)) == 3


def test_what_is_compared_or_a_code_stays_in_sql() -> None:
    text = scrambled.scramble_sql("x.sql", RAISED)
    for kept in ("'a kind of it'", "'undefined_object'", "|| v_statement || '.'", "v_name"):
        assert kept in text
    assert text.count("%") == RAISED.count("%")
    assert scrambled.scramble_sql("x.sql", "select 'a text of no message';") == "select 'a text of no message';"


@pytest.mark.slow
def test_a_process_of_its_own_scrambles() -> None:
    """Commands that tests start are such processes. Only a folder on Python's path makes them scramble."""
    variables = {"PYTHONPATH": f"{scrambled.SITE}{os.pathsep}{ROOT}", scrambled.VARIABLE: "1"}
    said, installed = _run(variables)
    assert "nowhere" in said
    assert len(scrambled.TOKEN.findall(said)) == 3
    assert installed == "False"


@pytest.mark.slow
def test_without_the_variable_nothing_is_replaced() -> None:
    said, installed = _run({"PYTHONPATH": f"{scrambled.SITE}{os.pathsep}{ROOT}"})
    assert "is no HOST:PORT" in said
    assert not scrambled.TOKEN.search(said)
    assert installed == "True"


def test_make_sets_the_variable() -> None:
    assert f"\n\t{scrambled.VARIABLE}=$$$$ $(PYTEST) " in (ROOT / "Makefile").read_text(encoding="utf-8")


def _run(variables: dict[str, str]) -> tuple[str, str]:
    """The text of an error, and whether sql/ is unchanged."""
    inherited = {name: value for name, value in os.environ.items() if name not in (scrambled.VARIABLE, "PYTHONPATH")}
    command = [sys.executable, "-c", MADE]
    shown = subprocess.run(command, env=inherited | variables, capture_output=True, text=True, check=True).stdout
    said, installed = shown.rstrip().rsplit("\n", 1)
    return said, installed
