"""Spreadsheets of Excel and OpenDocument: each sheet becomes a heading, and each row a line that names its columns."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import TYPE_CHECKING

from pgclarify.ingest.grids import table_lines
from pgclarify.ingest.packages import Package
from pgclarify.ingest.parsed import Parsed, Section, Unreadable

if TYPE_CHECKING:
    from lxml.etree import _Element
    from openpyxl.cell.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

# Parts of a number format: text in quotes, escaped or with a currency; digits; what is not shown.
_FORMAT_PART = re.compile(
    r'"(?P<text>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|(?P<unseen>\[[^\]]*\]|_.|\*.)|(?P<digits>[#0?][#0?,]*(?:\.[0#?]+)?)|."
)
_TEXT_IN_FORMAT = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_DATE_PART = re.compile(r'"([^"]*)"|\\(.)|\[[^\]]*\]|(y+|m+|d+|h+|s+|AM/PM)|(.)', re.IGNORECASE)
_SECONDS_NEXT = re.compile("[^a-z]*s", re.IGNORECASE)
_DATES = {
    "yyyy": "%Y",
    "yy": "%y",
    "mmmm": "%B",
    "mmm": "%b",
    "mm": "%m",
    "m": "%-m",
    "dddd": "%A",
    "ddd": "%a",
    "dd": "%d",
    "d": "%-d",
    "hh": "%H",
    "h": "%-H",
    "minutes mm": "%M",
    "minutes m": "%-M",
    "ss": "%S",
    "s": "%-S",
    "am/pm": "%p",
}
_HALF_DAYS = {"hh": "%I", "h": "%-I"}
# Which date this shows depends on the country, so it is shown as ISO 8601 writes it.
_ANY_DATE = ("General", "mm-dd-yy", "m/d/yy h:mm")
_SHEET = re.compile(r"xl/worksheets/sheet\d+\.xml")
_WITHOUT_VALUE = re.compile(rb"</f>(?:<v\s*/>|<v></v>)?</c>")
_MOST_DIGITS = 11
_MOST_CELLS = 2_000_000


def read_xlsx(data: bytes) -> Parsed:
    """Read the visible sheets of an Excel file, with numbers and dates as they are shown.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it has no text, or too many cells.
    """
    # An optional extra, and slow to import.
    from openpyxl import load_workbook

    workbook = load_workbook(BytesIO(data), data_only=True)
    unread: Counter[str] = Counter()
    sheets: list[Section] = []
    for sheet in workbook.worksheets:
        if sheet.sheet_state != "visible":
            unread["hidden sheet"] += 1
            continue
        unread["picture"] += len(sheet._images)
        unread["comment"] += sum(cell.comment is not None for cell in _cells(sheet))
        texts = {
            (cell.row, cell.column): text
            for cell in _cells(sheet)
            if cell.value is not None and (text := shown(cell.value, cell.number_format)).strip()
        }
        hidden_rows = {row for row, one in sheet.row_dimensions.items() if one.hidden}
        merges = [(one.min_row, one.max_row, one.min_col, one.max_col) for one in sheet.merged_cells.ranges]
        seen = _seen(texts, hidden_rows, _hidden_columns(sheet), merges, unread)
        sheets.extend(sheet_sections(sheet.title, _filled(seen, sheet.title, first=1)))
    unread["chart"] += len(workbook.chartsheets)
    unread["formula without a value"] += _formulas_without_value(data)
    return _workbook(workbook.properties.title or None, sheets, unread)


def read_xls(data: bytes) -> Parsed:
    """Read the visible sheets of a file of Excel 2003 or earlier, with numbers and dates as they are shown.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it has no text, or too many cells.
    """
    # An optional extra.
    from xlrd import XL_CELL_BOOLEAN, XL_CELL_DATE, XL_CELL_ERROR, error_text_from_code, open_workbook
    from xlrd.xldate import xldate_as_datetime

    unread: Counter[str] = Counter()
    sheets: list[Section] = []
    with open_workbook(file_contents=data, formatting_info=True) as book:
        for sheet in book.sheets():
            if sheet.visibility:
                unread["hidden sheet"] += 1
                continue
            unread["comment"] += len(sheet.cell_note_map)
            texts: dict[tuple[int, int], str] = {}
            for row in range(sheet.nrows):
                for column, cell in enumerate(sheet.row(row)):
                    value = cell.value
                    if cell.ctype == XL_CELL_DATE:
                        value = xldate_as_datetime(value, book.datemode)
                    elif cell.ctype == XL_CELL_BOOLEAN:
                        value = bool(value)
                    elif cell.ctype == XL_CELL_ERROR:
                        value = error_text_from_code[value]
                    form = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
                    if (text := shown(value, form)).strip():
                        texts[row, column] = text
            hidden_rows = {row for row, one in sheet.rowinfo_map.items() if one.hidden}
            hidden_columns = {column for column, one in sheet.colinfo_map.items() if one.hidden}
            merges = [(first, last - 1, left, right - 1) for first, last, left, right in sheet.merged_cells]
            seen = _seen(texts, hidden_rows, hidden_columns, merges, unread)
            sheets.extend(sheet_sections(sheet.name, _filled(seen, sheet.name, first=0)))
    return _workbook(None, sheets, unread)


def read_ods(data: bytes) -> Parsed:
    """Read the visible sheets of an OpenDocument spreadsheet, which has the text of each cell as it is shown.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it has no text, or too many cells.
    """
    root = Package(data).plain("content.xml")
    if root.find(".//spreadsheet") is None:
        raise Unreadable("It is no spreadsheet of OpenDocument.", "Rename it to what it is.")
    hidden = {look.getparent().get("name") for look in root.iterfind(".//table-properties[@display='false']")}
    unread: Counter[str] = Counter()
    sheets: list[Section] = []
    for sheet in root.iter("table"):
        if sheet.get("style-name") in hidden:
            unread["hidden sheet"] += 1
            continue
        title = str(sheet.get("name") or "Sheet")
        sheets.extend(sheet_sections(title, _ods_grid(sheet, unread, title)))
    unread["comment"] += sum(1 for _ in root.iter("annotation"))
    unread["picture"] += sum(1 for _ in root.iter("image"))
    return _workbook(None, sheets, unread)


def _workbook(title: str | None, sheets: Sequence[Section], unread: Counter[str]) -> Parsed:
    parsed = Parsed.of(title, sheets, unread)
    if not parsed.content:
        raise Unreadable("Its visible sheets have no text.")
    return parsed


def _ods_grid(sheet: _Element, unread: Counter[str], title: str) -> list[list[str]]:
    """Return the cells of a sheet as they are shown, merged and repeated ones in all their places."""
    seen: dict[tuple[int, int], str] = {}
    row = 0
    for line in sheet.iter("table-row"):
        rows = _number(line, "number-rows-repeated")
        is_hidden = line.get("visibility") in ("collapse", "filter")
        column = 0
        for cell in line.iterchildren("table-cell", "covered-table-cell"):
            columns = _number(cell, "number-columns-repeated")
            lines = ["".join(part.itertext()) for part in cell.iterchildren("p")]
            text = "\n".join(lines)
            if text.strip() and is_hidden:
                unread["hidden cell"] += columns * rows
            elif text.strip():
                down = max(rows, _number(cell, "number-rows-spanned"))
                across = max(columns, _number(cell, "number-columns-spanned"))
                if down * across + len(seen) > _MOST_CELLS:
                    raise _too_many_cells(title)
                seen |= {(row + y, column + x): text for y in range(down) for x in range(across)}
            column += columns
        row += rows
    return _filled(seen, title, first=0)


def _number(element: _Element, name: str) -> int:
    return int(element.get(name, "1"))


def _filled(seen: Mapping[tuple[int, int], str], title: str, *, first: int) -> list[list[str]]:
    """Return a grid of cells, which are given by row and column, of which the first has this number."""
    last_row = last_column = first - 1
    for row, column in seen:
        last_row = max(last_row, row)
        last_column = max(last_column, column)
    rows = last_row - first + 1
    columns = last_column - first + 1
    if rows * columns > _MOST_CELLS:
        raise _too_many_cells(title)
    grid = [[""] * columns for _ in range(rows)]
    for (row, column), text in seen.items():
        grid[row - first][column - first] = text
    return grid


def _too_many_cells(title: str) -> Unreadable:
    detail = f"Its sheet {title} has more than {_MOST_CELLS:,} cells."
    return Unreadable(detail, "Save the sheet as a CSV file, and load that.")


def sheet_sections(title: str, cells: Sequence[Sequence[str]]) -> Iterator[Section]:
    """Yield the heading of a sheet, and its rows; nothing if it is empty."""
    lines, _ = table_lines(cells)
    if lines:
        yield Section(f"## {' '.join(title.split())}", "sheet", f"sheet {title}")
    is_below_title = True
    for line in lines:
        separator = "\n\n" if line.is_title or is_below_title else "\n"
        text = f"### {line.text}" if line.is_title else line.text
        yield Section(text, "row", f"sheet {title}, row {line.row}", separator)
        is_below_title = line.is_title


def shown(value: object, number_format: str) -> str:
    """Return a value as its format shows it: 0.15 as 15%, a date as 15.04.2026."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (datetime, date, time)):
        return _shown_date(value, number_format)
    if isinstance(value, timedelta):
        hours, seconds = divmod(round(value.total_seconds()), 3600)
        return f"{hours}:{seconds // 60:02}:{seconds % 60:02}"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return _shown_number(value, number_format)
    return str(value)


