"""Paragraphs whose lines were wrapped at a fixed width, as in mails, licences and many manuals."""

from __future__ import annotations

import re

from pgclarify.language.fences import are_code

# A line that begins a block of its own: headings and their underlines, lists, quotes, tables, tags, definitions.
_BLOCK = re.compile(r"[ \t]*(?:[#>|<:=]|[-*+](?:\s|[-*+]|$)|\d{1,9}[.)]\s)")
LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
# Columns: blanks between words, or a stroke.
_COLUMNS = re.compile(r"\S(?:  +| \| )\S")
# Fewer or shorter lines tell nothing about a width.
_LEAST_LINES = 4
_LEAST_WIDTH = 40
_LEAST_WORDS = 4
# So many lines have no room for the next word, and so many go on with a letter that is no capital. Lines that are
# records of their own, as in logs and tables, do so rarely, or most of them begin with the same word.
_LEAST_FULL = 0.75
_LEAST_GOING_ON = 0.5


def without_wraps(text: str) -> str:
    """Replace the ends of lines within wrapped paragraphs by blanks, so that every character keeps its place.

    Lines are wrapped if the first word of the next one did not fit. Lines within fences are left as they are.

    Args:
        text: Markdown or plain text.
    """
    blocks: list[str] = []
    paragraph: list[str] = []
    lines = text.replace("\r\n", " \n").split("\n")
    for line, is_code in zip(lines, are_code(lines), strict=True):
        is_text = bool(line.strip()) and not is_code and not _BLOCK.match(line)
        if not is_text and paragraph:
            blocks.append(_joined(paragraph))
            paragraph = []
        if is_text or (not is_code and LIST_ITEM.match(line)):
            paragraph.append(line)
        else:
            blocks.append(line)
    if paragraph:
        blocks.append(_joined(paragraph))
    return "\n".join(blocks)


def _joined(paragraph: list[str]) -> str:
    separator = " " if _is_wrapped(paragraph) else "\n"
    return separator.join(paragraph)


def _is_wrapped(paragraph: list[str]) -> bool:
    if len(paragraph) < _LEAST_LINES:
        return False
    *lines, last = paragraph
    width = max(map(len, paragraph))
    if width < _LEAST_WIDTH or any(map(_COLUMNS.search, paragraph)):
        return False
    # Records of a fixed form are of equal length.
    if len(set(map(len, lines))) == 1:
        return False
    full = going_on = 0
    first_words: set[str] = set()
    for line, below in zip(lines, [*lines[1:], last], strict=True):
        # Two blanks or a backslash at its end keep a line's end in Markdown.
        if line.endswith(("  ", "\\")) or len(line.split()) < _LEAST_WORDS:
            return False
        word = below.split(maxsplit=1)[0]
        first_words.add(word)
        full += len(line) + 1 + len(word) > width
        going_on += word[0].isalpha() and not word[0].isupper()
    if full < _LEAST_FULL * len(lines) or going_on < _LEAST_GOING_ON * len(lines):
        return False
    return len(first_words) > len(lines) / 2
