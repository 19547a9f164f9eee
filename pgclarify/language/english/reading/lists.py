"""Finds cells of tables, and values behind a label, by the names that belong to them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pgclarify.language.english.reading.answer_types import TYPED, AnswerType
from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.phrases import plain_text, read_label
from pgclarify.language.english.reading.spans import find_spans
from pgclarify.language.english.reading.topics import Topic
from pgclarify.language.english.words import content_stems, words
from pgclarify.language.sentences import Kind
from pgclarify.language.words import word_set

# These names of columns say nothing about their cells.
_NO_COLUMN = word_set(
    "description meaning means note notes comment comments remark remarks type read text value details"
)
_CELL_END = re.compile(r"(?<!\\)\|")
_MARKED = re.compile(r"^`([^`]*)`$")


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
    asked = {word.lower for word in words(question)}
    found: list[tuple[tuple[int, int], Evidence, str, str]] = []
    for piece in pieces:
        above = topic.under(piece.lead if piece.kind is Kind.LINE else "").stems
        if piece.header:
            # "The ticket for an adult": the first column has a name, too.
            above |= content_stems(_cells(piece.header)[0])
        for label, column, value in _named_values(piece):
            named = content_stems(label)
            is_named = bool(named & stems - above) and stems <= named | above | content_stems(column)
            if is_named and (kind not in TYPED or find_spans(value, kind)):
                beside = {word.lower for word in words(f"{label} {column}")}
                found.append(((len(beside & asked), -len(beside - asked)), piece, value, column))
        found += [((0, 0), piece, name, "") for name in people_with(stems, piece) if kind is AnswerType.PERSON]
    best = max((one[0] for one in found), default=None)
    fitting = [one for one in found if one[0] == best]
    return fitting[0][1:] if len(fitting) == 1 else None


def choose_cell(stems: frozenset[str], row: Evidence) -> tuple[str, str] | None:
    """Return the cell of a row whose column has most words of a question, and the column's name; None if none leads."""
    cells = [(cell, name) for _, name, cell in _named_values(row) if row.header]
    told = [len(content_stems(name) & stems) for _, name in cells]
    best = max(told, default=0)
    return cells[told.index(best)] if best and told.count(best) == 1 else None


def people_with(stems: frozenset[str], row: Evidence) -> list[str]:
    """Return the name that begins a row if another cell has these words and no others: "Head of Finance"."""
    first, *rest = _cells(row.text) if row.header else [""]
    is_name = bool(find_spans(first, AnswerType.PERSON))
    return [first] if is_name and any(cell and content_stems(cell) == stems for cell in rest) else []


def _named_values(piece: Evidence) -> list[tuple[str, str, str]]:
    """Return the label, the name of the column, and the text of each cell of a row; or one label with its value."""
    if piece.items:
        return []
    if not piece.header:
        labeled = read_label(piece, plain_text(piece.text))
        return [(labeled[0], "", labeled[1])] if labeled else []
    names, cells = _cells(piece.header), _cells(piece.text)
    # An unescaped "|" is part of a cell, and no name is known to belong to its cell.
    rest = [*zip(names, cells, strict=False)][1:] if len(cells) <= len(names) else []
    return [(cells[0], name, cell) for name, cell in rest]


def name_cells(row: Evidence) -> list[tuple[str, str]]:
    """Return a name for each cell of a table row that says something, and the cell: "rental cars: daily limit"."""
    named = []
    for label, column, cell in _named_values(row):
        # A number alone says nothing, because its unit may only be clear from the whole table.
        if not (column and label) or not any(character.isalpha() or character in "$€£¥%" for character in cell):
            continue
        named.append(((f"{label}: {column.lower()}" if _is_named(column) else label).replace("`", ""), cell))
    return named


def whole_row(row: Evidence) -> tuple[str, str]:
    """Return the label of a row, and its other cells in one line, with the names of their columns."""
    values = _named_values(row)
    told = (f"{column.lower()}: {cell}" if _is_named(column) else cell for _, column, cell in values if cell)
    return values[0][0].replace("`", ""), "; ".join(told)


def _is_named(column: str) -> bool:
    return any(word.is_content and word.lower not in _NO_COLUMN for word in words(column))


def _cells(row: str) -> list[str]:
    cells = _CELL_END.split(row.strip().removeprefix("|"))
    if not cells[-1].strip():
        del cells[-1]
    return [_MARKED.sub(r"\1", plain_text(cell.replace(r"\|", "|")).strip(" *")) for cell in cells]
