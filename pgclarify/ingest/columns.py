"""Finds texts side by side on a page of a PDF, which is stored row by row: columns, and tables without lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from ctypes import c_double
from itertools import chain, pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from pgclarify.ingest.grids import is_value, table_lines

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

# Parts of a line that are nearer than this part of its height are one text; columns are as far apart as the other one.
_WORD_GAP = 0.8
_COLUMN_GAP = 1.0
# A row of the same block is at most so many heights below, and one of the same columns begins at the same place.
_MOST_LEADING = 2.2
_MOST_SHIFT = 3.0
# In a table, cells have fewer words, and do not go on below.
_LEAST_WORDS = 2.5
_LEAST_GOING_ON = 0.5
_LEAST_ROWS = 3
_SENTENCE_END: Final = tuple(".!?:;")

Texts: TypeAlias = Sequence[Sequence[str]]
"""The texts of each row of a block; empty where a column has none."""


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom

    def is_on_line_of(self, other: _Box) -> bool:
        """Whether two boxes are mostly at the same height."""
        top = min(self.top, other.top)
        bottom = max(self.bottom, other.bottom)
        return top - bottom > min(self.height, other.height) / 2

    def is_followed_by(self, word: _Box) -> bool:
        """Whether a word stands on the same line, and no column begins between them."""
        # The box of a dash is low.
        height = max(self.height, word.height)
        if word.left < self.left or abs(word.bottom - self.bottom) > height:
            return False
        return word.left - self.right < height * _WORD_GAP

    def is_above(self, other: _Box) -> bool:
        """Whether a box of another line stands below or above this one."""
        return self.left < other.right and other.left < self.right

    @classmethod
    def around(cls, boxes: Iterable[_Box]) -> _Box:
        """Return the box around others."""
        left, bottom, right, top = zip(*boxes, strict=True)
        return cls(min(left), min(bottom), max(right), max(top))


class _Block:
    """Rows whose boxes stand in columns.

    Args:
        row: The first one.
    """

    def __init__(self, row: list[_Box]) -> None:
        self._columns = row
        self._above = _Box.around(row)
        self.rows: list[list[_Box | None]] = [list(row)]

    def takes(self, row: Sequence[_Box]) -> bool:
        """Add a row, if the columns go on in it."""
        if len(row) < 2:
            return False
        line = _Box.around(row)
        if self._above.bottom - line.bottom >= self._above.height * _MOST_LEADING:
            return False
        columns = list(self._columns)
        placed: list[_Box | None] = [None] * len(columns)
        for box in row:
            at = [number for number, column in enumerate(self._columns) if column.is_above(box)]
            if len(at) != 1 or placed[at[0]] is not None:
                return False
            (number,) = at
            # Two columns of sentences begin at the same places.
            if len(columns) == 2 and abs(columns[number].left - box.left) > _MOST_SHIFT:
                return False
            placed[number] = box
            columns[number] = _Box.around((columns[number], box))
        for left, right in pairwise(columns):
            if left.right + self._above.height * _COLUMN_GAP >= right.left:
                return False
        self._columns = columns
        self._above = line
        self.rows.append(placed)
        return True

    def texts(self, page: PdfTextPage) -> Texts:
        return [[_text(page, box) if box else "" for box in row] for row in self.rows]


def blocks_of_page(page: PdfTextPage) -> list[Texts]:
    """Return the blocks of several columns on a page, each from the top."""
    blocks: list[_Block] = []
    is_open = False
    for row in _rows(page):
        if is_open and blocks[-1].takes(row):
            continue
        is_open = len(row) > 1
        if is_open:
            blocks.append(_Block(row))
    return [block.texts(page) for block in blocks if len(block.rows) > 1]


def block_by_block(text: str, blocks: Sequence[Texts], *, writes_tables: bool) -> str:
    """Write columns one after the other, and tables row by row, where a text has them as one paragraph.

    Args:
        text: A page.
        blocks: What stands side by side on it.
        writes_tables: Whether rows name their columns; if not, tables stay as they are.
    """
    without_blanks = "".join(text.split())
    for block in blocks:
        signs = "".join(chain.from_iterable(block)).replace(" ", "")
        # The search for a pattern takes time.
        if signs not in without_blanks:
            continue
        told = _columns(block)
        if writes_tables and not told:
            told = _table(block)
        pattern = r"\s*".join(map(re.escape, signs))
        if told and (found := re.search(pattern, text)):
            before, after = text[: found.start()], text[found.end() :]
            parts = map(str.strip, (before, told, after))
            text = "\n\n".join(filter(None, parts))
    return text


def _columns(block: Texts) -> str:
    """Return two columns of sentences, one after the other; empty if they are none."""
    columns = list(zip(*block, strict=True))
    if len(columns) != 2 or not all(map(_is_prose, columns)):
        return ""
    return "\n\n".join(map("\n".join, columns))


def _table(block: Texts) -> str:
    """Return a table with the names of its columns; empty if it is none, or if its cells have several lines."""
    first_letters = [cell[:1] for row in block for cell in row]
    if len(block) < _LEAST_ROWS or any(map(str.islower, first_letters)):
        return ""
    # Above texts, a first row may be no header.
    columns = [list(filter(None, column)) for column in zip(*block[1:], strict=True)]
    has_values = any(all(map(is_value, column)) for column in columns)
    if len(block[0]) == 2 and not has_values:
        return ""
    lines, _ = table_lines(block, header_rows=None if has_values else 0, is_drawn=True)
    return "\n".join(line.text for line in lines)


def _rows(page: PdfTextPage) -> list[list[_Box]]:
    """Return the boxes of each line, from the top; of a line, from the left."""
    lines: list[list[_Box]] = []
    for box in sorted(_boxes(page), key=lambda box: -box.bottom):
        if lines and box.is_on_line_of(lines[-1][0]):
            lines[-1].append(box)
        else:
            lines.append([box])
    rows: list[list[_Box]] = []
    for line in lines:
        first, *others = sorted(line)
        row = [first]
        for box in others:
            if row[-1].is_followed_by(box):
                row[-1] = _Box.around((row[-1], box))
            else:
                row.append(box)
        rows.append(row)
    return rows


def _boxes(page: PdfTextPage) -> Iterator[_Box]:
    """Yield the boxes of a page, of which words that follow each other on a line are one. There are thousands."""
    from pypdfium2.raw import FPDFText_GetRect

    left, top, right, bottom = c_double(), c_double(), c_double(), c_double()
    box = None
    for number in range(page.count_rects()):
        FPDFText_GetRect(page, number, left, top, right, bottom)
        word = _Box(left.value, bottom.value, right.value, top.value)
        if box and box.is_followed_by(word):
            box = _Box.around((box, word))
        else:
            if box:
                yield box
            box = word
    if box:
        yield box


def _text(page: PdfTextPage, box: _Box) -> str:
    text = page.get_text_bounded(box.left, box.bottom, box.right, box.top)
    return " ".join(text.split())


def _is_prose(lines: Sequence[str]) -> bool:
    """Whether lines are those of sentences that go on from one to the next."""
    words = fmean(len(line.split()) for line in lines)
    if words < _LEAST_WORDS:
        return False
    going_on = 0
    for line, below in pairwise(lines):
        if line.endswith(_SENTENCE_END):
            continue
        going_on += line.endswith(",") or below[:1].islower() or below[:1].isdigit()
    return going_on >= _LEAST_GOING_ON * (len(lines) - 1)
