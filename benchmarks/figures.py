"""The figures of benchmarks: each is printed, and added as a line to figures.jsonl.

python -m benchmarks.figures prints the newest line of each figure as a table in Markdown.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.table import Table

from pgclarify.algorithms.metrics import bootstrap_interval

LINES = Path(__file__).with_name("figures.jsonl")


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


def mean_of(values: Sequence[float], form: str = ".2f") -> str:
    """A mean with its bootstrap 95 % interval. form: the format of each number, as in format()."""
    low, high = bootstrap_interval(values)
    return f"{fmean(values):{form}} ({low:{form}} to {high:{form}})"


def show(figures: Iterable[Figure]) -> None:
    """Print the table, and add the figures to the file of lines."""
    table = Table("what", "value", "unit", "aim")
    table.columns[1].justify = "right"
    origin = {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_processor()}",
        "command": " ".join(["python", *sys.orig_argv[1:]]),
    }
    with LINES.open("a", encoding="utf-8") as lines:
        for figure in figures:
            table.add_row(figure.name, f"{figure.value:.4g}", figure.unit or "ratio", figure.aim)
            lines.write(json.dumps(origin | asdict(figure), ensure_ascii=False) + "\n")
    Console(width=120).print(table)


def newest(lines: Iterable[str]) -> str:
    """The newest line of each figure, as a table in Markdown."""
    rows = {(line["command"], line["name"]): line for line in map(json.loads, lines)}
    return "\n".join(
        [
            "| what | value | aim | command | commit, date |",
            "|---|---|---|---|---|",
            *(
                f"| {line['name']} | {line['value']:.4g} {line['unit']} | {line['aim']} | `{line['command']}` |"
                f" {line['commit']}, {line['date']} |"
                for line in rows.values()
            ),
        ]
    )


def _commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent)]
    commit = subprocess.check_output([*git, "rev-parse", "--short", "HEAD"], text=True).strip()
    changed = subprocess.check_output([*git, "status", "--porcelain", "--untracked-files=no", ".."], text=True)
    return f"{commit}, changed" if changed else commit


def _processor() -> str:
    """The name of the processor. Linux only; else what Python knows."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    if not LINES.exists():
        sys.exit("No figures yet. Run a benchmark first: python -m benchmarks.speed.imports")
    print(newest(LINES.read_text(encoding="utf-8").splitlines()))
