"""The pages that users read, as tests see them: blocks of code, tables, headings."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
PAGES = sorted(
    [
        *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *CHECKOUT.glob("docs/**/*.md"),
        # Ignore the files that dbt installs and builds there.
        *(page for page in CHECKOUT.glob("dbt/**/*.md") if not {"dbt_packages", "target"} & set(page.parts)),
    ]
)
# The keys that the package gives to the attributes of spans.
SPAN_ATTRIBUTES = {
    name
    for file in CHECKOUT.glob("pgclarify/**/*.py")
    # It has names of files.
    if "install" not in file.parts
    for name in re.findall(r'"((?:pgclarify|gen_ai|server|error)\.[\w.]+)":', file.read_text(encoding="utf-8"))
}

# In lists, blocks are indented.
_FENCE = re.compile(r"^( *)```(\w*).*?\n(.*?)^\1```\n(?:\n^```text\n(.*?)^```$)?", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block of code, and the next block if it is its output."""

    language: str
    code: str
    output: str | None = None


def blocks(page: Path, language: str) -> list[Block]:
    """The blocks of one language, in order."""
    return [block for block in all_blocks(page) if block.language == language]


def all_blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order. The language is empty if none is named."""
    return [
        Block(language, textwrap.dedent(code), output or None)
        for _, language, code, output in _FENCE.findall(page.read_text(encoding="utf-8") + "\n")
    ]


def tables(page: Path, first_column: str) -> dict[str, list[list[str]]]:
    """The rows of tables whose first column has a given name, without back ticks, by the heading above the table."""
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
    """The anchors of the headings, as used in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
