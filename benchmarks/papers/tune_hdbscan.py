"""Chooses parameters of HDBSCAN for VERDICT: python -m benchmarks.papers.tune_hdbscan PUBLISHED.

PUBLISHED has ramdocs.questions (see `benchmarks.papers.convert`). A reading is the question with the answer that a
document is known to give, as a small model repeats the question; two readings mean the same if their answers are equal.
No language model is asked. The parameters are chosen on development questions, and reported on the held ones: the F1 of
pairs, where what HDBSCAN calls noise is alone. Row "one group" is a constant: all readings of a question mean the same.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.data_sets import MODEL, part_of
from benchmarks.papers.convert import Source
from benchmarks.papers.verdict import density_labels
from pgclarify.embedding import load_embedder

GRID: Final[Mapping[str, Sequence[Any]]] = {
    "least": (2, 3),
    "epsilon": (0.0, 0.05, 0.1, 0.15, 0.2, 0.3),
    "selection": ("eom", "leaf"),
    "is_single_allowed": (False, True),
}
_FEWEST = 3


def readings_of(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[str], list[str]]]:
    """The part of each question with three answers or more, its readings and their answers."""
    for row in rows:
        answers = [one["answer"] for one in row["documents"] if one["type"] != "noise"]
        if len(answers) >= _FEWEST:
            yield part_of(row["id"]), [f"{row['question']} {answer}" for answer in answers], answers


def pairs_f1(labels: Sequence[NDArray[np.intp]], answers: Sequence[Sequence[str]]) -> float:
    """F1 of "means the same" over all pairs of readings of one question."""
    both = found = known = 0
    for of_question, given in zip(labels, answers, strict=True):
        for one, other in combinations(range(len(given)), 2):
            is_joined = of_question[one] == of_question[other] != -1
            is_same = given[one] == given[other]
            both, found, known = both + (is_joined and is_same), found + is_joined, known + is_same
    return 2 * both / (found + known)


async def main(folder: Path) -> Table:
    """Try all parameters."""
    questions = list(readings_of(Source(folder).lines("ramdocs.questions")))
    embedder = await asyncio.to_thread(load_embedder, MODEL)
    vectors = [await embedder.encode(texts) for _, texts, _ in questions]
    embedder.close()
    table = Table("row", *GRID, "development", "held", title=f"{len(questions)} questions")

    def add(name: str, values: Sequence[Any], labels: Sequence[NDArray[np.intp]]) -> None:
        f1 = {
            part: pairs_f1(
                [one for one, (of, _, _) in zip(labels, questions, strict=True) if of == part],
                [answers for of, _, answers in questions if of == part],
            )
            for part in ("development", "held")
        }
        rows.append((f1["development"], [name, *map(str, values), *(f"{one:.3f}" for one in f1.values())]))

    rows: list[tuple[float, list[str]]] = []
    add("one group", [""] * len(GRID), [np.zeros(len(one), dtype=np.intp) for one in vectors])
    for values in product(*GRID.values()):
        add("HDBSCAN", values, [density_labels(one, **dict(zip(GRID, values, strict=True))) for one in vectors])
    for _, cells in sorted(rows, reverse=True):
        table.add_row(*cells)
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("published", type=Path)
    Console(width=120).print(asyncio.run(main(parser.parse_args().published)))
