"""Made-up runs of clarify with known groups: how well each way to group readings finds them.

A run has one to six wordings of each reading of one ambiguous question, drawn with repetition, and up to two readings
of other questions. The wordings are written by hand, or come from AmbigNQ's readings, reworded by rules.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.lexical_quality import read
from benchmarks.readings_by_hand import Bank
from benchmarks.tuning import embed
from benchmarks.tuning_ways import Way
from benchmarks.wordings import WORDINGS

_RUNS_A_QUESTION = 40
_MOST_READINGS = 20
_COPIES = (1, 1, 2, 3, 4, 6)
_STRAYS = (0, 0, 1, 2)

# Interpretation, answer, and the true group.
Item: TypeAlias = tuple[str, str, int]

_Choice = TypeVar("_Choice")


@dataclass(frozen=True)
class Run:
    """One made-up run."""

    true: NDArray[np.intp]
    both: NDArray[np.float32]
    asked: NDArray[np.float32]
    items: tuple[Item, ...]


def of_ambignq(data_dir: Path) -> Bank:
    """AmbigNQ's readings, each in its own words and in wordings that rules make."""
    return {
        row["question"]: tuple(
            tuple(
                wording
                for answer in one["answers"]
                for wording in ((one["question"], answer), *_reworded(one["question"], answer))
            )
            for one in row["interpretations"]
        )
        for row in read(data_dir / "ambignq.questions.jsonl.gz")
        if row["interpretations"]
    }


def of_wordings() -> Bank:
    """Answers in many wordings. Their interpretation is the question as it was asked."""
    return {
        question: tuple(tuple((question, wording) for wording in wordings) for wordings in answers)
        for question, answers in WORDINGS
    }


def make(bank: Bank) -> list[Run]:
    """Draw runs from a bank of readings."""
    generator = np.random.default_rng(0)
    runs = [_draw(generator, bank, question) for question in bank for _ in range(_RUNS_A_QUESTION)]
    vectors = embed(text for run in runs for asked, answer, _ in run for text in (f"{asked} {answer}", asked))
    return [
        Run(
            np.array([group for _, _, group in run]),
            np.array([vectors[f"{asked} {answer}"] for asked, answer, _ in run]),
            np.array([vectors[asked] for asked, _, _ in run]),
            tuple(run),
        )
        for run in runs
    ]


def table(made: Mapping[str, Sequence[Run]], compared: Sequence[Way]) -> Table:
    """B-cubed precision, recall and F1 of each way on each set, and the number of groups for each true group."""
    shown = Table("way", *made, title="B-cubed precision, recall, F1; groups made for each true one")
    for way in compared:
        shown.add_row(way.name, *(_scored(way, runs) for runs in made.values()))
    return shown


def b_cubed(groups: Sequence[Sequence[int]], true: NDArray[np.intp]) -> tuple[float, float]:
    """Precision and recall of groups. A reading in no group counts as a group of one.

    Source: Bagga and Baldwin, 1998.
    """
    group_of = np.arange(len(true)) + len(true)
    for number, group in enumerate(groups):
        group_of[list(group)] = number
    together, belong = group_of[:, None] == group_of, true[:, None] == true
    both = (together & belong).sum(axis=1)
    return float((both / together.sum(axis=1)).mean()), float((both / belong.sum(axis=1)).mean())


def _scored(way: Way, runs: Sequence[Run]) -> str:
    precisions, recalls, ratios = [], [], []
    for run in runs:
        relations = way.heard([asked for asked, _, _ in run.items], [answer for _, answer, _ in run.items])
        groups = way.group(run.both if way.embeds_answer else run.asked, relations)
        precision, recall = b_cubed(groups, run.true)
        precisions.append(precision)
        recalls.append(recall)
        ratios.append((len(groups) + len(run.true) - sum(map(len, groups))) / len(set(run.true.tolist())))
    precision, recall = statistics.mean(precisions), statistics.mean(recalls)
    f1 = 2 * precision * recall / (precision + recall)
    return f"{precision:.2f} {recall:.2f} {f1:.3f} x{statistics.mean(ratios):.2f}"


def _draw(generator: np.random.Generator, bank: Bank, question: str) -> list[Item]:
    def one_of(choices: Sequence[_Choice]) -> _Choice:
        return choices[int(generator.integers(len(choices)))]

    mine = bank[question]
    others = [reading for readings in bank.values() for reading in readings if reading not in mine]
    chosen = generator.permutation(len(mine))[: generator.integers(1, len(mine), endpoint=True)]
    items = [(*one_of(mine[group]), int(group)) for group in chosen for _ in range(one_of(_COPIES))]
    items += [(*one_of(one_of(others)), len(mine) + stray) for stray in range(one_of(_STRAYS))]
    return [items[place] for place in generator.permutation(len(items))][:_MOST_READINGS]


def _reworded(question: str, answer: str) -> list[tuple[str, str]]:
    """Three other wordings: in lower case, with another phrase for asking, and with a polite opening."""
    other = question
    for pattern, wording in _PHRASES:
        other = re.sub(pattern, wording, other)
    bare = answer.removeprefix("the ")
    second = (other, bare) if other != question else (re.sub(r"\bthe ", "", question), f"the {answer}")
    return [
        (question.rstrip("?").lower(), answer.lower()),
        second,
        (f"Can you tell me {question[0].lower()}{question[1:]}", f"{answer}."),
    ]


_PHRASES = (
    (r"^What is the ", "What's the "),
    (r"^What (year|city|country|company|team|state)", r"Which \1"),
    (r"^In what", "In which"),
    (r"^When (was|did)", r"In what year \1"),
    (r"^Who (is|was) ", r"What is the name of the person who \1 "),
    (r"^How many ", "What is the number of "),
)
