"""Finds short columns of text on a page of a PDF whose lines are stored row by row, and reads one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

# Parts of a line that are nearer than this part of its height are one text; columns are as far apart as the other one.
_WORD_GAP, _COLUMN_GAP = 0.8, 1.0
# A row of the same column begins at the same place, and is at most so many heights below.
_MOST_SHIFT, _MOST_LEADING = 3.0, 2.2
# In a table, cells have fewer words, and do not go on below.
_LEAST_WORDS, _LEAST_GOING_ON = 2.5, 0.5
_SENTENCE_END: Final = (".", "!", "?", ":", ";")

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom


def rows_of_columns(page: PdfTextPage) -> list[Pairs]:
    """Return blocks of two columns: the two texts of each row."""
    return [block for block in _side_by_side(page) if all(_is_prose(column) for column in zip(*block, strict=True))]


def column_by_column(text: str, blocks: Sequence[Pairs]) -> str:
    """Write columns one after the other, where a text has them row by row."""
    for block in blocks:
        rows = r"\s*".join(re.escape(sign) for sign in "".join("".join(pair).replace(" ", "") for pair in block))
        told = "\n\n".join("\n".join(column) for column in zip(*block, strict=True))
        text = re.sub(rows, lambda _, told=told: f"\n\n{told}\n\n", text, count=1)  # type: ignore[misc]
    return text.strip() if blocks else text


def _side_by_side(page: PdfTextPage) -> Iterator[Pairs]:
    """Yield blocks of rows of two boxes each, which begin at the same two places."""
    block: list[list[_Box]] = []
    for row in [*_rows(page), []]:
        if block and not (len(row) == 2 and _goes_on(block[-1], row)):
            if len(block) > 1:
                yield [(_text(page, left), _text(page, right)) for left, right in block]
            block = []
        if len(row) == 2:
            block.append(row)


def _rows(page: PdfTextPage) -> list[list[_Box]]:
    """Return the boxes of each line, from the top; of a line, from the left."""
    rects = (page.get_rect(number) for number in range(page.count_rects()))
    boxes = sorted((_Box(*rect) for rect in rects), key=lambda box: (-box.bottom, box.left))
    rows: list[list[_Box]] = []
    for box in boxes:
        if rows and _is_on_line(rows[-1][0], box):
            rows[-1].append(box)
        else:
            rows.append([box])
    return [_joined(sorted(row, key=lambda box: box.left)) for row in rows]


def _is_on_line(first: _Box, box: _Box) -> bool:
    return min(first.top, box.top) - max(first.bottom, box.bottom) > min(first.height, box.height) / 2


def _joined(row: Sequence[_Box]) -> list[_Box]:
    found = [row[0]]
    for box in row[1:]:
        last = found[-1]
        if box.left - last.right < last.height * _WORD_GAP:
            right, bottom, top = max(last.right, box.right), min(last.bottom, box.bottom), max(last.top, box.top)
            found[-1] = _Box(last.left, bottom, right, top)
        else:
            found.append(box)
    return found


def _goes_on(above: Sequence[_Box], row: Sequence[_Box]) -> bool:
    """Whether two columns go on in a row."""
    is_near = above[0].bottom - row[0].bottom < max(above[0].height, row[0].height) * _MOST_LEADING
    is_parted = max(above[0].right, row[0].right) + row[0].height * _COLUMN_GAP < min(above[1].left, row[1].left)
    shifts = (abs(one.left - other.left) for one, other in zip(above, row, strict=True))
    return is_near and is_parted and max(shifts) < _MOST_SHIFT


def _text(page: PdfTextPage, box: _Box) -> str:
    return " ".join(page.get_text_bounded(box.left, box.bottom, box.right, box.top).split())


def _is_prose(lines: Sequence[str]) -> bool:
    """Whether lines are those of sentences that go on from one to the next."""
    going_on = [
        not line.endswith(_SENTENCE_END) and (after[:1].islower() or after[:1].isdigit() or line.endswith(","))
        for line, after in pairwise(lines)
    ]
    return fmean(len(line.split()) for line in lines) >= _LEAST_WORDS and fmean(going_on) >= _LEAST_GOING_ON