def _shown_number(value: float, number_format: str) -> str:
    sections = number_format.split(";")
    chosen, number = sections[0], value
    if value < 0 and any(sections[1:2]):
        chosen, number = sections[1], -value
    elif value == 0 and any(sections[2:3]):
        chosen = sections[2]
    marks = _TEXT_IN_FORMAT.sub("", chosen)
    if chosen == "@" or re.search("General|[E/]", marks):
        return _general(value)
    if "%" in marks:
        number *= 100
    told = ""
    has_digits = False
    for found in _FORMAT_PART.finditer(chosen):
        digits = found["digits"]
        if digits and has_digits:
            return _general(value)
        if digits:
            has_digits = True
            told += _digits(number, digits)
        elif found.lastgroup is None:
            told += found[0]
        elif found.lastgroup != "unseen":
            told += found[found.lastgroup]
    # A format without digits, such as the third part of 0;-0;"none", has only text.
    return told.strip() or _general(value)


def _digits(number: float, form: str) -> str:
    whole, _, decimals = form.partition(".")
    # Commas at the end divide by a thousand each.
    number /= 1000 ** (len(whole) - len(whole.rstrip(",")))
    whole = whole.rstrip(",")
    grouping = "," if "," in whole else ""
    text = f"{abs(number):{grouping}.{len(decimals)}f}"
    for _ in range(len(decimals) - len(decimals.rstrip("#?"))):
        text = text.removesuffix("0")
    before, point, after = text.partition(".")
    least = whole.count("0")
    text = before.zfill(least) + (point + after if after else "")
    return f"-{text}" if number < 0 else text


