"""What a command shows in a pipe while it works."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pgclarify.cli import progress


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
