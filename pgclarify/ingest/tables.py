"""CSV and TSV: each row with an id is a document; a table without ids is one document."""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import IO

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.grids import clean, row_texts, table_lines
from pgclarify.ingest.parsed import Parsed, Section
from pgclarify.ingest.records import FieldMapping, check_encoding, check_strings, document_of, read_lines, unreadable
from pgclarify.ingest.text import WESTERN, guess_western, guessed

# The most characters of a line, and of a field, which is in memory as a whole.
_MAX_ROW_CHARS = 64 * 1024 * 1024
_MOST_COLUMNS_SHOWN = 30
_QUOTED = re.compile(r'"[^"]*"')
# Excel's own first line, which names the delimiter.
_SEPARATOR = re.compile(r"\ufeff?sep=(.)\s*", re.IGNORECASE)
_JUDGED_LINES = 20
# No column has this name, because names are stripped.
_ROW = " row"


def read_table_stream(
    stream: IO[bytes], name: str, mapping: FieldMapping, delimiter: str | None = None
) -> Iterator[Document | UnreadableFile]:
    """Read rows from a stream, one row in memory at a time. The first row names the columns.

    Without a column for the content that the user named, the content is the whole row, `Vehicle: E-bike; Day: 42.5 €`.
    Columns that are no other part of a document also become its metadata, as strings, without empty fields. A column of
    readers has JSON arrays of role names.

    Args:
        stream: Binary.
        name: Its name in errors.
        mapping: Which columns make up a document.
        delimiter: None for a comma, a semicolon, a tab or a vertical bar, judged by the first row.

    Yields:
        For each row that is not blank, its document, or an error that says why there is none. If the columns do not
        match the mapping, only one error.
    """
    # This is a setting of the whole process, but nothing else reads CSV here. It also ends a quote that is not closed.
    csv.field_size_limit(_MAX_ROW_CHARS)
    lines = _Lines(stream)
    columns: _Columns | None = None
    try:
        header, delimiter = _first_line(lines, delimiter)
        rows = csv.reader(chain([header], lines), delimiter=delimiter, strict=True)
        while True:
            row = None
            try:
                row = _next_row(rows, lines, delimiter)
                if row is None:
                    return
                if columns is None:
                    columns = _Columns.of(row, mapping)
                elif any(row):
                    unread = guessed(lines.guessed) if lines.guessed else {}
                    yield replace(columns.document(row), unread=unread, found_in=f"{lines.place} of {name}")
            except (ValueError, csv.Error) as error:
                detail = str(error) if isinstance(error, ValueError) else f"It is not a row of a table: {error}."
                record = columns.record(row or []) if columns else {}
                yield unreadable(f"{lines.place} of {name}", detail, record, columns.mapping if columns else mapping)
                if columns is None:
                    return
            lines.start_row()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        detail = f"{type(error).__name__}: {error}."
        yield UnreadableFile(f"cannot read {name} beyond line {lines.number}", detail=detail)


def has_ids(stream: IO[bytes], mapping: FieldMapping) -> bool:
    """Whether the rows of a table are documents: it has a column for ids, or the user named one for a part of them.

    Args:
        stream: Binary.
        mapping: Which columns make up a document.
    """
    if mapping != FieldMapping():
        return True
    lines = _Lines(stream)
    try:
        header, delimiter = _first_line(lines, None)
        names = next(csv.reader([header], delimiter=delimiter), [])
    except (OSError, EOFError, ValueError, csv.Error, zlib.error):
        # Reading it gives the error.
        return True
    return any(name.strip() in mapping["id"] for name in names)


