"""Tables as lines of text, of which each has a row with the names of its columns: `Vehicle: E-bike; Day: 42.5 €`.

So a passage of a long table says its columns, and a quote of a row says what its values are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns of a table.

    Attributes:
        names: A name for each column that has cells; empty if it has no name.
    """

    names: tuple[str, ...]


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
    width = max(map(len, cells), default=0)
    rows = [
        (number, [clean(row[column]) if column < len(row) else "" for column in range(width)])
        for number, row in enumerate(cells, start=1)
    ]
    used = [column for column in range(width) if any(row[column] for _, row in rows)]
    rows = [(number, [row[column] for column in used]) for number, row in rows if any(row)]
    lines: list[Line] = []
    while not header_rows and len(rows) > 1 and len(used) > 1 and _is_title(rows[0][1]):
        number, row = rows.pop(0)
        lines.append(Line(next(filter(None, row)), number, is_title=True))
    only_rows = [row for _, row in rows]
    continues = before is not None and len(before.names) == len(used) and bool(rows) and any(map(is_value, rows[0][1]))
    headers = header_rows
    if headers is None:
        headers = 0 if continues else _header_rows(only_rows, has_header=has_header)
    columns = before if continues else None
    if headers:
        columns = Columns(_names(only_rows[:headers]))
        if is_drawn and not all(columns.names[1:]):
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
    return _VALUE.match(cell) is not None and not _YEAR.fullmatch(cell)


def _is_title(row: Sequence[str]) -> bool:
    """Whether a first row has one text, which is not the only name of a column beside those of the rows."""
    return len(set(filter(None, row))) == 1 and (bool(row[0]) or len(row) > 2)


def _rows_with_names(rows: Iterable[tuple[int, list[str]]], columns: Columns | None, *, merges: bool) -> Iterator[Line]:
    section: Line | None = None
    is_said = True
    for number, row in rows:
        if columns is None:
            # Without a header, the first of two columns says what the second one is.
            yield Line(": ".join(filter(None, row)) if len(row) == 2 else "; ".join(filter(None, row)), number)
        elif tuple(row) == columns.names:
            # The header is repeated on the next page.
            continue
        elif merges and len(row) > 2 and len(set(row)) == 1 and not is_value(row[0]):
            # A cell over all columns is a title of the rows below.
            if section is not None and not is_said:
                yield section
            section, is_said = Line(row[0], number), False
        else:
            is_said = True
            yield from (Line(text, number) for text in row_texts(columns.names, row, section.text if section else ""))
    if section is not None and not is_said:
        yield section


def _header_rows(rows: Sequence[Sequence[str]], *, has_header: bool) -> int:
    """Judge how many of the first rows are headers."""
    if len(rows) < 2:
        return int(has_header)
    first = rows[0]
    names = [cell for cell in first if cell]
    below = rows[1:_JUDGED_ROWS]
    are_values = sum(map(is_value, names))
    are_pairs = len(first) == 2 and not _is_list([row[1] for row in below if row[1] and row[1] != row[0]])
    has_values = are_values > 0 and (are_values * 2 > len(names) or are_values >= len(names) - 1)
    has_values = has_values or any(_NUMBER.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in names)
    if not has_header and (has_values or is_value(first[0]) or are_pairs):
        return 0
    groups = len(set(names)) < len(first)
    is_second = (
        len(rows) > 2
        and groups
        and len(set(filter(None, rows[1]))) > 1
        and not any(map(is_value, rows[1]))
        # Below a group, a name is needed.
        and all(cell or first[column] for column, cell in enumerate(rows[1]))
        and any(is_value(cell) for row in rows[2:_JUDGED_ROWS] for cell in row)
    )
    return 2 if is_second else 1


def _is_list(cells: Sequence[str]) -> bool:
    """Whether the second of two columns has values of one kind, as prices have. Otherwise the first one names them."""
    shapes = {_DIGITS.sub("0", cell) for cell in cells}
    return all(map(is_value, cells)) and (len(cells) == 1 or 0 < len(shapes) * 2 <= len(cells))


def _names(headers: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Join the headers of each column. An empty cell of a row that has another one below it belongs to its left."""
    filled: list[list[str]] = []
    for position, row in enumerate(headers):
        is_last = position == len(headers) - 1
        names: list[str] = []
        for column, cell in enumerate(row):
            belongs_left = not cell and not is_last and column > 0 and headers[position + 1][column]
            names.append(names[-1] if belongs_left else cell)
        filled.append(names)
    return tuple(
        " ".join(dict.fromkeys(row[column].rstrip(":").strip() for row in filled if row[column]))
        for column in range(len(headers[0]))
    )
