"""Renders the command documents: pure functions from rows to rich renderables."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pgclarify.cli.rendering import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

_NO_FILE = {"statement": "a statement or a client", "unknown": "unknown: an earlier version did not note it"}


def documents(page: Sequence[Mapping[str, object]]) -> RenderableType:
    """Render a line for each document: its id, last change, whether it is searchable, and its source."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("id", overflow="fold")
    table.add_column("changed", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("comes from", overflow="fold")
    for document in page:
        failed, done = document["error"] is not None, document["indexed_at"] is not None
        table.add_row(
            Text(printable(str(document["document_id"]))),
            Text(f"{document['updated_at']:%Y-%m-%d %H:%M}"),
            Text("failed" if failed else "searchable" if done else "waiting", style="red" if failed else ""),
            Text(_origin(document)),
        )
    return table


def next_page(corpus: str, last: str) -> Text:
    """Say how to see the next page."""
    return Text(f"There are more: pgclarify documents {shlex.quote(corpus)} --after {shlex.quote(printable(last))}")


def _origin(document: Mapping[str, object]) -> str:
    kind, origin = str(document["source"]), document["origin"]
    if kind == "table":
        return f"table {printable(str(origin))}" if origin else "an attached table"
    return _NO_FILE.get(kind) or printable(str(origin))
