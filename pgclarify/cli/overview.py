"""Renders an installation on one screen: pure functions from rows to rich renderables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from pgclarify.cli.rendering import printable, table
from pgclarify.data.counting import counted
from pgclarify.reports.formats import shortened

_MARGIN = 9
# For each table, the columns of its rows by their titles.
_CORPORA = {
    "corpus": "corpus",
    "documents": "documents",
    "passages": "passages",
    "waiting": "pending_passages",
    "embedded": "embedded",
    "linked": "linked",
    "failed": "failed",
}
_MODELS = {"corpus": "corpus", "changes to": "next_embedding_model", "embedded": "next_embedded", "of": "passages"}
_SOURCES = {"table": "relation", "corpus": "corpus", "state": "state", "changes waiting": "pending_changes"}
_RUNS = {
    "run": "run_id",
    "operation": "operation",
    "status": "status",
    "readings": "interpretations",
    "seconds": "seconds",
    "corpus": "corpus",
    "question": "question",
}
_ERRORS = {"run": "run_id", "status": "status", "ended": "finished_at", "not judged": "failed", "reason": "reason"}


def status(state: Mapping[str, Any]) -> RenderableType:
    """Render the state of an installation.

    Args:
        state: The server, workers, queue, corpora, sources, recent_runs and recent_errors.
    """
    server, workers, queue, corpora = state["server"], state["workers"], state["queue"], state["corpora"]
    listens = f", listens on {server['listens_on']}" if server["listens_on"] else ""
    lines = Text()
    _add(lines, "server", f"PostgreSQL {server['version']}, database {server['database']}")
    _add(lines, "", server["place"] + listens)
    if workers:
        each = (f"{one['provider']} {one['model']} on {one['host']}, version {one['version']}" for one in workers)
        _add(lines, "workers", f"{len(workers)} alive: {'; '.join(each)}")
    else:
        _add(lines, "workers", "none: nothing is indexed or answered until one runs (pgclarify up --detach)", "yellow")
    waiting = f"{counted(queue['queued'], 'run')} waiting, {queue['running']} running"
    if queue["pending_documents"]:
        passages = counted(queue["pending_passages"], "passage")
        waiting += f"; about {passages} of {counted(queue['pending_documents'], 'document')} to be indexed"
    _add(lines, "queue", waiting)
    if not corpora:
        _add(lines, "corpora", "none yet: load one with pgclarify load NAME PATH")
    lines.rstrip()
    parts: list[RenderableType] = [lines]
    for name, rows, columns in (
        ("corpora", corpora, _CORPORA),
        ("models", [corpus for corpus in corpora if corpus.get("next_embedding_model")], _MODELS),
        ("tables", state["sources"], _SOURCES),
        ("runs", [run | {"question": shortened(run["question"], 60)} for run in state["recent_runs"]], _RUNS),
        ("errors", state["recent_errors"], _ERRORS),
    ):
        if rows:
            cells = ([row[column] for column in columns.values()] for row in rows)
            parts += [Text(name, style="bold"), Padding(table([*columns], cells), (0, 0, 0, _MARGIN), expand=False)]
    return Group(*parts)


def _add(lines: Text, name: str, told: str, style: str = "") -> None:
    lines.append(name.ljust(_MARGIN), style="bold")
    lines.append(f"{printable(told)}\n", style)
