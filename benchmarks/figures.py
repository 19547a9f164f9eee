"""The figures and tables of benchmarks."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from rich.console import Console
from rich.table import Table

from pgclarify.algorithms.metrics import bootstrap_interval


@dataclass(frozen=True)
class Figure:
    """One measured value, in its unit; a ratio if it has no unit. aim: the value that it should have, like "< 1.2"."""

    name: str
    value: float
    unit: str = ""
    aim: str = ""


@contextmanager
def step(what: str) -> Iterator[None]:
    """Log a step to stderr, and how long it took."""
    print(f"{what} … ", end="", file=sys.stderr, flush=True)
    started = time.perf_counter()
    yield
    print(f"{time.perf_counter() - started:.1f} s", file=sys.stderr)


def part_of(name: str) -> Literal["development", "held"]:
    """The part of a question, by its id or its passage's id: choose on development, report on held."""
    return "held" if int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 else "development"


def mean_of(values: Sequence[float], form: str = ".2f") -> str:
    """A mean with its bootstrap 95 % interval. form: the format of each number, as in format()."""
    low, high = bootstrap_interval(values)
    return f"{fmean(values):{form}} ({low:{form}} to {high:{form}})"


def show(figures: Iterable[Figure]) -> None:
    """Print the table."""
    table = Table("what", "value", "unit", "aim")
    table.columns[1].justify = "right"
    for figure in figures:
        table.add_row(figure.name, f"{figure.value:.4g}", figure.unit or "ratio", figure.aim)
    Console(width=120).print(table)
