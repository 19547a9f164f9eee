"""Splits passages into sentences: plain text, hard-wrapped text, and Markdown with headings, lists and tables.

This is a scan without complex regular expressions. It looks at each character a bounded number of times, so texts
without a full stop, or of full stops alone, take no longer than others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from pgclarify.language.english.word_classes import ABBREVIATIONS, ABBREVIATIONS_THAT_END, FUNCTION_WORDS
from pgclarify.language.words import PIECE

MAX_CHARS = 20_000
"""How much of a passage is read. Passages fit an embedding model, so only a broken one is longer."""

MAX_SENTENCE_CHARS = 600
"""A longer sentence is cut at white space: a longer quote is no quick proof."""

_TERMINATORS = ".!?…。\uff01\uff1f؟।"
_WIDE_TERMINATORS = frozenset("。\uff01\uff1f")  # no space follows them
CLOSERS = "\"'”\u2019)]»*_」』\uff09"
"""What may follow the mark that ends a sentence."""

_MARKS = re.compile(rf"[{_TERMINATORS}]+[{re.escape(CLOSERS)}]*")

_WORD_BEFORE_MARK = re.compile(r"(?:[^\W_]|\.)+\Z")
_LONGEST_ABBREVIATION = 12
_LONGEST_FUNCTION_WORD = 20
# A sentence that ends before more blanks ends there in any case.
_MOST_BLANKS = 20

_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"[ ]{0,3}(?:=+|-+|\*+|_+)\s*$")
_TABLE_RULE = re.compile(r"[\s|:+-]+$")
# The definition of the term on the previous line.
_DEFINITION = re.compile(r":[ \t]{1,4}(?=\S)")
# A line of a form: "Rent: 940 euros", "Wed 2 December, 18:30: Story time". Questions and answers belong together.
_LABELED = re.compile(
    r"[ ]{0,3}(?=\w)(?!(?:Q|A|Question|Answer)[ \d]{0,4}:)(?:[^:.|?!\n]|[:.](?=\S)){1,60}:[ \t]+(?=\S)"
)
# A row of a table on one line, "Vehicle: E-bike; Day: 42.5 €", as readers of files write it. A sentence ends otherwise.
_FIELD = re.compile(r"[ ]{0,3}(?=\w)([^:;|?!\n]{1,60}):[ \t]+(?=\S)")
_BETWEEN_FIELDS = re.compile(r";[ \t]+(?=\w[^:;|?!\n]{0,59}:[ \t])")
_SENTENCE_END = (".", "!", "?", ":", ";")
# A line of prose that is as long as this may go on in the next line, even if that begins with a capital.
_WRAPPED = 60
ITEM_MARK = re.compile(r"(?:[-*+•‣▪\u2013]|(?P<number>\d{1,3}[.)]|\((?:\d{1,3}|[a-zA-Z])\)|[a-z]\)))")
"""What stands before an item of a list; `number` before a step."""

_ITEM = re.compile(rf"\s{{0,12}}{ITEM_MARK.pattern}\s+(?=\S)")


class Kind(StrEnum):
    """The kind of a sentence."""

    PROSE = "prose"
    ITEM = "item"
    STEP = "step"
    ROW = "row"
    LINE = "line"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, list item or table row.

    Attributes:
        text: Exactly passage[start:end]; no list marker in front.
        start: Offset of its first character in the passage.
        end: Offset after its last character.
        kind: prose, item (of a list), step (item of a numbered list), row (of a table) or line (of labels with values).
        block: Number of the paragraph, item, row or line that it belongs to, from 0.
        header: The header row of its table, also for a row that names its columns itself; "" elsewhere.
    """

    text: str
    start: int
    end: int
    kind: Kind
    block: int
    header: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    kind: Kind
    header: str = ""


def named_fields(line: str) -> list[tuple[str, str]]:
    """Return names and values of a row on one line; nothing if it is another line, or has a single field."""
    if ";" not in line or ":" not in line or line.rstrip().endswith(_SENTENCE_END):
        return []
    found: list[tuple[str, str]] = []
    for part in _BETWEEN_FIELDS.split(line):
        name = _FIELD.match(part)
        if name is None:
            return []
        found.append((name[1], part[name.end() :].strip()))
    return found if len(found) > 1 else []


def split_sentences(passage: str) -> list[Sentence]:
    """Split a passage into sentences, in order, without headings, rules and header rows of tables."""
    passage = passage[:MAX_CHARS]
    sentences: list[Sentence] = []
    blocks = (part for block in _blocks(passage) for part in _parts(passage, block))
    for number, block in enumerate(blocks):
        bounds = _bounds(passage, block.start, block.end)
        if block.kind is Kind.ROW:
            bounds = iter([(block.start, block.end)])
        for bound in bounds:
            for start, end in _cut(passage, *bound):
                text = passage[start:end]
                if any(map(str.isalnum, text)):
                    sentences.append(Sentence(text, start, end, block.kind, number, block.header))
    return sentences