def read_whole_table(text: str, delimiter: str | None = None) -> Parsed:
    """Read a table without ids as one document, with a line for each row.

    Args:
        text: The table.
        delimiter: None to judge it.

    Raises:
        csv.Error: If it is no table, as with a quote that is not closed.
    """
    csv.field_size_limit(_MAX_ROW_CHARS)
    lines = _Lines(io.BytesIO(text.encode()))
    # A first line may be a title, without a delimiter.
    judged = "".join(islice(io.StringIO(text), _JUDGED_LINES))
    header, delimiter = _first_line(lines, delimiter or _delimiter(judged))
    reader = csv.reader(chain([header], lines), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    while (row := _next_row(reader, lines, delimiter)) is not None:
        rows.append(row)
        lines.start_row()
    found, _ = table_lines(rows, has_header=True, merges=False)
    sections: list[Section] = []
    for line in found:
        place = f"row {line.row}"
        sections.append(Section(line.text, "row", place, "\n"))
    return Parsed.of(None, sections)


class _Lines:
    """The lines of a stream, decoded, with their number and those of the current row.

    Bytes that are not UTF-8 are read as Windows-1252, if they look like that, and no line before was UTF-8. Otherwise
    they become lone surrogates: only their row is refused.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.number = 0
        self.guessed = ""
        self._is_utf8 = False
        self.of_row: list[str] = []
        self._start = 1
        self._lines = read_lines(stream, _MAX_ROW_CHARS, self._note_guess)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._decoded(next(self._lines))
        self.number += 1
        if len(line) > _MAX_ROW_CHARS:
            raise ValueError(f"The line is longer than {_MAX_ROW_CHARS} characters.")
        self.of_row.append(line)
        return line

    @property
    def place(self) -> str:
        if self.number <= self._start:
            return f"line {self._start}"
        return f"lines {self._start} to {self.number}"

    def start_row(self) -> None:
        self._start = self.number + 1
        self.of_row.clear()

    def _note_guess(self, encoding: str) -> None:
        self.guessed = encoding

    def _decoded(self, line: str) -> str:
        try:
            line.encode()
        except UnicodeEncodeError:
            western = None if self._is_utf8 else guess_western(line.encode(errors="surrogateescape"))
            self.guessed = WESTERN if western else self.guessed
            return western or line
        self._is_utf8 = self._is_utf8 or not (self.guessed or line.isascii())
        return line


def _first_line(lines: _Lines, delimiter: str | None) -> tuple[str, str]:
    """Return the first line that is not blank, and the delimiter."""
    header = next((line for line in lines if line.strip()), "")
    if named := _SEPARATOR.fullmatch(header):
        return next(lines, ""), named[1]
    return header, delimiter or _delimiter(header)


def _next_row(rows: Iterator[list[str]], lines: _Lines, delimiter: str) -> list[str] | None:
    """Return the next row; None at the end. A quote in the middle of a field on a single line is only a character."""
    try:
        return next(rows, None)
    except csv.Error:
        if len(lines.of_row) != 1 or len(lines.of_row[0]) > _MAX_ROW_CHARS:
            raise
        return next(csv.reader(lines.of_row, delimiter=delimiter))


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the columns of a table mean.

    Attributes:
        names: Names of the columns, in order.
        mapping: The column of each part of a document.
        in_document: Columns that are parts of a document.
        reads_row: Whether the content is the whole row, because the user named no column for it.
    """

    names: list[str]
    mapping: FieldMapping
    in_document: frozenset[str]
    reads_row: bool

    @classmethod
    def of(cls, header: list[str], mapping: FieldMapping) -> _Columns:
        """Find the columns.

        Raises:
            ValueError: If one is missing or a name is repeated; the message is one or more sentences.
        """
        check_encoding("".join(header))
        names = [name.strip() or f"column {number}" for number, name in enumerate(header, start=1)]
        check_strings("with the name of a column", names)
        shown = [*names[:_MOST_COLUMNS_SHOWN], *(["..."] if len(names) > _MOST_COLUMNS_SHOWN else [])]
        there = f"Its columns are: {', '.join(shown)}."
        if twice := [name for name, number in Counter(names).items() if number > 1]:
            raise ValueError(f"Two columns have the name {twice[0]}. {there} Rename one.")
        usual = FieldMapping()
        found = FieldMapping(metadata=())
        for part, wanted in mapping.items():
            if part == "metadata":
                continue
            found[part] = tuple(name for name in wanted if name in names)[:1]
            # A column that the user named must exist.
            is_needed = part == "id" or wanted != usual[part]
            if is_needed and not found[part]:
                raise ValueError(
                    f"There is no column {' or '.join(wanted)}, for the {part} of a document. {there}"
                    f" Name one: --field {part}=COLUMN."
                )
        in_document = frozenset(chain.from_iterable(found.values()))
        return cls(names, found, in_document, reads_row=mapping["content"] == usual["content"])

    def document(self, row: list[str]) -> Document:
        """Make a document of a row.

        Raises:
            ValueError: If that is impossible; the message is a sentence.
        """
        check_encoding("".join(row))
        while len(row) > len(self.names) and not row[-1]:
            row.pop()
        record = self.record(row)
        if not record:
            raise ValueError(f"The row has {len(row)} fields, and there are {len(self.names)} columns.")
        metadata = {name: field for name, field in record.items() if name not in self.in_document}
        for name, field in metadata.items():
            check_strings(name, field)
        parts: dict[str, object] = {name: field for name, field in record.items() if name in self.in_document}
        for name in self.mapping["readers"]:
            if name in parts:
                parts[name] = _roles(name, record[name])
        if self.reads_row:
            parts[_ROW] = self._row_text(record)
            return replace(document_of(parts, FieldMapping(**self.mapping | {"content": (_ROW,)})), metadata=metadata)
        return replace(document_of(parts, self.mapping), metadata=metadata)

    def record(self, row: list[str]) -> dict[str, str]:
        """Return the fields of a row that are not empty, by column; none if there are more or fewer than columns."""
        if len(row) != len(self.names):
            return {}
        return {name: field for name, field in zip(self.names, row, strict=True) if field}

    def _row_text(self, record: dict[str, str]) -> str:
        """Write the content, and all columns that are no part of a document."""
        in_row = set(self.names) - self.in_document
        named = next((name for name in self.mapping["content"] if name in record), "")
        content = record.get(named, "")
        if not in_row & record.keys():
            return content
        row = {name: clean(field) for name, field in record.items() if name in in_row}
        if "\n" in content.strip():
            # A text of several lines, perhaps with headings, stays as it is.
            return f"{content}\n\n{_as_text(row)}"
        return _as_text({named: clean(content)} | row)


def _as_text(row: dict[str, str]) -> str:
    return "\n".join(row_texts(list(row), list(row.values())))


def _delimiter(lines: str) -> str:
    """Return the most frequent separator. Programs write semicolons where a comma is the decimal mark."""
    unquoted = _QUOTED.sub("", lines)
    return max(",;\t|", key=unquoted.count)


def _roles(name: str, field: str) -> object:
    try:
        return json.loads(field)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'The field {name} is no JSON array of role names, such as ["sales"].') from error
