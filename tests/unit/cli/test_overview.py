"""The overview of doctor: runs and errors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console

from pgclarify.cli import overview

QUEUE = {"queued": 0, "running": 0, "pending_documents": 0, "pending_passages": 0}
CORPUS: dict[str, Any] = {
    "corpus": "insurance",
    **dict.fromkeys(("documents", "passages", "pending_passages", "embedded", "linked", "failed"), 0),
    "error": None,
}
RUN = {
    "run_id": 17,
    "status": "partial",
    "operation": "clarify",
    "interpretations": 3,
    "seconds": 1.234,
    "corpus": "insurance",
    "question": "rental cars",
}


STATE: dict[str, Any] = {
    "server": {"version": "18", "database": "app", "place": "here", "listens_on": None},
    "workers": [],
    "queue": QUEUE,
    "corpora": [CORPUS],
    "sources": [],
    "recent_runs": [],
    "recent_errors": [],
}


def shown(**values: Any) -> str:
    console = Console(width=150, color_system=None)
    with console.capture() as capture:
        console.print(overview.status(STATE | values))
    return capture.get()


def test_the_last_runs() -> None:
    output = shown(recent_runs=[RUN, RUN | {"run_id": 16, "question": "long " * 50}])
    assert [word for word in ("17", "partial", "3", "1.2", "rental cars") if word not in output] == []
    assert "…" in output
    assert max(map(len, output.splitlines())) <= 150


def test_a_search_has_no_readings() -> None:
    search = RUN | {"operation": "search", "interpretations": None}
    (line,) = [line for line in shown(recent_runs=[search]).splitlines() if "rental cars" in line]
    assert line.split() == ["17", "search", "partial", "1.2", "insurance", "rental", "cars"]


def test_a_run_may_ask_no_corpus() -> None:
    detection = RUN | {"operation": "detect_ambiguity", "interpretations": None, "corpus": None}
    (line,) = [line for line in shown(recent_runs=[detection], corpora=[]).splitlines() if "rental cars" in line]
    assert line.split() == ["17", "detect_ambiguity", "partial", "1.2", "rental", "cars"]


def test_errors_with_their_reason() -> None:
    said = "the endpoint refused the key"
    now = datetime.now(UTC)
    seconds, days = now - timedelta(seconds=50), now - timedelta(days=3, hours=1)
    errors = [
        {"run_id": 17, "status": "partial", "reason": "no JSON\nat all", "failed": 2, "finished_at": seconds},
        {"run_id": 16, "status": "failed", "reason": said, "failed": 0, "finished_at": days},
    ]
    output = shown(recent_errors=errors)
    shown_errors = [line.split() for line in output.splitlines() if line.strip().startswith(("17", "16"))]
    assert [(line[:2], line[4:]) for line in shown_errors] == [
        (["17", "partial"], ["2", "no", "JSON", "at", "all"]),
        (["16", "failed"], ["0", *said.split()]),
    ]


def test_attached_tables() -> None:
    source = {"corpus": "insurance", "relation": "public.article", "pending_changes": 1234}
    fine, broken = source | {"state": "following", "error": None}, source | {"state": "failed", "error": "no column id"}
    output = shown(sources=[fine, broken])
    assert [line.split() for line in output.splitlines() if "1,234" in line] == [
        ["public.article", "insurance", "following", "1,234"],
        ["public.article", "insurance", "failed", "1,234"],
    ]