def _blocks(passage: str) -> Iterator[_Block]:
    """Yield paragraphs, list items and table rows."""
    lines = passage.splitlines(keepends=True)
    current: _Block | None = None
    table_header = ""
    after = 0
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        start = after
        after += len(line)
        text = line.rstrip()
        fields = named_fields(text)
        is_row = text.count("|") >= 2 or bool(fields)
        item = _ITEM.match(text)
        definition = _DEFINITION.match(text)
        is_empty = not text
        is_header = _is_header(text, following.rstrip(), is_row=is_row, is_first=not item and current is None)
        is_rule = _RULE.match(text) is not None or _is_table_rule(text)
        end = start + len(text)
        if not (is_empty or is_header or is_row or item or definition or is_rule):
            current = _Block(current.start, end, current.kind) if current else _Block(start, end, Kind.PROSE)
            continue
        if current:
            yield current
            current = None
        if is_row and is_header:
            table_header = text
        elif fields:
            header = " | ".join(name for name, _ in fields)
            yield _Block(start, end, Kind.ROW, f"| {header} |")
        elif is_row and not _is_table_rule(text):
            yield _Block(start, end, Kind.ROW, table_header)
        elif item and not is_header:
            number = item["number"] or ""
            is_step = any(map(str.isdigit, number))
            current = _Block(start + item.end(), end, Kind.STEP if is_step else Kind.ITEM)
        elif definition and not is_header:
            current = _Block(start + definition.end(), end, Kind.PROSE)
    if current:
        yield current


def _is_header(line: str, following: str, *, is_row: bool, is_first: bool) -> bool:
    """Whether a line is a heading, or the header row of a table."""
    if _HEADING.match(line):
        return True
    if is_row and _is_table_rule(following):
        return True
    return is_first and line != "" and _RULE.match(following) is not None


def _parts(passage: str, block: _Block) -> Iterator[_Block]:
    """Split a paragraph at its lines that have a label and a value. Its other lines are wrapped prose."""
    text = passage[block.start : block.end]
    lines = text.splitlines(keepends=True)
    if block.kind is not Kind.PROSE or len(lines) == 1:
        yield block
        return
    start = end = block.start
    was_labeled = False
    for place, line in enumerate(lines):
        is_first = place == 0
        begins = not line.lstrip()[:1].islower()
        is_labeled = _LABELED.match(line) is not None and (begins or is_first or was_labeled)
        goes_on = is_first or len(lines[place - 1]) >= _WRAPPED
        is_next = was_labeled and is_labeled
        is_other = is_labeled or (was_labeled and begins)
        if not is_first and (is_next or (is_other and not goes_on)):
            yield _Block(start, end, Kind.LINE if was_labeled else block.kind)
            start = end
        elif not is_first:
            is_labeled = was_labeled
        was_labeled = is_labeled
        end += len(line)
    is_line = was_labeled and start > block.start
    yield _Block(start, end, Kind.LINE if is_line else block.kind)


def _is_table_rule(line: str) -> bool:
    if "|" not in line or "-" not in line:
        return False
    return _TABLE_RULE.match(line) is not None


def _bounds(passage: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence of a block."""
    has_capitals = any(character.isupper() for character in passage[start:end])
    begin = start
    for marks in _MARKS.finditer(passage, start, end):
        mark, after = marks.span()
        if passage[mark] in _WIDE_TERMINATORS or _ends_here(passage, begin, mark, after, end, has_capitals):
            yield begin, after
            begin = after
    if begin < end:
        yield begin, end


def _ends_here(passage: str, begin: int, mark: int, after: int, end: int, has_capitals: bool) -> bool:
    """Tell whether the marks in passage[mark:after] end the sentence that starts at begin."""
    if after >= end:
        return True
    if not passage[after].isspace():
        return False
    following = passage[after : min(end, after + _MOST_BLANKS)].lstrip()[:1]
    if has_capitals and following.islower():
        return False
    if passage[mark] != "." or after - mark > 1:
        return True
    before = _WORD_BEFORE_MARK.search(passage, max(begin, mark - _LONGEST_ABBREVIATION), mark)
    word = before[0] if before else ""
    lower = word.lower()
    if lower in ABBREVIATIONS_THAT_END:
        return following.isupper()
    if lower in ABBREVIATIONS:
        return False
    is_initial = len(word) == 1 and word.isalpha() and word.isupper()
    # A name follows an initial: "George W. Bush", but "Park in lot B. The gate is open."
    return not is_initial or _next_word(passage, after, end) in FUNCTION_WORDS


def _next_word(passage: str, after: int, end: int) -> str:
    following = PIECE.search(passage, after, min(end, after + _LONGEST_FUNCTION_WORD))
    return following[0].lower() if following else ""


def _cut(passage: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Trim white space, and cut a sentence that is too long at white space (anywhere if there is none)."""
    while start < end:
        while start < end and passage[start].isspace():
            start += 1
        stop = min(end, start + MAX_SENTENCE_CHARS)
        if stop < end:
            space = max(passage.rfind(" ", start, stop), passage.rfind("\n", start, stop))
            stop = space if space > start else stop
        trimmed = stop
        while trimmed > start and passage[trimmed - 1].isspace():
            trimmed -= 1
        if trimmed > start:
            yield start, trimmed
        start = stop
