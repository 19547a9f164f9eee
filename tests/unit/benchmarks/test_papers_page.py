"""Rows of the page of papers, and the counts of real documents, are those that a command printed last.

That other figures were printed at all is a test of `tests/unit/test_figures.py`.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.figures import LINES, newest

CHECKOUT = Path(__file__).parents[3]
COMMAND = "python -m benchmarks.papers"
MINUS = "\u2212"
NUMBER = rf"[{MINUS}+-]?\d*\.\d+|[{MINUS}+-]?\d+"
# ".29 (.25 to .32)"
FIGURE = re.compile(rf"({NUMBER}) \(({NUMBER}) to ({NUMBER})\)")
ROW = re.compile(r"^\| `(?P<name>[^`]+)`")
# These sections have rows of other commands.
OTHERS = ("**With a large language model**", "**What a relaxed question finds**")
# The page has two digits of a value, and the file three. Bounds have two in both.
ROUNDED = 0.0056

Figure = tuple[float, float, float]
Cells = dict[str, str]


def figures(text: str) -> Iterator[Figure]:
    for value, low, high in FIGURE.findall(text.replace(MINUS, "-")):
        yield float(value), float(low), float(high)


def is_one_of(shown: Figure, several: list[Figure]) -> bool:
    value, low, high = shown
    return any(
        abs(value - known_value) < ROUNDED and math.isclose(low, known_low) and math.isclose(high, known_high)
        for known_value, known_low, known_high in several
    )


@pytest.fixture(scope="module")
def commands() -> dict[str, list[Cells]]:
    """The newest rows of each command."""
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    return {command: [line["cells"] for line in several] for command, several in newest(lines).items()}


def rows_of_the_page() -> Iterator[tuple[str, str]]:
    """The name and the line of each row, without the sections of other commands."""
    text = (CHECKOUT / "docs/papers.md").read_text(encoding="utf-8")
    for title in OTHERS:
        before, _, section = text.partition(title)
        _, _, after = section.partition("\n####")
        text = f"{before}\n####{after}"
    for line in text.splitlines():
        row = ROW.match(line)
        if row:
            yield row["name"], line


def test_rows_of_the_page_have_the_figures_of_their_rows(commands: dict[str, list[Cells]]) -> None:
    printed: dict[str, list[Figure]] = defaultdict(list)
    for cells in commands[COMMAND]:
        for cell in cells.values():
            printed[cells["row"]] += figures(cell)
    shown = [(name, figure) for name, line in rows_of_the_page() for figure in figures(line)]
    assert len(shown) > 100
    assert [(name, figure) for name, figure in shown if not is_one_of(figure, printed[name])] == []


def test_counts_of_real_documents_are_those_that_were_printed(commands: dict[str, list[Cells]]) -> None:
    ours, unseen = (
        next(commands[one] for one in reversed(commands) if "quality.real_documents" in one and name in one)
        for name in ("18F/handbook", "espocrm/documentation")
    )
    *repositories, everything = ours
    assert everything["documents"] == "all"
    names = ("first right", "any right", "no reading")
    page = (CHECKOUT / "docs/benchmarks.md").read_text(encoding="utf-8")
    # The page has a row for two repositories each.
    for pair in zip(repositories[::2], repositories[1::2], strict=True):
        sums = [sum(count(row, name) for row in pair) for name in names]
        assert "| {} | {} | {} |".format(*sums) in page
    first, found, silent = (count(everything, name) for name in names)
    assert f"| {first} | {found} | {silent} | {everything['right; wrong; useless']} |" in page
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    answered = everything["first right"].partition(" of ")[2]
    assert f"| {first} of {answered}; {silent}; " in readme
    first, found, silent = (count(unseen[-1], name) for name in names)
    assert f"| {first} | {found} | {silent} | {unseen[-1]['right; wrong; useless']} |" in page
    assert f"| {unseen[-1]['first right']} others; no reading for {silent} |" in readme


def count(row: Cells, name: str) -> int:
    """The first number of "41 of 42"."""
    number, _, _ = row[name].partition(" of ")
    return int(number)
