"""Tables as lines of text, of which each has a row with the names of its columns: `Vehicle: E-bike; Day: 42.5 €`.

So a passage of a long table says its columns, and a quote of a row says what its values are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, zip_longest
from typing import TypeAlias

# A longer row becomes several lines, so that a passage does not end inside a value.
_MOST_LINE_CHARS = 400
# Later rows cannot change whether the first ones are headers.
_JUDGED_ROWS = 50
# A number, date or time, perhaps with a sign or currency before it. A column can have a year as its name.
_VALUE = re.compile(r"[-+~<>(]?\s*[$€£¥]?\s*\d")
_NUMBER = re.compile(r"[-+~<>(]?\s*[$€£¥]?\s*\d[\d.,' ]*\)?\s*[%$€£¥]?")
_DIGITS = re.compile(r"\d[\d.,]*")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table.

    Attributes:
        text: A row with the names of its columns, or a title.
        row: The number of the row in the table, from 1.
        is_title: Whether it is a title of the table.
    """

    text: str
    row: int
    is_title: bool = False


Columns: TypeAlias = tuple[str, ...]
"""A name for each column of a table that has cells; empty if it has no name."""


def table_lines(
    cells: Sequence[Sequence[str]],
    *,
    header_rows: int | None = None,
    has_header: bool = False,
    merges: bool = True,
    is_drawn: bool = False,
    before: Columns | None = None,
) -> tuple[list[Line], Columns | None]:
    """Write a table as lines.

    Args:
        cells: The rows; a merged cell is repeated in all its places.
        header_rows: How many rows after the titles are headers; None to judge it by their cells.
        has_header: Whether there is at least one header, if it is judged.
        merges: Whether cells can be merged, so that a row of equal texts is a title of the rows below.
        is_drawn: Whether it was found by its looks, so that names may stand above wrong columns: if a column with
            values has no name, the others are not trusted.
        before: The columns of a table that this one may continue, on the page before.

    Returns:
        The lines, and the columns if they have names.
    """
    # Empty columns and rows are left out.
    by_column = zip_longest(*(map(clean, row) for row in cells), fillvalue="")
    by_row = zip(*filter(any, by_column), strict=True)
    rows = [(number, list(row)) for number, row in enumerate(by_row, start=1) if any(row)]
    lines: list[Line] = []
    while not header_rows and len(rows) > 1 and _is_title(rows[0][1]):
        number, row = rows.pop(0)
        lines.append(Line(next(filter(None, row)), number, is_title=True))
    first = rows[0][1] if rows else []
    columns = None
    if before and len(before) == len(first) and any(map(is_value, first)):
        columns = before
    headers = header_rows
    if headers is None:
        headers = 0 if columns else _header_rows([row for _, row in rows], has_header=has_header)
    if headers:
        columns = _names([row for _, row in rows[:headers]])
        if is_drawn and not all(columns[1:]):
            headers, columns = 0, None
    lines.extend(_rows_with_names(rows[headers:], columns, merges=merges))
    return lines, columns


def row_texts(names: Sequence[str], values: Sequence[str], first: str = "") -> Iterator[str]:
    """Write a row as a line; a long row as several lines, of which each begins with the first field.

    Args:
        names: Names of the columns.
        values: Values, of which empty ones are left out.
        first: A title of this part of the table, written before the fields.
    """
    fields = [f"{name}: {value}" if name else value for name, value in zip(names, values, strict=True) if value]
    line = first
    for field in fields:
        if line and len(line) + len(field) > _MOST_LINE_CHARS:
            yield line
            line = fields[0] if field is not fields[0] else ""
        line = f"{line}; {field}" if line else field
    if line:
        yield line


def clean(cell: str) -> str:
    """Return the text of a cell on one line."""
    return " ".join(cell.split())


def is_value(cell: str) -> bool:
    """Whether a cell has a number or a date, and not a name."""
    if _YEAR.fullmatch(cell):
        return False
    return _VALUE.match(cell) is not None


def _is_title(row: Sequence[str]) -> bool:
    """Whether a first row has one text, which is not the only name of a column beside those of the rows."""
    texts = set(row) - {""}
    if len(texts) != 1 or len(row) == 1:
        return False
    # A name of a column without the others.
    if len(row) == 2:
        return row[0] != ""
    return True


def _rows_with_names(rows: Iterable[tuple[int, list[str]]], columns: Columns | None, *, merges: bool) -> Iterator[Line]:
    title = ""
    # A title above no row is a line of its own.
    unsaid: list[Line] = []
    for number, row in rows:
        if columns is None:
            # Without a header, the first of two columns says what the second one is.
            separator = ": " if len(row) == 2 else "; "
            yield Line(separator.join(filter(None, row)), number)
        elif tuple(row) == columns:
            # The header is repeated on the next page.
            continue
        elif merges and len(row) > 2 and len(set(row)) == 1 and not is_value(row[0]):
            # A cell over all columns is a title of the rows below.
            yield from unsaid
            title = row[0]
            unsaid = [Line(title, number)]
        else:
            unsaid = []
            for text in row_texts(columns, row, title):
                yield Line(text, number)
    yield from unsaid


def _header_rows(rows: Sequence[Sequence[str]], *, has_header: bool) -> int:
    """Judge how many of the first rows are headers."""
    if len(rows) < 2:
        return int(has_header)
    first, second, *others = rows[:_JUDGED_ROWS]
    if not has_header:
        if _has_values(first):
            return 0
        if len(first) == 2 and not _is_list(rows[1:_JUDGED_ROWS]):
            return 0
    if len(set(first) - {""}) == len(first):
        # No name of it stands above several columns.
        return 1
    if any(map(is_value, second)):
        return 1
    if len(set(second) - {""}) < 2:
        return 1
    for above, cell in zip(first, second, strict=True):
        # Below a group, a name is needed.
        if not above and not cell:
            return 1
    return 2 if any(map(is_value, chain.from_iterable(others))) else 1


def _has_values(row: Sequence[str]) -> bool:
    """Whether a row has numbers and dates, and is no header."""
    if is_value(row[0]):
        return True
    names = list(filter(None, row))
    for name in names:
        if _NUMBER.fullmatch(name) and is_value(name):
            return True
    values = sum(map(is_value, names))
    least = min(len(names) // 2 + 1, len(names) - 1)
    return values >= max(least, 1)


def _is_list(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second of two columns has values of one kind, as prices have. Otherwise the first one names them."""
    values = [value for name, value in rows if value not in ("", name)]
    shapes: set[str] = set()
    for value in values:
        if not is_value(value):
            return False
        shapes.add(_DIGITS.sub("0", value))
    if len(values) == 1:
        return True
    most = len(values) // 2
    return 0 < len(shapes) <= most


def _names(headers: Sequence[list[str]]) -> Columns:
    """Join the headers of each column. An empty cell of a row that has another one below it belongs to its left."""
    for row, below in pairwise(headers):
        left = ""
        for column, cell in enumerate(row):
            if below[column]:
                row[column] = cell or left
            left = row[column]
    names: list[str] = []
    for cells in zip(*headers, strict=True):
        parts = [cell.rstrip(":").strip() for cell in cells]
        told = filter(None, dict.fromkeys(parts))
        names.append(" ".join(told))
    return tuple(names)
