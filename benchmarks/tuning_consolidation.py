"""Ways to group readings: the known answers that each one keeps, and how many readings it shows.

python -m benchmarks.tuning_consolidation DATA_DIR FILE... [--top-k 20] [--threshold 0.3] [--half 1 | --part held]
[--simulated] [--depths 20 50 100 200]. The files are those of benchmarks.tuning. A question belongs to one of two
halves by its place in its data set, and to one of two parts by a hash: choose on one, report on the other. --simulated
also groups made-up runs, whose true groups are known. --depths compares bounds with density by the number of passages.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import tuning_simulation as simulation
from benchmarks.readings_by_hand import FIRST, SECOND
from benchmarks.tuning import Judged, Reading, embed, half, in_part, read_judged, share, share_interval
from benchmarks.tuning_ways import Vectors, Way, shipped, ways
from pgclarify.algorithms.metrics import covered_answers
from pgclarify.providers.extractive.scoring import THRESHOLD


@dataclass(frozen=True)
class Case:
    """A question with its readings, ready to be grouped in each way.

    Attributes:
        judged: The question and its readings.
        readings: Readings of the first passages.
        both: Vectors of interpretations and answers.
        asked: Vectors of interpretations.
        answered: Indices of the known answers that each reading's answer contains.
        quoted: Indices of the known answers in its answer or its quote.
    """

    judged: Judged
    readings: tuple[Reading, ...]
    both: Vectors
    asked: Vectors
    answered: Mapping[Reading, frozenset[int]]
    quoted: Mapping[Reading, frozenset[int]]

    @property
    def found(self) -> frozenset[int]:
        """Indices of the known answers that an answer contains."""
        return frozenset().union(*self.answered.values())

    @property
    def found_once(self) -> frozenset[int]:
        """Indices of the known answers that only one document's readings give."""
        return frozenset(
            place
            for place in self.found
            if len({one.document_id for one, answered in self.answered.items() if place in answered}) == 1
        )


@dataclass(frozen=True)
class Count:
    """The counts of one way on one question.

    Known answers that were found, kept in an answer, and kept in a quote; known answers of a single document that were
    found and kept; readings that are shown, and those of them that give a known answer."""

    found: int
    kept: int
    quoted: int
    found_once: int
    kept_once: int
    shown: int
    right: int


def prepare(judged: Iterable[Judged], top_k: int, threshold: float = THRESHOLD) -> list[Case]:
    """Embed the readings in the first passages of each question, if they are probable enough."""
    judged = list(judged)
    all_readings = [one for question in judged for one in question.first(top_k, threshold)]
    vectors = embed(
        [
            *(f"{one.interpretation} {one.answer}" for one in all_readings),
            *(one.interpretation for one in all_readings),
        ]
    )
    empty = np.empty((0, 1), dtype=np.float32)
    cases = []
    for question in judged:
        readings = question.first(top_k, threshold)
        both = [vectors[f"{one.interpretation} {one.answer}"] for one in readings]
        asked = [vectors[one.interpretation] for one in readings]
        cases.append(
            Case(
                question,
                readings,
                np.array(both) if readings else empty,
                np.array(asked) if readings else empty,
                {one: _known_in(question, [one.answer]) for one in readings},
                {one: _known_in(question, [one.answer, one.quote]) for one in readings},
            )
        )
    return cases


def count(way: Way, case: Case) -> Count:
    """Consolidate one question, and count."""
    shown = way.show(case.readings, case.both if way.embeds_answer else case.asked)
    kept = frozenset().union(*(case.answered[group[0]] for group in shown))
    quoted = frozenset().union(*(case.quoted[one] for group in shown for one in group))
    return Count(
        found=len(case.found),
        kept=len(kept),
        quoted=len(quoted & case.found),
        found_once=len(case.found_once),
        kept_once=len(case.found_once & kept),
        shown=len(shown),
        right=sum(bool(case.answered[group[0]]) for group in shown),
    )


def _known_in(judged: Judged, texts: Sequence[str]) -> frozenset[int]:
    given = covered_answers([one.names for one in judged.question.known], texts)
    return frozenset(place for place, is_given in enumerate(given) if is_given)


