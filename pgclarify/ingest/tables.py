"""CSV and TSV: each row is a document; the columns name its parts."""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.records import FieldMapping, check_strings, document_of, read_lines

# The most bytes of a line, and characters of a field, which is in memory as a whole.
_MAX_ROW_BYTES = 64 * 1024 * 1024
_MOST_COLUMNS_SHOWN = 30
_QUOTED = re.compile(r'"[^"]*"')


def read_table_stream(
    stream: IO[bytes], name: str | Path, mapping: FieldMapping, delimiter: str | None = None
) -> Iterator[Document | UnreadableFile]:
    """Read rows from a stream, one row in memory at a time. The first row names the columns.

    Columns that are not part of a document become its metadata, as strings, without empty fields. A column of readers
    has JSON arrays of role names.

    Args:
        stream: Binary.
        name: Its name in errors.
        mapping: Which columns make up a document.
        delimiter: None for a comma, a semicolon or a tab, judged by the first row.

    Yields:
        For each row that is not blank, its document, or an error that says why there is none. If the columns do not
        match the mapping, only one error.
    """
    # This is a setting of the whole process, but nothing else reads CSV here. It also ends a quote that is not closed.
    csv.field_size_limit(_MAX_ROW_BYTES)
    number = 0

    def text(line: bytes) -> str:
        """Count a line, and decode it. Bytes that are not UTF-8 become lone surrogates: only their row is refused."""
        nonlocal number
        number += 1
        if len(line) > _MAX_ROW_BYTES:
            raise ValueError(f"The line is longer than {_MAX_ROW_BYTES} bytes.")
        return line.decode("utf-8", "surrogateescape")

    lines = map(text, read_lines(stream, _MAX_ROW_BYTES))
    columns: _Columns | None = None
    start = 1
    try:
        header = next((line for line in lines if line.strip()), "")
        rows = csv.reader(chain([header], lines), delimiter=delimiter or _delimiter(header), strict=True)
        while True:
            try:
                row = next(rows, None)
                if row is None:
                    return
                if columns is None:
                    columns = _Columns.of(row, mapping)
                elif any(row):
                    yield columns.document(row)
            except (ValueError, csv.Error) as error:
                detail = str(error) if isinstance(error, ValueError) else f"It is not a row of a table: {error}."
                place = f"line {start}" if number <= start else f"lines {start} to {number}"
                yield UnreadableFile(f"cannot read {place} of {name}", detail=detail)
                if columns is None:
                    return
            start = number + 1
    except (OSError, EOFError, ValueError, zlib.error) as error:
        detail = f"{type(error).__name__}: {error}."
        yield UnreadableFile(f"cannot read {name} beyond line {number}", detail=detail)


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the columns of a table mean.

    Attributes:
        names: Names of the columns, in order.
        mapping: The column of each part of a document.
        in_document: Columns that are parts of a document.
    """

    names: list[str]
    mapping: FieldMapping
    in_document: frozenset[str]

    @classmethod
    def of(cls, header: list[str], mapping: FieldMapping) -> _Columns:
        """Find the columns.

        Raises:
            ValueError: If one is missing or a name is repeated; the message is one or more sentences.
        """
        _check_encoding(header)
        names = [name.strip() or f"column {number}" for number, name in enumerate(header, start=1)]
        check_strings("with the name of a column", names)
        shown = [*names[:_MOST_COLUMNS_SHOWN], *(["..."] if len(names) > _MOST_COLUMNS_SHOWN else [])]
        there = f"Its columns are: {', '.join(shown)}."
        if twice := [name for name, number in Counter(names).items() if number > 1]:
            raise ValueError(f"Two columns have the name {twice[0]}. {there} Rename one.")
        found: dict[str, tuple[str, ...]] = {"metadata": ()}
        for part in ("id", "content", "title", "uri", "readers", "dated"):
            wanted = getattr(mapping, part)
            found[part] = tuple(name for name in wanted if name in names)[:1]
            # A column that the user named must exist.
            is_needed = part in ("id", "content") or wanted != getattr(FieldMapping(), part)
            if is_needed and not found[part]:
                raise ValueError(
                    f"There is no column {' or '.join(wanted)}, for the {part} of a document. {there}"
                    f" Name one: --field {part}=COLUMN."
                )
        return cls(names, FieldMapping(**found), frozenset(chain.from_iterable(found.values())))

    def document(self, row: list[str]) -> Document:
        """Make a document of a row.

        Raises:
            ValueError: If that is impossible; the message is a sentence.
        """
        _check_encoding(row)
        while len(row) > len(self.names) and not row[-1]:
            row.pop()
        if len(row) != len(self.names):
            raise ValueError(f"The row has {len(row)} fields, and there are {len(self.names)} columns.")
        record = {name: field for name, field in zip(self.names, row, strict=True) if field}
        metadata = {name: field for name, field in record.items() if name not in self.in_document}
        for name, field in metadata.items():
            check_strings(name, field)
        parts: dict[str, object] = {name: field for name, field in record.items() if name in self.in_document}
        for name in self.mapping.readers:
            if name in parts:
                parts[name] = _roles(name, record[name])
        return replace(document_of(parts, self.mapping), metadata=metadata)


def _delimiter(header: str) -> str:
    """Return the most frequent separator. Programs write semicolons where a comma is the decimal mark."""
    unquoted = _QUOTED.sub("", header)
    return max(",;\t", key=unquoted.count)


def _roles(name: str, field: str) -> object:
    try:
        return json.loads(field)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'The field {name} is no JSON array of role names, such as ["sales"].') from error


def _check_encoding(row: list[str]) -> None:
    try:
        "".join(row).encode()
    except UnicodeEncodeError as error:
        # "surrogateescape" encodes a byte in this way.
        byte = ord(error.object[error.start]) - 0xDC00
        raise ValueError(f"It is not UTF-8 text: it has the byte 0x{byte:02x}.") from error
