"""What a command shows while it works, in a pipe and on a terminal."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from pgclarify.cli import progress, terminal


@pytest.fixture
def until(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Waits until a line is written, where lines follow one another quickly."""
    monkeypatch.setattr(progress, "SECONDS", 0.001)

    def wait(line: str) -> None:
        written = ""
        deadline = time.monotonic() + 30
        while line not in written:
            assert time.monotonic() < deadline, written
            written += capsys.readouterr().err

    return wait


def test_a_pipe_gets_a_line_now_and_then_about_what_is_waited_for(until: Callable[[str], None]) -> None:
    with progress.waiting("Reading [passages]") as show:
        until("Reading [passages] (")
        show("4 of 9 judged")
        until("4 of 9 judged (")


def test_a_pipe_gets_a_line_now_and_then_about_what_is_done(until: Callable[[str], None]) -> None:
    with progress.bars() as bars:
        task = bars.add_task(r"Indexing (rate \[limit])", total=None)
        bars.update(task, completed=1200)
        until("Indexing (rate [limit]): 1,200 (")
        bars.update(task, total=4300)
        until("Indexing (rate [limit]): 1,200 of 4,300 (")


def test_a_short_wait_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.waiting("Reading passages"), progress.bars() as bars:
        bars.add_task("Reading documents", total=None)
    assert capsys.readouterr().err == ""


@contextmanager
def shown_bar() -> Iterator[None]:
    """Show a bar while the block runs."""
    with progress.bars() as bars:
        bars.add_task("At work", total=9)
        yield


class Screen(io.StringIO):
    """A terminal, as far as a program can tell."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("moves", [lambda: progress.waiting("At work"), shown_bar])
def test_a_notice_does_not_stand_in_the_line_that_moves(
    moves: Callable[[], AbstractContextManager[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with moves():
        while "At work" not in screen.getvalue():
            time.sleep(0.01)
        terminal.notices().print("a notice")
    terminal.notices().print("the end")
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()))
    assert [line for line in lines if line in ("a notice", "the end")] == ["a notice", "the end"]
