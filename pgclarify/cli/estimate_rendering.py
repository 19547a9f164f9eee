"""Renders the command estimate: one line for each figure."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pgclarify.cli.rendering import Row, counted, printable
from pgclarify.reports.formats import dollars


def estimate(row: Row) -> RenderableType:
    """Render the figures of an estimate.

    Args:
        row: A row of `pgclarify.estimate`.
    """
    title = Text()
    title.append(counted(row["questions"], "question"), style="bold")
    if row["distinct_questions"] < row["questions"]:
        title.append(f", {row['distinct_questions']:,} of them different")
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for name, value, remark in _lines(row):
        table.add_row(Text(f"  {name}"), Text(value, style="bold"), Text(remark))
    return Group(title, table, *_price_is_missing(row))


def _lines(row: Row) -> list[tuple[str, str, str]]:
    left = row["distinct_questions"] - row["answered"]
    lines = [("answered", f"{row['answered']:,}", "served again, with no call")]
    if row["sampled"] < left:
        lines.append(("looked at", f"{row['sampled']:,}", f"of the {left:,} others, which they stand for"))
    bound = row["calls_at_most"]
    lines.append(("calls", f"{row['calls']:,}", f"at most {bound:,}" if bound > row["calls"] else ""))
    if row["reused_calls"]:
        lines.append(("paid before", f"{row['reused_calls']:,}", "further calls, whose replies are kept"))
    lines.append(("tokens", f"{row['prompt_tokens']:,}", "in"))
    lines.append(("", f"{row['completion_tokens']:,}", "out"))
    if row["cost_usd"] is not None:
        model = "" if row["model"] is None else f"for {printable(row['model'])}"
        lines.append(("cost", dollars(row["cost_usd"]), model))
    return lines


def _price_is_missing(row: Row) -> list[Text]:
    if row["cost_usd"] is not None:
        return []
    return [Text(f"  no price for {printable(row['model'])}: insert it into pgclarify.model_price", style="yellow")]
