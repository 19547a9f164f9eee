"""Finds short columns of text on a page of a PDF whose lines are stored row by row, and reads one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

# Parts of a line that are nearer than this part of its height are one text; columns are as far apart as the other one.
_WORD_GAP = 0.8
_COLUMN_GAP = 1.0
# A row of the same column begins at the same place, and is at most so many heights below.
_MOST_SHIFT = 3.0
_MOST_LEADING = 2.2
# In a table, cells have fewer words, and do not go on below.
_LEAST_WORDS = 2.5
_LEAST_GOING_ON = 0.5
_SENTENCE_END: Final = tuple(".!?:;")

Pairs = list[tuple[str, str]]


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

    @classmethod
    def around(cls, boxes: Iterable[_Box]) -> _Box:
        """Return the box around others."""
        left, bottom, right, top = zip(*boxes, strict=True)
        return cls(min(left), min(bottom), max(right), max(top))


def rows_of_columns(page: PdfTextPage) -> list[Pairs]:
    """Return blocks of two columns: the two texts of each row."""
    found: list[Pairs] = []
    block: list[list[_Box]] = []
    for row in [*_rows(page), []]:
        if block and not _goes_on(block[-1], row):
            texts = [(_text(page, left), _text(page, right)) for left, right in block]
            if len(block) > 1 and all(map(_is_prose, zip(*texts, strict=True))):
                found.append(texts)
            block = []
        if len(row) == 2:
            block.append(row)
    return found


def column_by_column(text: str, blocks: Sequence[Pairs]) -> str:
    """Write columns one after the other, where a text has them row by row."""
    for block in blocks:
        signs = "".join(chain.from_iterable(block)).replace(" ", "")
        found = re.search(r"\s*".join(map(re.escape, signs)), text)
        if not found:
            continue
        parts = [text[: found.start()]]
        parts.extend(map("\n".join, zip(*block, strict=True)))
        parts.append(text[found.end() :])
        text = "\n\n".join(parts).strip()
    return text


def _rows(page: PdfTextPage) -> list[list[_Box]]:
    """Return the boxes of each line, from the top; of a line, from the left."""
    boxes = [_Box(*page.get_rect(number)) for number in range(page.count_rects())]
    lines: list[list[_Box]] = []
    for box in sorted(boxes, key=lambda box: -box.bottom):
        if lines and box.is_on_line_of(lines[-1][0]):
            lines[-1].append(box)
        else:
            lines.append([box])
    rows: list[list[_Box]] = []
    for line in lines:
        first, *others = sorted(line, key=lambda box: box.left)
        row = [first]
        for box in others:
            if box.left - row[-1].right < row[-1].height * _WORD_GAP:
                row[-1] = _Box.around((row[-1], box))
            else:
                row.append(box)
        rows.append(row)
    return rows


def _goes_on(above: Sequence[_Box], row: Sequence[_Box]) -> bool:
    """Whether two columns go on in a row."""
    if len(row) != 2:
        return False
    left, right = map(_Box.around, zip(above, row, strict=True))
    first = above[0]
    if left.right + first.height * _COLUMN_GAP >= right.left:
        return False
    if first.bottom - row[0].bottom >= first.height * _MOST_LEADING:
        return False
    shifts = [abs(one.left - other.left) for one, other in zip(above, row, strict=True)]
    return max(shifts) < _MOST_SHIFT


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
