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
_LEAST_LINES, _LEAST_WIDTH, _LEAST_WORDS = 4, 40, 4
# So many lines have no room for the next word, and so many go on with a letter that is no capital. Lines that are
# records of their own, as in logs and tables, do so rarely, or most of them begin with the same word.
_LEAST_FULL, _LEAST_GOING_ON = 0.75, 0.5


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
    return (" " if _is_wrapped(paragraph) else "\n").join(paragraph)


def _is_wrapped(paragraph: list[str]) -> bool:
    if len(paragraph) < _LEAST_LINES:
        return False
    # Two blanks or a backslash at its end keep a line's end in Markdown.
    if any(line.endswith(("  ", "\\")) for line in paragraph[:-1]):
        return False
    width = max(len(line) for line in paragraph)
    words = [len(line.split()) for line in paragraph[:-1]]
    # Records of a fixed form are of equal length.
    has_one_length = len({len(line) for line in paragraph[:-1]}) == 1
    if width < _LEAST_WIDTH or min(words) < _LEAST_WORDS or has_one_length or any(map(_COLUMNS.search, paragraph)):
        return False
    first_words = [line.split(maxsplit=1)[0] for line in paragraph[1:]]
    full = [len(line) + 1 + len(word) > width for line, word in zip(paragraph[:-1], first_words, strict=True)]
    going_on = [word[0].isalpha() and not word[0].isupper() for word in first_words]
    return (
        sum(full) >= _LEAST_FULL * len(full)
        and sum(going_on) >= _LEAST_GOING_ON * len(full)
        and len(set(first_words)) > len(full) / 2
    )
