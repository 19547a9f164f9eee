"""Splits passages into sentences: plain text, hard-wrapped text, and Markdown with headings, lists and tables.

This is a scan without complex regular expressions. It looks at each character a bounded number of times, so texts
without a full stop, or of full stops alone, take no longer than others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

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

_LONGEST_FUNCTION_WORD = 20

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
    """Paragraphs, list items and table rows."""
    lines: list[tuple[int, int]] = []
    offset = 0
    for line in passage.splitlines(keepends=True):
        lines.append((offset, offset + len(line)))
        offset += len(line)
    current: _Block | None = None
    table_header = ""
    for index, (start, end) in enumerate(lines):
        line = passage[start:end].rstrip()
        following = ""
        if index + 1 < len(lines):
            following = passage[slice(*lines[index + 1])].rstrip()
        fields = named_fields(line)
        is_row = line.count("|") >= 2 or bool(fields)
        item = _ITEM.match(line)
        definition = _DEFINITION.match(line)
        is_empty = not line.strip()
        is_header = _HEADING.match(line) is not None or (is_row and _is_table_rule(following))
        if not is_empty and not item and current is None and _RULE.match(following):
            is_header = True
        is_rule = _RULE.match(line) is not None or _is_table_rule(line)
        if is_empty or is_header or is_row or item or definition or is_rule:
            if current:
                yield current
                current = None
            if is_row and is_header:
                table_header = line
            elif fields:
                header = " | ".join(name for name, _ in fields)
                yield _Block(start, start + len(line), Kind.ROW, f"| {header} |")
            elif is_row and not _is_table_rule(line):
                yield _Block(start, start + len(line), Kind.ROW, table_header)
            elif item and not is_header:
                number = item["number"] or ""
                kind = Kind.STEP if any(map(str.isdigit, number)) else Kind.ITEM
                current = _Block(start + item.end(), start + len(line), kind)
            elif definition and not is_header:
                current = _Block(start + definition.end(), start + len(line), Kind.PROSE)
        elif current:
            current = _Block(current.start, start + len(line), current.kind)
        else:
            current = _Block(start, start + len(line), Kind.PROSE)
    if current:
        yield current


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
        begins = not line.lstrip()[:1].islower()
        is_labeled = _LABELED.match(line) is not None and (begins or place == 0 or was_labeled)
        is_short = place > 0 and len(lines[place - 1]) < _WRAPPED
        if place > 0 and ((was_labeled and is_labeled) or (is_short and (is_labeled or (was_labeled and begins)))):
            yield _Block(start, end, Kind.LINE if was_labeled else block.kind)
            start = end
        elif place > 0:
            is_labeled = was_labeled
        was_labeled = is_labeled
        end += len(line)
    yield _Block(start, end, Kind.LINE if was_labeled and start > block.start else block.kind)


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
    following = next((passage[i] for i in range(after, min(end, after + 20)) if not passage[i].isspace()), "")
    following = following.lstrip("\"'“\u2018([*_") or following
    if has_capitals and following.islower():
        return False
    if passage[mark] != "." or after - mark > 1:
        return True
    word_start = mark
    while word_start > max(begin, mark - 12) and (passage[word_start - 1].isalnum() or passage[word_start - 1] == "."):
        word_start -= 1
    word = passage[word_start:mark].lower()
    if word in ABBREVIATIONS_THAT_END:
        return following.isupper()
    is_initial = len(word) == 1 and word.isalpha() and passage[word_start].isupper()
    # A name follows an initial: "George W. Bush", but "Park in lot B. The gate is open."
    is_initial = is_initial and _next_word(passage, after, end) not in FUNCTION_WORDS
    return not (word in ABBREVIATIONS or is_initial)


def _next_word(passage: str, after: int, end: int) -> str:
    stop = min(end, after + _LONGEST_FUNCTION_WORD)
    following = PIECE.search(passage, after, stop)
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
