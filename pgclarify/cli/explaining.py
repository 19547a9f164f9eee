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
_ARROW = re.compile(r" *->  ")
_LABEL = re.compile(r"  (?:(?P<bad>Error)|(?P<open>State)|Passages|Stopped|Calls|Total|Asked again):")


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
        rows = connection.fetch(database, "client_explain", run_id=run_id, options=json.dumps({"detail": detail.value}))
    # Unbroken, however wide: the tree is in the indentation.
    terminal.results().print(tree([row["line"] for row in rows]), soft_wrap=True)


def tree(lines: Sequence[str]) -> Text:
    """What a person sees for the lines of `pgclarify.explain`."""
    from rich.text import Text

    head, *rest = lines
    return Text("\n").join([_styled(head, "bold"), *(_styled(line) for line in rest)])


def _styled(line: str, style: str = "") -> Text:
    from rich.text import Text

    from pgclarify.foreign_text import harmless

    text = Text(harmless(line))
    figures = _FIGURES.search(text.plain)
    end = figures.start() if figures else len(text)
    text.stylize("dim", end)
    text.stylize(style, 0, end)
    if arrow := _ARROW.match(text.plain):
        text.stylize("dim", 0, arrow.end())
        text.stylize("bold", arrow.end(), end)
    elif label := _LABEL.match(text.plain):
        text.stylize("bold red" if label["bad"] else "bold yellow" if label["open"] else "bold", 0, label.end())
    return text
