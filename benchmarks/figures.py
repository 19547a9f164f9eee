"""The figures of benchmarks: each table is printed, and its rows are added to figures.jsonl.

`python -m benchmarks.figures` writes the newest rows of each command to docs/figures.md.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.prompts import version_of
from pgclarify.algorithms.metrics import bootstrap_interval

LINES = Path(__file__).with_name("figures.jsonl")
PAGE = Path(__file__).parents[1] / "docs/figures.md"
_HEAD = """\
# Figures

For people who want to check a figure. `python -m benchmarks.figures` makes this page of the rows in
`benchmarks/figures.jsonl`, to which each benchmark adds what it prints. Brackets have 95 % intervals. Times are of a
machine that also did other work. A figure in which a language model had a part names the versions of its prompts; a
test fails when they change.
"""


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
    """Print figures as a table, and add them to the file of rows."""
    table = Table("what", "value", "unit", "aim")
    table.columns[1].justify = "right"
    for figure in figures:
        table.add_row(figure.name, f"{figure.value:.4g}", figure.unit or "ratio", figure.aim)
    show_tables(table)


def show_tables(*tables: Table, width: int = 120, prompts: Iterable[str] = ()) -> None:
    """Print tables, and add their rows to the file of rows.

    Args:
        *tables: Cells are plain text.
        width: Of the terminal, in characters.
        prompts: The purposes of the prompts that had a part in the figures.
    """
    origin = {
        "date": _date(),
        "commit": _commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_processor()}",
        "prompts": {purpose: version_of(purpose) for purpose in prompts},
        "command": " ".join(["python", *map(_shown, sys.orig_argv[1:])]),
    }
    with LINES.open("a", encoding="utf-8") as lines:
        for table in tables:
            headers = [str(column.header) for column in table.columns]
            for row in zip(*(column.cells for column in table.columns), strict=True):
                cells = dict(zip(headers, map(str, row), strict=True))
                line = origin | {"table": str(table.title or ""), "cells": cells}
                lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    Console(width=width).print(*tables)


def page(lines: Iterable[Mapping[str, Any]]) -> str:
    """The newest rows of each command, as a page in Markdown.

    Args:
        lines: Rows as in the file, oldest first.
    """
    commands = newest(lines)
    return "".join([_HEAD, *(_section(command, commands[command]) for command in sorted(commands))])


def newest(lines: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The rows of the newest run of each command.

    Args:
        lines: Rows as in the file, oldest first.
    """
    commands: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        of_command = commands.setdefault(line["command"], [])
        if of_command and _origin(of_command[0]) != _origin(line):
            of_command.clear()
        of_command.append(line)
    return commands


def _origin(line: Mapping[str, Any]) -> tuple[Any, ...]:
    return line["date"], line["commit"], line["machine"], line["prompts"]


def _section(command: str, lines: Sequence[Mapping[str, Any]]) -> str:
    date, commit, machine, prompts = _origin(lines[0])
    asked = "".join(f", prompt `{purpose}` {version}" for purpose, version in prompts.items())
    written = [f"\n## {command.split()[2].removeprefix('benchmarks.')}\n\n`{command}`\n"]
    written.append(f"\n{date}, commit {commit}, {machine}{asked}.\n")
    tables: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for line in lines:
        tables.setdefault((line["table"], *line["cells"]), []).append(line["cells"])
    for (title, *headers), rows in tables.items():
        if title:
            written.append(f"\n**{title}**\n")
        cells = [
            headers,
            ["---"] * len(headers),
            *([row[header].replace("|", "\\|") for header in headers] for row in rows),
        ]
        written.append("\n" + "".join(f"| {' | '.join(row)} |\n" for row in cells))
    return "".join(written)


def _shown(argument: str) -> str:
    if argument.startswith("postgresql://"):
        return "URL"
    return "DATA_DIR" if "/" in argument and Path(argument).is_dir() else argument


@cache  # One time for all tables of a run.
def _date() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


@cache  # The commit that a run began with, approximately.
def _commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent)]
    commit = subprocess.check_output([*git, "rev-parse", "--short", "HEAD"], text=True).strip()
    changed = subprocess.check_output(
        [*git, "status", "--porcelain", "--untracked-files=no", "../pgclarify", "../sql"], text=True
    )
    return f"{commit}, changed" if changed else commit


def _processor() -> str:
    """The name of the processor. Linux only; else what Python knows."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    PAGE.write_text(page(map(json.loads, LINES.read_text(encoding="utf-8").splitlines())), encoding="utf-8")
