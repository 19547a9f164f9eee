"""A command that removes or pays asks first."""

from __future__ import annotations

import io

import pytest
import typer

from pgclarify.cli.confirming import confirm
from pgclarify.errors import InputError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_script_has_to_confirm_by_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(InputError):
        confirm("this would remove the corpus", is_confirmed=False)
    confirm("this would remove the corpus", is_confirmed=True)


@pytest.mark.parametrize(("answer", "goes_on"), [("y", True), ("n", False), ("", False)])
def test_a_person_is_asked_and_only_yes_goes_on(monkeypatch: pytest.MonkeyPatch, answer: str, *, goes_on: bool) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    monkeypatch.setattr("sys.stderr", Terminal())
    if goes_on:
        confirm("this would remove the corpus", is_confirmed=False)
    else:
        with pytest.raises(typer.Exit) as caught:
            confirm("this would remove the corpus", is_confirmed=False)
        assert caught.value.exit_code == 1