def _general(value: float) -> str:
    if float(value).is_integer() and abs(value) < 10**_MOST_DIGITS:
        return str(int(value))
    return f"{value:.{_MOST_DIGITS}g}"


def _shown_date(value: date | time, number_format: str) -> str:
    form = number_format.split(";")[0]
    if form in _ANY_DATE or not re.search("[ymdhs]", form, re.IGNORECASE):
        if not isinstance(value, datetime):
            return value.isoformat()
        return value.date().isoformat() if value.time() == time(0) else value.isoformat(sep=" ")
    codes = _DATES | _HALF_DAYS if "am/pm" in form.lower() else _DATES
    told = before = ""
    for part in _DATE_PART.finditer(form):
        quoted, escaped, letters, other = part.groups()
        if letters is None:
            told += (quoted or escaped or other or "").replace("%", "%%")
            continue
        letters = letters.lower()
        if letters in ("m", "mm") and (before.startswith("h") or _SECONDS_NEXT.match(form, part.end())):
            letters = f"minutes {letters}"
        told += codes.get(letters, "")
        before = letters
    return value.strftime(told).strip()


def _cells(sheet: Worksheet) -> Iterable[Cell]:
    # Not sheet.iter_rows, which makes a cell of each place up to the last one: a billion of them in some files.
    return list(sheet._cells.values())


def _seen(
    texts: Mapping[tuple[int, int], str],
    hidden_rows: Collection[int],
    hidden_columns: Collection[int],
    merges: Iterable[tuple[int, int, int, int]],
    unread: Counter[str],
) -> dict[tuple[int, int], str]:
    """Return the cells that are shown, merged ones repeated.

    Args:
        texts: The cells by row and column.
        hidden_rows: Numbers of rows.
        hidden_columns: Numbers of columns.
        merges: First and last row, first and last column of merged cells.
        unread: Gets the number of hidden cells.
    """
    seen = {
        place: text for place, text in texts.items() if place[0] not in hidden_rows and place[1] not in hidden_columns
    }
    unread["hidden cell"] += len(texts) - len(seen)
    last_row = max((row for row, _ in seen), default=0)
    last_column = max((column for _, column in seen), default=0)
    for top, bottom, left, right in merges:
        text = texts.get((top, left), "")
        for row in range(top, min(bottom, last_row) + 1):
            for column in range(left, min(right, last_column) + 1):
                seen[row, column] = text
    return seen


def _hidden_columns(sheet: Worksheet) -> set[int]:
    return {
        column
        for one in sheet.column_dimensions.values()
        if one.hidden and one.min and one.max
        for column in range(one.min, one.max + 1)
    }


def _formulas_without_value(data: bytes) -> int:
    """Count formulas whose result no program has stored."""
    package = Package(data)
    sheets = filter(_SHEET.fullmatch, package.parts)
    return sum(len(_WITHOUT_VALUE.findall(package.read(sheet))) for sheet in sheets)
