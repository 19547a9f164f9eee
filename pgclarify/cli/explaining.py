"""The command explain."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, terminal

if TYPE_CHECKING:
    from rich.text import Text

EXPLAIN_EXAMPLES = terminal.examples(
    "pgclarify explain 42",
    "pgclarify explain 42 --detail stages",
    "pgclarify explain 42 | less -S",
)
# Foreign text has no two blanks in a row, so none of it is taken for figures.
_FIGURES = re.compile(r"  \([^()]*\)$")
_ARROW = "->  "
# Of a label, by the kind of its line.
_STYLES = {"error": "bold red", "state": "bold yellow", "label": "bold"}


class Detail(StrEnum):
    """How far down the tree goes."""

    PASSAGES = "passages"
    BATCHES = "batches"
    STAGES = "stages"


def explain(
    run_id: Annotated[int, typer.Argument(metavar="RUN_ID", help="A run; pgclarify status shows the last ones.")],
    detail: Annotated[Detail, typer.Option(help="How far down the tree goes.")] = Detail.PASSAGES,
) -> None:
    """Show what a run did: where its time and calls went, how it reached each passage, why it stopped."""
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        rows = connection.fetch(database, "cli_explain", run_id=run_id, options=json.dumps({"detail": detail.value}))
    # Unbroken, however wide: the tree is in the indentation.
    terminal.results().print(tree([(row["kind"], row["line"]) for row in rows]), soft_wrap=True)


def tree(lines: Sequence[tuple[str, str]]) -> Text:
    """What a person sees for the lines of `pgclarify.explain`, each with its kind."""
    from rich.text import Text

    return Text("\n").join(_styled(kind, line) for kind, line in lines)


def _styled(kind: str, line: str) -> Text:
    from rich.text import Text

    from pgclarify.foreign_text import harmless

    text = Text(harmless(line))
    figures = _FIGURES.search(text.plain)
    end = figures.start() if figures else len(text)
    text.stylize("dim", end)
    if kind == "head":
        text.stylize("bold", 0, end)
    elif kind == "node":
        start = text.plain.index(_ARROW) + len(_ARROW)
        text.stylize("dim", 0, start)
        text.stylize("bold", start, end)
    elif kind in _STYLES:
        text.stylize(_STYLES[kind], 0, text.plain.index(":") + 1)
    return text
