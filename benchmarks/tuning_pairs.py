"""Ways to group readings, measured by pairs: the equal readings that they join, and how many readings they show.

python -m benchmarks.tuning_pairs DATA_DIR [FILE...] [--part development|held] [--all].

In grouped_readings.jsonl, readings of a question with the same `group` are the same: they mean the same question and
their answers agree, so a user would want them as one reading. A large language model decided this, reading by reading,
without similarities. No person did. `verifier` is the model that read the passages: one of 1.5 billion parameters;
"large", the same large language model, one passage after another; or the extractive verifier. For the extractive
verifier, only the documents are in the file; FILE, of benchmarks.tuning, has its readings. "by hand" are the wordings
of readings_by_hand.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.lexical_quality import read
from benchmarks.readings_by_hand import FIRST, SECOND
from benchmarks.tuning import embed, share
from benchmarks.tuning_ways import BEFORE, Vectors, Way, density_would_join, named, shipped, ways
from pgclarify.algorithms import Density, Grouping, relate_readings
from pgclarify.algorithms.metrics import covered_answers

_GROUPED = Path(__file__).parent / "grouped_readings.jsonl"
_EXTRACTIVE = "extractive"


@dataclass(frozen=True)
class Case:
    """The readings of one verifier for one question.

    Attributes:
        verifier: Its name; "by hand" for wordings of known readings that were written by hand.
        part: development (for choices) or held (for reporting).
        readings: Interpretations and answers.
        groups: A number for each reading; readings that are the same have the same number.
        known: The known answers of the question, each in its spellings.
        both: Vectors of interpretations and answers.
        asked: Vectors of interpretations.
    """

    verifier: str
    part: str
    readings: tuple[tuple[str, str], ...]
    groups: NDArray[np.intp]
    known: tuple[Sequence[str], ...]
    both: Vectors
    asked: Vectors


@dataclass(frozen=True)
class Count:
    """The counts of one way on one case.

    Pairs that were joined, pairs that are the same, and pairs that are both; readings that are shown; known answers in
    all readings and in the shown ones."""

    joined: int
    same: int
    right: int
    shown: int
    found: int
    kept: int


def load(data_dir: Path, files: Sequence[Path]) -> list[Case]:
    """Read the grouped readings. Those of the extractive verifier need a file."""
    questions = {
        row["id"]: (row["question"], _known(row))
        for name in ("ambignq.questions", "squad2.ambiguous")
        for row in read(data_dir / f"{name}.jsonl.gz")
    }
    words = {
        (row["question"], one["document_id"]): (one["interpretation"], one["answer"])
        for file in files
        for row in read(file)
        for one in row["readings"]
    }
    found = []
    for row in map(json.loads, _GROUPED.read_text().splitlines()):
        question, known = questions[row["question_id"]]
        if row["verifier"] == _EXTRACTIVE:
            readings = [words.get((question, one["document_id"])) for one in row["readings"]]
        else:
            # Without an interpretation, the reading is the question as it was asked.
            readings = [(one["interpretation"] or question, one["answer"]) for one in row["readings"]]
        present = [(one["group"], words) for one, words in zip(row["readings"], readings, strict=True) if words]
        found.append(
            (row["verifier"], row["part"], [words for _, words in present], [group for group, _ in present], known)
        )
    for part, bank in (("development", FIRST), ("held", SECOND)):
        for wordings in bank.values():
            labelled = [(number, one) for number, group in enumerate(wordings) for one in group]
            found.append(("by hand", part, [one for _, one in labelled], [number for number, _ in labelled], ()))
    vectors = embed(
        text for _, _, readings, _, _ in found for asked, answer in readings for text in (f"{asked} {answer}", asked)
    )
    return [
        Case(
            verifier,
            part,
            tuple(readings),
            np.array(groups),
            known,
            np.array([vectors[f"{asked} {answer}"] for asked, answer in readings]),
            np.array([vectors[asked] for asked, _ in readings]),
        )
        for verifier, part, readings, groups, known in found
        if readings
    ]


def _known(row: Mapping[str, Any]) -> tuple[Sequence[str], ...]:
    match row:
        case {"answer": str(answer)}:
            return ((answer,),)
        case {"interpretations": [_, *_] as interpretations}:
            return tuple(one["answers"] for one in interpretations)
        case {"single_answers": list(answers)}:
            return tuple(answers)
    raise ValueError(f"a question without known answers: {sorted(row)}")


def count(way: Way, case: Case) -> Count:
    """Group one case."""
    relations = way.heard([asked for asked, _ in case.readings], [answer for _, answer in case.readings])
    groups = way.group(case.both if way.embeds_answer else case.asked, relations)
    # Each reading has a document of its own.
    shown = way.chosen(groups, [str(place) for place in range(len(case.readings))])
    joined = {tuple(sorted(pair)) for group in groups for pair in combinations(group, 2)}
    same = {pair for pair in combinations(range(len(case.groups)), 2) if case.groups[pair[0]] == case.groups[pair[1]]}
    return Count(
        joined=len(joined),
        same=len(same),
        right=len(joined & same),
        shown=len(shown),
        found=sum(covered_answers(case.known, [answer for _, answer in case.readings])),
        kept=sum(covered_answers(case.known, [case.readings[group[0]][1] for group in shown])),
    )


def table(title: str, cases: Sequence[Case], compared: Sequence[Way]) -> Table:
    """A row for each way, with 95 % bootstrap intervals over questions."""
    shown = Table("way", "precision", "recall", "F1", "readings a question", "cut", "known answers kept", title=title)
    for column in shown.columns[1:]:
        column.justify = "right"
    n_readings = [len(case.readings) for case in cases]
    for way in compared:
        counts = [count(way, case) for case in cases]
        joined, same, right = ([getattr(one, name) for one in counts] for name in ("joined", "same", "right"))
        left = [one.shown for one in counts]
        shown.add_row(
            way.name,
            share(right, joined),
            share(right, same),
            f"{2 * sum(right) / max(1, sum(joined) + sum(same)):.2f}",
            f"{sum(left) / len(cases):.2f} of {sum(n_readings) / len(cases):.2f}",
            f"{1 - sum(left) / sum(n_readings):.2f}",
            share([one.kept for one in counts], [one.found for one in counts]),
        )
    return shown


def density_table(cases: Sequence[Case]) -> Table:
    """Pairs between the bounds that density would also join, and how many of them are the same."""
    shown = Table(
        "verifier", "bounds", "density", "pairs it would join", "the same", title="Where density would decide"
    )
    for verifier in dict.fromkeys(case.verifier for case in cases):
        mine = [case for case in cases if case.verifier == verifier]
        for name, grouping in {"as they ship": Grouping(), "before": BEFORE}.items():
            for density in (Density(), Density(selection="leaf"), Density(2, 2)):
                pairs = list(_density_pairs(mine, grouping, density))
                shown.add_row(verifier, name, named(density), str(len(pairs)), str(sum(pairs)))
    return shown


def _density_pairs(cases: Sequence[Case], grouping: Grouping, density: Density) -> Iterator[bool]:
    for case in cases:
        relations = relate_readings([asked for asked, _ in case.readings], [answer for _, answer in case.readings])
        for one, other in density_would_join(case.both, relations, grouping, density):
            yield bool(case.groups[one] == case.groups[other])


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument(
        "files", type=Path, nargs="*", help="file of benchmarks.tuning, with the readings of the extractive verifier"
    )
    parser.add_argument("--part", choices=("development", "held"), help="use only one part")
    parser.add_argument("--all", action="store_true", help="also try bounds other than those that ship")
    options = parser.parse_args()
    cases = [case for case in load(options.data_dir, options.files) if options.part in (None, case.part)]
    compared = ways() if options.all else shipped()
    console = Console(width=180)
    for verifier in dict.fromkeys(case.verifier for case in cases):
        mine = [case for case in cases if case.verifier == verifier]
        pairs = sum(len(case.groups) * (len(case.groups) - 1) // 2 for case in mine)
        console.print(table(f"{verifier}: {len(mine)} questions, {pairs} pairs", mine, compared))
    console.print(density_table(cases))


if __name__ == "__main__":
    _main()
