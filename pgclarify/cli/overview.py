"""Renders an installation on one screen: pure functions from rows to rich renderables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pgclarify.cli.rendering import Row, counted, printable

# By column of the table, the column of view corpus.
_COUNTERS = {
    "documents": "documents",
    "passages": "passages",
    "waiting": "pending_passages",
    "embedded": "embedded",
    "linked": "linked",
}
_MARGIN = 9
# Styles of statuses that need attention.
_STYLES = {"failed": "red", "partial": "yellow", "cancelled": "dim", "queued": "dim", "running": "cyan"}
_QUESTION_CHARS = 60


def status(state: Mapping[str, Any]) -> RenderableType:
    """Render the state of an installation.

    Args:
        state: The server, workers, queue, corpora, sources, recent_runs and recent_errors.
    """
    server, workers, queue, corpora = state["server"], state["workers"], state["queue"], state["corpora"]
    sources, runs, errors = state["sources"], state["recent_runs"], state["recent_errors"]
    place = server["place"] + (f", listens on {server['listens_on']}" if server["listens_on"] else "")
    lines = Text()
    _head(lines, "server")
    described = f"PostgreSQL {server['version']}, database {server['database']}"
    lines.append(f"{printable(described)}\n{' ' * _MARGIN}{printable(place)}\n")
    _head(lines, "workers")
    if workers:
        each = (
            f"{worker['provider']} {worker['model']} on {worker['host']}, version {worker['version']}"
            for worker in workers
        )
        lines.append(f"{len(workers)} alive: {printable('; '.join(each))}\n")
    else:
        lines.append("none: nothing is indexed or answered until one runs (pgclarify up --detach)\n", "yellow")
    _head(lines, "queue")
    lines.append(f"{counted(queue['queued'], 'run')} waiting, {queue['running']} running")
    if queue["pending_documents"]:
        passages, documents = (
            counted(queue["pending_passages"], "passage"),
            counted(queue["pending_documents"], "document"),
        )
        lines.append(f"; about {passages} of {documents} to be indexed")
    lines.append("\n")
    _head(lines, "corpora")
    lines.append(str(len(corpora)) if corpora else "none yet: load one with pgclarify load NAME PATH")
    parts: list[RenderableType] = [lines, _beside(corpora_table(corpora))] if corpora else [lines]
    parts.extend(_beside(_model_change(corpus)) for corpus in corpora if corpus.get("next_embedding_model"))
    if sources:
        parts.extend((_titled("tables", str(len(sources))), _beside(_sources(sources))))
    if runs:
        parts.extend((_titled("runs", "the last ones"), _beside(_runs(runs))))
    if errors:
        parts.append(_titled("errors", "of the last day"))
        parts.extend(_beside(_error(row)) for row in errors)
    return Group(*parts)


def _head(lines: Text, name: str) -> None:
    lines.append(name.ljust(_MARGIN), style="bold")


def _titled(name: str, rest: str) -> Text:
    text = Text()
    _head(text, name)
    return text.append(rest)


def _beside(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, _MARGIN), expand=False)


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))


def corpora_table(corpora: Sequence[Row]) -> Table:
    """Render a line for each corpus.

    Args:
        corpora: Rows of `pgclarify.corpus`.
    """
    table = _table()
    table.add_column("corpus", overflow="fold")
    for name in (*_COUNTERS, "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    for corpus in corpora:
        counters = (Text("" if corpus[name] is None else f"{corpus[name]:,}") for name in _COUNTERS.values())
        # Null if the caller may not know it.
        failed = Text(
            "" if corpus["failed"] is None else f"{corpus['failed']:,}", style="red" if corpus["failed"] else ""
        )
        table.add_row(Text(printable(corpus["corpus"])), *counters, failed)
    return table


def _model_change(corpus: Row) -> Text:
    return Text(
        f"{printable(corpus['corpus'])}: changes to {printable(corpus['next_embedding_model'])}, "
        f"{corpus['next_embedded'] or 0:,} of {counted(corpus['passages'], 'passage')} embedded"
    )


def _sources(sources: Sequence[Row]) -> Table:
    table = _table()
    table.add_column("table", overflow="fold")
    table.add_column("corpus", overflow="fold")
    table.add_column("state", no_wrap=True)
    table.add_column("changes waiting", justify="right", no_wrap=True)
    for source in sources:
        table.add_row(
            Text(printable(source["relation"])),
            Text(printable(source["corpus"])),
            Text(source["state"], style=_STYLES.get(source["state"], "")),
            Text(f"{source['pending_changes']:,}"),
        )
    return table


def _runs(runs: Sequence[Row]) -> Table:
    table = _table()
    table.add_column("run", justify="right", no_wrap=True)
    table.add_column("operation", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("readings", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    table.add_column("corpus", overflow="fold")
    table.add_column("question", overflow="fold")
    for run in runs:
        table.add_row(
            Text(str(run["run_id"])),
            Text(run["operation"]),
            Text(run["status"], style=_STYLES.get(run["status"], "")),
            # Null for operations without readings.
            Text("" if run["interpretations"] is None else f"{run['interpretations']:,}"),
            Text(f"{run['seconds']:.1f}"),
            # Some runs have no corpus.
            Text(printable(run["corpus"] or "")),
            Text(_shortened(run["question"])),
        )
    return table


def _error(row: Row) -> Text:
    text = Text()
    text.append(f"run {row['run_id']} {row['status']}", style=_STYLES[row["status"]])
    text.append(f" {_age((datetime.now(UTC) - row['finished_at']).total_seconds())} ago")
    if row["failed"]:
        text.append(f", {counted(row['failed'], 'passage')} not judged")
    return text.append(f": {printable(row['reason'] or 'no reason was kept')}")


def _age(seconds: float) -> str:
    """Return an elapsed time in the largest unit that is reached."""
    for noun, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return counted(int(seconds // size), noun)
    return counted(max(int(seconds), 0), "second")


def _shortened(question: str) -> str:
    line = printable(question)
    return line if len(line) <= _QUESTION_CHARS else f"{line[: _QUESTION_CHARS - 1]}…"
