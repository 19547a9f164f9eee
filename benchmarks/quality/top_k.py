"""How many passages to judge: known answers in the passages and in their readings, by top_k.

python -m benchmarks.quality.top_k DATA_DIR FILE... The files are those of benchmarks.quality.judged.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.quality.judged import Judged, read_judged, share_interval
from pgclarify.algorithms.metrics import covered_answers

_SIZES = (5, 10, 20, 30, 50)


def table(title: str, judged: Sequence[Judged]) -> Table:
    """A row for each top_k for which some question has enough passages."""
    shown = Table("top_k", "documents", "passages", "answers", "95 %", "quotes", title=title)
    for column in shown.columns:
        column.justify = "right"
    most = max(len(one.contents) for one in judged)
    for top_k in (size for size in _SIZES if size <= most):
        known = [len(one.question.known) for one in judged]
        golds = [frozenset(id_ for answer in one.question.known for id_ in answer.gold) for one in judged]
        retrieved = sum(
            len(gold.intersection(one.document_ids[:top_k])) for gold, one in zip(golds, judged, strict=True)
        )
        in_answers = [_covered(one, [reading.answer for reading in one.first(top_k)]) for one in judged]
        low, high = share_interval(in_answers, known)
        shown.add_row(
            str(top_k),
            f"{retrieved / sum(map(len, golds)):.3f}" if any(golds) else "",
            f"{sum(_covered(one, one.contents[:top_k]) for one in judged) / sum(known):.3f}",
            f"{sum(in_answers) / sum(known):.3f}",
            f"{low:.2f} to {high:.2f}",
            f"{sum(_covered(one, [reading.quote for reading in one.first(top_k)]) for one in judged) / sum(known):.3f}",
        )
    return shown


def _covered(judged: Judged, texts: Sequence[str]) -> int:
    return sum(covered_answers([one.names for one in judged.question.known], texts))


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    for file in options.files:
        judged = read_judged(file, options.data_dir)
        for corpus in dict.fromkeys(one.question.corpus for one in judged):
            mine = [one for one in judged if one.question.corpus == corpus]
            known = statistics.mean(len(one.question.known) for one in mine)
            title = f"{file.name}: {len(mine)} questions of {corpus}, {known:.1f} known answers each"
            Console(width=140).print(table(title, mine))


if __name__ == "__main__":
    _main()
