"""The figures on the page of papers are those that a command printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from benchmarks.figures import LINES, newest

PAGE = Path(__file__).parents[3] / "docs/papers.md"
COMMAND = "python -m benchmarks.papers"
MINUS = "\u2212"
NUMBER = rf"[{MINUS}+-]?\d*\.\d+|[{MINUS}+-]?\d+"
# ".29 (.25 to .32)", and "(.05 more, .02 to .12)".
FIGURES = (
    re.compile(rf"(?P<value>{NUMBER}) \((?P<low>{NUMBER}) to (?P<high>{NUMBER})\)"),
    re.compile(rf"\((?P<value>{NUMBER})(?: \w+)?, (?P<low>{NUMBER}) to (?P<high>{NUMBER})\)"),
)
SHARE = re.compile(rf"(?P<value>\d+ of \d+)(?:, {NUMBER})? \((?P<low>{NUMBER}) to (?P<high>{NUMBER})\)")
ROW = re.compile(r"^\| `(?P<name>[^`]+)`")
# The manuals that it searches are no part of the repository, and its rows are not in the file yet.
OTHERS = "**What a relaxed question finds**"

Found = tuple[float, float, float]


def number(text: str) -> float:
    return float(text.replace(MINUS, "-"))


def found(text: str) -> Iterator[Found]:
    for form in FIGURES:
        for one in form.finditer(text):
            yield number(one["value"]), number(one["low"]), number(one["high"])


def is_one_of(figure: Found, known: Iterable[Found], *, signed: bool) -> bool:
    """Tell whether a figure with two digits is one of some with three, or its difference the other way round."""
    value, low, high = figure
    several = [figure] if signed else [figure, (-value, -high, -low)]
    return any(
        abs(one[0] - other[0]) < 0.0056 and abs(one[1] - other[1]) < 1e-9 and abs(one[2] - other[2]) < 1e-9
        for one in several
        for other in known
    )


@pytest.fixture(scope="module")
def printed() -> list[dict[str, str]]:
    """The newest rows of the command that prints the papers' tables."""
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    return [line["cells"] for line in newest(lines)[COMMAND]]


def lines_of_the_page() -> list[str]:
    before, _, after = PAGE.read_text(encoding="utf-8").partition(OTHERS)
    # The section ends where the next one begins.
    return [*before.splitlines(), *after[after.index("\n**") :].splitlines()]


def test_rows_of_the_page_have_the_figures_of_their_rows(printed: list[dict[str, str]]) -> None:
    known: dict[str, list[Found]] = {}
    for cells in printed:
        known.setdefault(cells["row"], []).extend(one for cell in cells.values() for one in found(cell))
    wrong = [
        (row["name"], figure)
        for line in lines_of_the_page()
        if (row := ROW.match(line))
        for figure in found(line)
        if not is_one_of(figure, known.get(row["name"], []), signed=True)
    ]
    assert wrong == []


def test_figures_in_the_text_of_the_page_were_printed(printed: list[dict[str, str]]) -> None:
    known = [one for cells in printed for cell in cells.values() for one in found(cell)]
    text = " ".join(line for line in lines_of_the_page() if not line.startswith("|"))
    assert [one for one in found(text) if not is_one_of(one, known, signed=False)] == []


def test_shares_on_the_page_were_printed() -> None:
    def shares(text: str) -> set[tuple[str, float, float]]:
        return {(one["value"], number(one["low"]), number(one["high"])) for one in SHARE.finditer(text)}

    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    known = shares("\n".join(cell for line in lines for cell in line["cells"].values()))
    assert shares("\n".join(lines_of_the_page())) - known == set()
