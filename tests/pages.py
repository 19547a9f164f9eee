"""The pages that users read, as tests see them: blocks of code, tables, headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
PAGES = sorted([CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *CHECKOUT.glob("docs/**/*.md")])


@dataclass(frozen=True)
class Block:
    """A fenced block of code, and the one right after it if that is its output."""

    language: str
    code: str
    output: str | None = None


def blocks(page: Path, language: str) -> list[Block]:
    """The blocks of one language, in order."""
    fences = re.findall(r"^```(\w+)\n(.*?)^```\n(?:\n^```text\n(.*?)^```$)?", page.read_text() + "\n", re.M | re.S)
    return [Block(name, code, output or None) for name, code, output in fences if name == language]


def tables(page: Path, first_column: str) -> dict[str, list[list[str]]]:
    """Tables whose first column is so named, by the heading above them: their rows, without back ticks."""
    found: dict[str, list[list[str]]] = {}
    heading, is_inside = "", False
    for line in page.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and cells[0] == first_column:
            is_inside = True
        elif cells and is_inside:
            if set(cells[0]) != {"-"}:
                found.setdefault(heading, []).append(cells)
        else:
            is_inside = False
    return found


def anchors(page: Path) -> set[str]:
    """The headings, as a link names them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