def table(title: str, cases: Sequence[Case], compared: Sequence[Way]) -> Table:
    """The rows of the table: what each way keeps and shows."""
    shown = Table("way", "kept", "95 %", "kept in quotes", "kept of one document's", "readings", "right", title=title)
    for column in shown.columns[1:]:
        column.justify = "right"
    for way in compared:
        counts = [count(way, case) for case in cases]
        found = sum(one.found for one in counts)
        low, high = share_interval([one.kept for one in counts], [one.found for one in counts])
        shown.add_row(
            way.name,
            f"{sum(one.kept for one in counts)} of {found} = {sum(one.kept for one in counts) / max(1, found):.3f}",
            f"{low:.2f} to {high:.2f}",
            f"{sum(one.quoted for one in counts) / max(1, found):.3f}",
            f"{sum(one.kept_once for one in counts)} of {sum(one.found_once for one in counts)}",
            f"{statistics.mean(one.shown for one in counts):.2f}",
            f"{sum(one.right for one in counts) / max(1, sum(one.shown for one in counts)):.3f}",
        )
    return shown


def depth_table(corpus: str, judged: Sequence[Judged], depths: Sequence[int], threshold: float) -> Table:
    """The pairs of readings that each way joins. Readings are the same if they give the same known answers.

    Pairs in which neither reading gives a known answer do not count, because nobody knows whether they are the same."""
    shown = Table(
        "passages", "readings", "way", "joined pairs that are the same", "same pairs that are joined", title=corpus
    )
    for depth in depths:
        cases = prepare(judged, depth, threshold)
        for way in shipped()[::2]:
            joined, same, right = zip(*(_pairs(way, case) for case in cases), strict=True)
            shown.add_row(
                str(depth),
                f"{statistics.mean(len(case.readings) for case in cases):.1f}",
                way.name,
                share(right, joined),
                share(right, same),
            )
    return shown


def _pairs(way: Way, case: Case) -> tuple[int, int, int]:
    """Count the joined pairs, the pairs that are the same, and the pairs that are both."""
    groups = way.show(case.readings, case.both)
    group_of = {one: place for place, group in enumerate(groups) for one in group}
    pairs = [(one, other) for one, other in combinations(case.readings, 2) if case.answered[one] | case.answered[other]]
    joined = {(one, other) for one, other in pairs if group_of[one] == group_of[other]}
    same = {(one, other) for one, other in pairs if case.answered[one] == case.answered[other]}
    return len(joined), len(same), len(joined & same)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--top-k", type=int, default=20)
    parser.add_argument("--threshold", type=float, default=THRESHOLD, help="of the extractive verifier's readings")
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--half", type=int, choices=(1, 2), help="use only one half of the questions")
    some.add_argument("--part", choices=("development", "held"), help="use only one part, as in tuning_pairs")
    parser.add_argument("--simulated", action="store_true", help="also group made-up runs")
    parser.add_argument(
        "--depths", type=int, nargs="+", help="compare bounds with density at these numbers of passages"
    )
    options = parser.parse_args()
    console = Console(width=140)
    if options.depths:
        everything = [one for file in options.files for one in read_judged(file, options.data_dir)]
        for corpus in dict.fromkeys(one.question.corpus for one in everything):
            asked = [one for one in everything if one.question.corpus == corpus]
            title = f"{len(asked)} questions of {corpus}"
            console.print(depth_table(title, asked, options.depths, options.threshold))
        return
    for file in options.files:
        judged = half(read_judged(file, options.data_dir), options.half)
        if options.part:
            judged = in_part(judged, options.part)
        cases = prepare(judged, options.top_k, options.threshold)
        console.print(table(f"{file.name}: all {len(cases)} questions", cases, ways()))
        for corpus in dict.fromkeys(one.question.corpus for one in judged):
            mine = [case for case in cases if case.judged.question.corpus == corpus]
            console.print(table(f"{file.name}: {len(mine)} questions of {corpus}", mine, ways()))
    if options.simulated:
        banks = {"by hand": FIRST, "by hand, second set": SECOND, "AmbigNQ": simulation.of_ambignq(options.data_dir)}
        banks["one question, answers reworded"] = simulation.of_wordings()
        console.print(simulation.table({name: simulation.make(bank) for name, bank in banks.items()}, ways()))


if __name__ == "__main__":
    _main()
