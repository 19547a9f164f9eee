"""Finds cells of tables, and values behind a label, by the names that belong to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pgclarify.language.english.reading.answer_types import TYPED, AnswerType
from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.phrases import plain_text, read_label
from pgclarify.language.english.reading.spans import find_spans
from pgclarify.language.english.reading.topics import Topic
from pgclarify.language.english.words import content_stems, lower_words, words
from pgclarify.language.sentences import Kind, named_fields
from pgclarify.language.words import word_set

# These names of columns say nothing about their cells.
_NO_COLUMN = word_set(
    "description meaning means note notes comment comments remark remarks type read text value details"
)
_CELL_END = re.compile(r"(?<!\\)\|")
_MARKED = re.compile(r"^`([^`]*)`$")
_SIGNS = "$€£¥%"


@dataclass(frozen=True, slots=True)
class _NamedCell:
    """A cell that a question names.

    Attributes:
        rank: How many of the words beside it are in the question, and how many are not, as a negative number.
        piece: Its row.
        value: Its text.
        column: The name of its column.
    """

    rank: tuple[int, int]
    piece: Evidence
    value: str
    column: str


def find_cell(
    question: str, stems: frozenset[str], kind: AnswerType, pieces: Iterable[Evidence], topic: Topic
) -> tuple[Evidence, str, str] | None:
    """Find the one cell, or value behind a label, that a whole question names by row, column, title and headings.

    Args:
        question: "How much is a consultation for a cat?"
        stems: Stems of the words of the question that say what the answer is about.
        kind: The kind of its answer.
        pieces: All pieces of the passage.
        topic: Title and headings of the passage.

    Returns:
        The piece, the cell and the name of its column; None if the question names no cell, or two of them equally well.
    """
    asked = frozenset(lower_words(question))
    found: list[_NamedCell] = []
    for piece in pieces:
        found += _cells_named(asked, stems, kind, piece, topic)
        if kind is AnswerType.PERSON:
            found += [_NamedCell((0, 0), piece, name, "") for name in people_with(stems, piece)]
    best = max((one.rank for one in found), default=None)
    fitting = [one for one in found if one.rank == best]
    if len(fitting) != 1:
        return None
    (only,) = fitting
    return only.piece, only.value, only.column


def _cells_named(
    asked: frozenset[str], stems: frozenset[str], kind: AnswerType, piece: Evidence, topic: Topic
) -> Iterator[_NamedCell]:
    """Yield the cells of a row that a question names, if they have a value of the kind that it asks for."""
    above = topic.under(piece.lead).stems if piece.kind is Kind.LINE else topic.stems
    if piece.header:
        # "The ticket for an adult": the first column has a name, too.
        above |= content_stems(_cells(piece.header)[0])
    for label, column, value in _named_values(piece):
        named = content_stems(label)
        around = named | above | content_stems(column)
        if named.isdisjoint(stems - above) or not stems <= around:
            continue
        if kind in TYPED and not find_spans(value, kind):
            continue
        beside = frozenset(lower_words(f"{label} {column}"))
        rank = (len(beside & asked), -len(beside - asked))
        yield _NamedCell(rank, piece, value, column)


def people_with(stems: frozenset[str], row: Evidence) -> list[str]:
    """Return the name that begins a row if another cell has these words and no others: "Head of Finance"."""
    if not row.header:
        return []
    first, *rest = _cells_of(row)
    if not find_spans(first, AnswerType.PERSON):
        return []
    has_role = any(cell and content_stems(cell) == stems for cell in rest)
    return [first] if has_role else []


def _named_values(piece: Evidence) -> list[tuple[str, str, str]]:
    """Return the label, the name of the column, and the text of each cell of a row; or one label with its value."""
    if piece.items:
        return []
    if not piece.header:
        labeled = read_label(piece, plain_text(piece.text))
        return [(labeled[0], "", labeled[1])] if labeled else []
    columns = _cells(piece.header)
    cells = _cells_of(piece)
    if len(cells) > len(columns):
        # An unescaped "|" is part of a cell, and no name is known to belong to its cell.
        return []
    label = cells[0]
    return [(label, column, cell) for column, cell in zip(columns[1:], cells[1:], strict=False)]


def name_cells(row: Evidence) -> list[tuple[str, str]]:
    """Return a name for each cell of a table row that says something, and the cell: "rental cars: daily limit"."""
    named = []
    names_itself = bool(named_fields(row.text))
    for label, column, cell in _named_values(row):
        # A number alone says nothing, because its unit may only be clear from the whole table; unless the row can be
        # quoted with the name of its column.
        if not column or not label or not (names_itself or any(map(_is_telling, cell))):
            continue
        name = f"{label}: {column.lower()}" if _is_named(column) else label
        named.append((name.replace("`", ""), cell))
    return named


def _is_telling(character: str) -> bool:
    return character.isalpha() or character in _SIGNS


def whole_row(row: Evidence) -> tuple[str, str]:
    """Return the label of a row, and its other cells in one line, with the names of their columns."""
    values = _named_values(row)
    told: list[str] = []
    for _, column, cell in values:
        if cell and _is_named(column):
            told.append(f"{column.lower()}: {cell}")
        elif cell:
            told.append(cell)
    label, _, _ = values[0]
    return label.replace("`", ""), "; ".join(told)


def _is_named(column: str) -> bool:
    return any(word.is_content and word.lower not in _NO_COLUMN for word in words(column))


def _cells_of(row: Evidence) -> list[str]:
    fields = named_fields(row.text)
    return [plain_text(value).strip(" *") for _, value in fields] if fields else _cells(row.text)


def _cells(row: str) -> list[str]:
    cells = _CELL_END.split(row.strip().removeprefix("|"))
    if not cells[-1].strip():
        del cells[-1]
    return [_MARKED.sub(r"\1", plain_text(cell.replace(r"\|", "|")).strip(" *")) for cell in cells]
