"""The tables of all five papers, from what is in the repository: python -m benchmarks.papers.

It needs no data set, database or model. What each question gave in each row is in outcomes.jsonl.gz; the commands of
single papers add to it with --keep. The rows of the large model follow from its recorded replies, which
`python -m benchmarks.papers.large_model` reads again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.table import Table

from benchmarks.figures import show_tables
from benchmarks.papers import Column, Row, ambigprompt, at_cot, large_model, rewrite, sunar, tables_of, verdict
from benchmarks.papers.outcomes import OUTCOMES, read, that_were_asked

_WIDTH: Final = 360


@dataclass(frozen=True)
class Kind:
    """A table, or several of different data.

    Attributes:
        title: The paper and its tables.
        rows: All rows, with the paper's figures.
        columns: The columns.
        against: Rows from which differences are shown.
    """

    title: str
    rows: Sequence[Row]
    columns: Sequence[str | Column]
    against: Sequence[str]


def _replayed(title: str, table: str, *against: str) -> Kind:
    replayed = large_model.TABLES[table]
    return Kind(title, replayed.rows, replayed.columns, against)


KINDS: Final[Mapping[str, Kind]] = {
    "verdict": Kind(
        "VERDICT", verdict.ROWS, verdict.COLUMNS, ("VERDICT", "clarify", "RAC", "VERDICT, nothing consolidated")
    ),
    "large_model": _replayed(
        "VERDICT with a large model", "large_model ramdocs", "VERDICT", "clarify", "RAC", "one prompt"
    ),
    "ambigprompt": Kind("AmbigPrompt", ambigprompt.ROWS, ambigprompt.COLUMNS, ("list_answers",)),
    "large_rounds": _replayed("AmbigPrompt with a large model", "large_rounds ramdocs", "AmbigPrompt"),
    "sunar": Kind("SUNAR", sunar.ROWS, sunar.COLUMNS, ("search: NAR", "steps of the data set: NAR")),
    "rewrite": Kind(
        "Detect, then rewrite", rewrite.ROWS, rewrite.COLUMNS, ("detection: always ambiguous", "rewriting everything")
    ),
    "at_cot": Kind("AT-CoT", at_cot.ROWS, at_cot.COLUMNS, ("at_cot",)),
}
PROMPTS: Final = (
    "relaxation",
    "verdict",
    "baseline_disambiguation",
    "baseline_proposal",
    "baseline_verification",
    "baseline_answers",
    "baseline_listing",
    "next_answer",
    "scheme",
    "questions",
    "baseline_ambiguity",
    "rewriting",
    "one_prompt",
)


def tables(path: Path = OUTCOMES) -> list[Table]:
    """Compute all tables, in the order of KINDS."""
    kept = read(path)
    made = []
    for name in sorted(kept, key=lambda name: (list(KINDS).index(name.split()[0]), name)):
        kind, rows = KINDS[name.split()[0]], kept[name]
        order = [row.name for row in kind.rows]
        rows.sort(key=lambda one: order.index(one.row))
        rows = that_were_asked(rows)
        title = f"{kind.title}, {name.split()[1]}, {len(rows[0].figures)} questions"
        made += tables_of(title, kind.columns, rows, {row.name: row.paper for row in kind.rows}, kind.against)
    return made


if __name__ == "__main__":
    show_tables(*tables(), width=_WIDTH, prompts=PROMPTS)
