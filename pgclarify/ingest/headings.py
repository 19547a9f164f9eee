"""Headings of Markdown, and which of them are above a place in the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Longer headings are cut, because they are stored with every passage below them.
MAX_HEADING_CHARS = 200
# Only the beginning of a longer line is parsed as markup: unclosed brackets take quadratic time.
_MAX_MARKUP_CHARS = 2000
_LINE_END = re.compile(r"\r\n?|\n")
# A text without one of these marks has no headings, and need not be parsed. Most plain text has none.
_HEADING_MARK = re.compile(r"(?:^|[\r\n]) {0,3}(?:#{1,6}(?:[ \t\r\n]|$)|=+[ \t]*(?:[\r\n]|$)|-+[ \t]*(?:[\r\n]|$))")
# CommonMark reads the end of a YAML front matter as an underline of the line before it.
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n[\w-]+:.*?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
# CommonMark reads a numbered title as a list, also if a line of its length is below it.
_NUMBERED_TITLE = re.compile(
    r"(?:\A|(?<=\n\n)|(?<=\n\r\n))(\d{1,9}\.[ \t]\S[^\n]*)\n(-{4,}|={4,})[ \t\r]*$", re.MULTILINE
)
# It stands for the dot of the number meanwhile.
_DOT = "\ue000"

# Block parsing only. Inline text, which is most of a document, is not parsed.
_BLOCKS = MarkdownIt("commonmark")
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])
_INLINE = MarkdownIt("commonmark")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document.

    Attributes:
        start_char: Offset of its line in the document, from 0.
        end_char: Offset of the end of its last line, with the line break.
        level: 1 to 6.
        text: Its text without markup, on one line, at most 200 characters.
    """

    start_char: int
    end_char: int
    level: int
    text: str


def find_headings(content: str) -> list[Heading]:
    """Find the headings of a Markdown text, in order.

    ATX (`# Title`) and setext (underlined) headings count. Similar lines in code blocks, lists, quotations and YAML
    front matter do not count. A numbered title counts if its underline is as long as the title.

    Source: CommonMark 0.31, §4.2 and §4.3.
    """
    if not _HEADING_MARK.search(content):
        return []
    line_starts = [0, *(match.end() for match in _LINE_END.finditer(content)), len(content)]
    front_matter = _FRONT_MATTER.match(content)
    body_start = front_matter.end() if front_matter else 0

    headings: list[Heading] = []
    tokens = _BLOCKS.parse(_NUMBERED_TITLE.sub(_without_dot, content))
    for position, token in enumerate(tokens):
        if token.type != "heading_open" or token.level != 0 or token.map is None:
            continue
        first_line, end_line = token.map
        start_char = line_starts[first_line]
        text = _plain_text(tokens[position + 1].content.replace(_DOT, ".", 1))
        if text and start_char >= body_start:
            headings.append(Heading(start_char, line_starts[end_line], int(token.tag[1:]), text))
    return headings


class HeadingPaths:
    """Finds the headings above a place in one document.

    Args:
        headings: All headings of the document, in order.
    """

    def __init__(self, headings: list[Heading]) -> None:
        self._starts = [heading.start_char for heading in headings]
        self._paths: list[str] = []
        open_headings: list[Heading] = []
        for heading in headings:
            while open_headings and open_headings[-1].level >= heading.level:
                open_headings.pop()
            open_headings.append(heading)
            self._paths.append(" > ".join(above.text for above in open_headings))

    def at(self, offset: int) -> str | None:
        """Return the headings above an offset, outermost first, joined by " > ".

        A heading counts if the offset is in its line, so that a chunk that starts with a heading is below it.
        """
        # A chunk has lost the indentation of its first line, so it may start a few characters after the line.
        index = bisect_right(self._starts, offset) - 1
        return self._paths[index] if index >= 0 else None


def _without_dot(title: re.Match[str]) -> str:
    is_underlined = abs(len(title[1].rstrip()) - len(title[2])) <= 1
    return title[0].replace(".", _DOT, 1) if is_underlined else title[0]


def _plain_text(markdown: str) -> str:
    """Return a line of text without emphasis, links and other markup."""

    def parts(tokens: list[Token]) -> list[str]:
        found: list[str] = []
        for token in tokens:
            if token.children:
                found.extend(parts(token.children))
            elif token.type in ("text", "code_inline"):
                found.append(token.content)
            elif token.type in ("softbreak", "hardbreak"):
                found.append(" ")
        return found

    return " ".join("".join(parts(_INLINE.parseInline(markdown[:_MAX_MARKUP_CHARS]))).split())[:MAX_HEADING_CHARS]
