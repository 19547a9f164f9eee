"""Bounds of distance against density, by the number of passages: which readings each one joins.

python -m benchmarks.quality.consolidation DATA_DIR FILE... [--depths 20 50 100 200] [--threshold 0.05]. The files are
those of benchmarks.quality.judged.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.quality.judged import Judged, Reading, embed, read_judged, share
from pgclarify.algorithms import Density, Grouping, consolidate, relate_readings
from pgclarify.algorithms.metrics import covered_answers
from pgclarify.providers.extractive.scoring import THRESHOLD

# The ways of the product, by name.
WAYS: Mapping[str, Grouping | Density] = {"default": Grouping(), "hdbscan": Density()}


@dataclass(frozen=True)
class Case:
    """The readings of a question, ready to be grouped.

    Attributes:
        readings: Readings of the first passages.
        vectors: Vectors of interpretations and answers.
        answered: Indices of the known answers that each reading's answer contains.
    """

    readings: tuple[Reading, ...]
    vectors: NDArray[np.float32]
    answered: Mapping[Reading, frozenset[int]]


def prepare(judged: Sequence[Judged], top_k: int, threshold: float = THRESHOLD) -> list[Case]:
    """Embed the readings in the first passages of each question, if they are probable enough."""
    readings = [question.first(top_k, threshold) for question in judged]
    vectors = embed(_text(one) for some in readings for one in some)
    return [
        Case(
            some,
            np.array([vectors[_text(one)] for one in some]) if some else np.empty((0, 1), dtype=np.float32),
            {one: _known_in(question, one.answer) for one in some},
        )
        for question, some in zip(judged, readings, strict=True)
    ]


def group(way: Grouping | Density, case: Case) -> list[list[Reading]]:
    """The groups of readings. The first of each speaks for it."""
    if not case.readings:
        return []
    relations = None
    if isinstance(way, Grouping):
        relations = relate_readings(*zip(*((one.interpretation, one.answer) for one in case.readings), strict=True))
    clusters = consolidate(case.vectors, grouping=way, relations=relations)
    places = [[one.medoid, *(member for member in one.members if member != one.medoid)] for one in clusters]
    return [[case.readings[place] for place in members] for members in places]


def table(title: str, judged: Sequence[Judged], depths: Sequence[int], threshold: float) -> Table:
    """The pairs of readings that each way joins. Readings are the same if they give the same known answers.

    A pair without a known answer does not count, because the data set does not tell whether its readings are the same.
    """
    shown = Table(
        "passages", "readings", "way", "joined pairs that are the same", "same pairs that are joined", title=title
    )
    for depth in depths:
        cases = prepare(judged, depth, threshold)
        for name, way in WAYS.items():
            joined, same, right = zip(*(_pairs(way, case) for case in cases), strict=True)
            shown.add_row(
                str(depth),
                f"{statistics.mean(len(case.readings) for case in cases):.1f}",
                name,
                share(right, joined),
                share(right, same),
            )
    return shown


def _pairs(way: Grouping | Density, case: Case) -> tuple[int, int, int]:
    """Count the joined pairs, the pairs that are the same, and the pairs that are both."""
    group_of = {one: place for place, members in enumerate(group(way, case)) for one in members}
    pairs = [(one, other) for one, other in combinations(case.readings, 2) if case.answered[one] | case.answered[other]]
    joined = {(one, other) for one, other in pairs if group_of[one] == group_of[other]}
    same = {(one, other) for one, other in pairs if case.answered[one] == case.answered[other]}
    return len(joined), len(same), len(joined & same)


def _text(reading: Reading) -> str:
    return f"{reading.interpretation} {reading.answer}"


def _known_in(judged: Judged, answer: str) -> frozenset[int]:
    given = covered_answers([one.names for one in judged.question.known], [answer])
    return frozenset(place for place, is_given in enumerate(given) if is_given)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--depths", type=int, nargs="+", default=(20, 50, 100, 200), help="numbers of passages")
    parser.add_argument("--threshold", type=float, default=THRESHOLD, help="of the extractive verifier's readings")
    options = parser.parse_args()
    judged = [one for file in options.files for one in read_judged(file, options.data_dir)]
    for corpus in dict.fromkeys(one.question.corpus for one in judged):
        asked = [one for one in judged if one.question.corpus == corpus]
        title = f"{len(asked)} questions of {corpus}"
        Console(width=140).print(table(title, asked, options.depths, options.threshold))


if __name__ == "__main__":
    _main()
