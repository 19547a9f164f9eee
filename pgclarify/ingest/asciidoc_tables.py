"""Tables of AsciiDoc as HTML."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

SIGNS: Final = tuple("|,:!")
"""What the line above a table begins with."""
_DELIMITERS: Final = {
    ",": ",",
    ":": ":",
    "csv": ",",
    "dsv": ":",
    "tsv": "\t",
}
# In the description of the columns: how many there are of one kind.
_TIMES: Final = re.compile(r"(?:(?<=[,;])|^(?!$))\s*(?:(\d{1,4})\*)?")
# How often a cell is there, or over how many columns and rows it goes; where its text stands, and what it is.
_CELL: Final = r"(?:(?:(?<=\s)|^)(?:(\d{{1,4}})?(?:\.(\d{{1,4}}))?([+*]))?(?:\.?[<^>]){{0,2}}([adehlmsv])?)?(?<!\\){}"
_HEADER: Final = re.compile(r"(?<!no)header\b")
_MOST_SPAN: Final = 1000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: Its source.
        kind: "a" if it has blocks.
        columns: Over how many it goes.
        rows: Over how many it goes.
    """

    text: str
    kind: str = ""
    columns: int = 1
    rows: int = 1


Said: TypeAlias = Mapping[str, str]
"""What stands above a block: its style, which has no name, attributes by their names, and "all" of it."""
Told: TypeAlias = Callable[[Cell], str]


def table(lines: Sequence[str], sign: str, said: Said, told: Told) -> str:
    """Return a table, with merged cells in all their places.

    Args:
        lines: The source.
        sign: What the line above it begins with.
        said: What is said of it.
        told: Reads the text of a cell.
    """
    delimiter = _DELIMITERS.get(said.get("format", sign), "")
    separator = said.get("separator", delimiter or sign).replace("\\t", "\t")
    if delimiter and len(separator) == 1:
        source = (f"{line}\n" for line in lines if line)
        rows = list(csv.reader(source, delimiter=separator))
        cells = list(map(Cell, chain.from_iterable(rows)))
        first_row = max(map(len, rows), default=0)
    else:
        pattern = _CELL.format(re.escape(separator))
        mark = re.compile(pattern, re.MULTILINE)
        text = "\n".join(lines).lstrip()
        # What stands before the first mark is a cell, too.
        if text and not mark.match(text):
            text = separator + text
        cells = list(_cells(text, mark))
        first_line, _, _ = text.partition("\n")
        first_row = _sum(found[1] for found in mark.finditer(first_line))
    described = said.get("cols", "")
    columns = _sum(_TIMES.findall(described))
    columns = columns or first_row
    flags = said.get("all", "")
    has_header = _HEADER.search(flags) is not None
    is_apart = lines[1:2] == [""] != lines[:1]
    if is_apart and "noheader" not in flags:
        has_header = True
    return _html(cells, columns, told, has_header=has_header)


def _sum(numbers: Iterable[str | None]) -> int:
    return sum(int(number or 1) for number in numbers)


def _span(number: str) -> int:
    return min(int(number or 1), _MOST_SPAN)


def _cells(text: str, mark: re.Pattern[str]) -> Iterator[Cell]:
    marks = list(mark.finditer(text))
    ends = [one.start() for one in marks[1:]]
    for one, end in zip(marks, [*ends, len(text)], strict=False):
        columns, rows, sign, kind = one.groups("")
        content = text[one.end() : end].strip()
        content = content.replace("\\|", "|")
        number = _span(columns)
        if sign == "*":
            yield from [Cell(content, kind)] * number
        else:
            yield Cell(content, kind, number, _span(rows))


def _html(cells: Sequence[Cell], columns: int, told: Told, *, has_header: bool) -> str:
    # Places count from the left, row by row.
    places: dict[int, str] = {}
    place = 0
    for cell in cells:
        while place in places:
            place += 1
        column = place % columns
        width = min(cell.columns, columns - column)
        # Of a header with groups, the number of rows is judged.
        is_single = width == cell.rows == 1
        name = "th" if has_header and is_single and place < columns else "td"
        text = told(cell)
        html = f"<{name}>{text}</{name}>"
        for below in range(cell.rows):
            start = place + below * columns
            for right in range(width):
                places[start + right] = html
    rows = ""
    number = max(places, default=-1) + 1
    for start in range(0, number, columns or 1):
        rows += "<tr>"
        for place in range(start, start + columns):
            rows += places.get(place, "<td></td>")
        rows += "</tr>"
    return f"<table>{rows}</table>"
