"""The figures on the page of papers, and those of README, are those that a command printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from benchmarks.figures import LINES, newest

CHECKOUT = Path(__file__).parents[3]
PAGE = CHECKOUT / "docs/papers.md"
COMMAND = "python -m benchmarks.papers"
MINUS = "\u2212"
NUMBER = rf"[{MINUS}+-]?\d*\.\d+|[{MINUS}+-]?\d+"
# ".29 (.25 to .32)", and "(.05 more, .02 to .12)".
FIGURES = (
    re.compile(rf"(?P<value>{NUMBER}) \((?P<low>{NUMBER}) to (?P<high>{NUMBER})\)"),
    re.compile(rf"\((?P<value>{NUMBER})(?: \w+)?, (?P<low>{NUMBER}) to (?P<high>{NUMBER})\)"),
)
COUNT = re.compile(rf"(?P<count>\d+ of \d+),? (?:(?:{NUMBER}) )?\((?P<low>{NUMBER}) to (?P<high>{NUMBER})\)")
ROW = re.compile(r"^\| `(?P<name>[^`]+)`")
# The manuals that it searches are no part of the repository, and its rows are not in the file yet.
OTHERS = "**What a relaxed question finds**"
LARGE_MODEL = "**With a large language model**"

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
def commands() -> dict[str, list[dict[str, str]]]:
    """The newest rows of each command."""
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    return {command: [line["cells"] for line in several] for command, several in newest(lines).items()}


@pytest.fixture
def printed(commands: dict[str, list[dict[str, str]]]) -> list[dict[str, str]]:
    """The rows of the command that prints the papers' tables."""
    return commands[COMMAND]


def figures_of(rows: Iterable[Mapping[str, str]]) -> list[Found]:
    return [one for cells in rows for cell in cells.values() for one in found(cell)]


def lines_of_the_page() -> list[str]:
    """The page without the sections of other commands."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, after = text.partition(LARGE_MODEL)
    kept, _, after = after[after.index("\n####") :].partition(OTHERS)
    return [*before.splitlines(), *kept.splitlines(), *after[after.index("\n####") :].splitlines()]


def of_the_large_model() -> str:
    """The section of the commands that ask a large model, without rows of a release."""
    section = PAGE.read_text(encoding="utf-8").partition(LARGE_MODEL)[2].partition("\n####")[0]
    return "\n".join(line for line in section.splitlines() if "checks of 0.3.0" not in line)


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
    known = figures_of(printed)
    paragraphs = "\n".join(line for line in lines_of_the_page() if not line.startswith("|")).split("\n\n")
    text = " ".join(one.replace("\n", " ") for one in paragraphs)
    assert [one for one in found(text) if not is_one_of(one, known, signed=False)] == []


def counts(text: str) -> set[tuple[str, float, float]]:
    return {(one["count"], number(one["low"]), number(one["high"])) for one in COUNT.finditer(text)}


def test_figures_of_the_large_model_were_printed(commands: dict[str, list[dict[str, str]]]) -> None:
    of_the_model = [rows for name, rows in commands.items() if "benchmarks.quality.large_model" in name]
    rows = [cells for several in of_the_model for cells in several]
    section = of_the_large_model()
    assert counts(section) - counts("\n".join(cell for cells in rows for cell in cells.values())) == set()
    text = COUNT.sub("", section)
    assert [one for one in found(text) if not is_one_of(one, figures_of(rows), signed=False)] == []


def test_figures_of_the_readme_were_printed(commands: dict[str, list[dict[str, str]]]) -> None:
    # Of the reader, the page that README links to has the figure. No command of today makes it.
    reader = (CHECKOUT / "docs/methods/extractive.md").read_text(encoding="utf-8")
    known = [*figures_of(cells for rows in commands.values() for cells in rows), *found(reader)]
    text = COUNT.sub("", (CHECKOUT / "README.md").read_text(encoding="utf-8"))
    assert [one for one in found(text) if not is_one_of(one, known, signed=True)] == []


def test_counts_of_real_documents_are_those_that_were_printed(commands: dict[str, list[dict[str, str]]]) -> None:
    rows = commands[next(one for one in reversed(commands) if "benchmarks.quality.real_documents" in one)]
    *repositories, everything = rows
    assert everything["documents"] == "all"
    names = ("first right", "any right", "no reading")
    page = (CHECKOUT / "docs/benchmarks.md").read_text(encoding="utf-8")
    # The page has a row for two repositories each.
    for pair in zip(repositories[::2], repositories[1::2], strict=True):
        sums = (sum(int(row[name].split(" of ")[0]) for row in pair) for name in names)
        assert "| {} | {} | {} |".format(*sums) in page
    first, of = everything["first right"].split(" of ")
    found, silent = (everything[name].split(" of ")[0] for name in ("any right", "no reading"))
    assert f"| {first} | {found} | {silent} | {everything['right; wrong; useless']} |" in page
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert f"| {first} of {of}; {silent}; " in readme
