"""Reads AsciiDoc as HTML, as Asciidoctor makes it of one file: no other file is read that it names."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from html import escape
from itertools import filterfalse
from typing import Final, TypeAlias

from pgclarify.ingest.asciidoc_tables import SIGNS, Cell, Said, table
from pgclarify.ingest.asciidoc_text import Inline
from pgclarify.ingest.markup import read_described
from pgclarify.ingest.parsed import Parsed

_ATTRIBUTE = re.compile(r":(!?)([A-Za-z0-9_][\w-]*)(!?):(?:[ \t]+(.*))?")
# Below the title: who wrote it, and which version it is, of when.
_AUTHORS = re.compile(r"(?:(?:^|; )[^\W\d_][\w.'-]*(?: [\w.'-]*\w){0,3}(?: <[^<>\s]+>)?)+")
_ADDRESS = re.compile(r" <[^<>]+>")
_REVISION = re.compile(
    r"(?:v?(?P<revnumber>\d[\w.-]{0,40}),? ?)?(?P<revdate>\d{4}-\d\d-\d\d|[^:,]{0,40}\d{4})?(?::.*)?"
)
_ITEM = re.compile(r"[ \t]*([*.]{1,6}|-|\d+\.|[A-Za-z]\.|<(?:\d+|\.)>)[ \t]+(\S.*)")
_TERM = re.compile(r"[ \t]*([^\s|].{0,98}?[^\s:;])(:{2,4}|;;)(?:[ \t]+(.*))?")
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:(?<![ \t])[ \t]+\1)?")
# The lines below titles of the older form, by their level.
_UNDERLINES: Final = "=-~^+"
_UNDERLINE = re.compile(r"([=\-~^+])\1{2,}")
_TITLED = re.compile(
    r"^(?:\[\[([\w:.-]++)[^\]\n]*\]\]\n|\[#([\w:-]++)[^\n]*\]\n|\[.*\]\n){0,3}={1,6}[ \t]+(\S.*)$", re.MULTILINE
)
_WORD = re.compile(r"\w+")
# What is said of the next block, and its title.
_STYLE = re.compile(r"\[(.*)\]")
_STYLE_NAME = re.compile(r"[A-Za-z]+(?![\w=])")
_NAMED = re.compile(r"(?<![\w-])([\w-]++)=(?:\"([^\"]*)\"|([^,\]]*))")
_TITLE = re.compile(r"\.([^\s.].*)")
# Other files, and conditions, which depend on who builds the page, so that the text of each is read. Also in code.
_DIRECTIVE = re.compile(r"ifn?def::[^\[\s]+\[(.*)\]|(?:ifeval|endif|include)::[^\[]*\[.*\]")
# Pictures, lines between parts of a page, and comments.
_UNSEEN = re.compile(r"(?:audio|image|toc|video)::[^\[]*\[.*\]|//(?!//).*|'{3,}|<{3,}|-{3}|\*{3}|\+|")
_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|--|[|,:!]={3,})|(`{3,})\w*")
_CODE: Final = ("source", "listing", "literal", "stem", "latexmath", "asciimath")
# The kind of a warning, which is its rank, and no text.
_RANK = re.compile(r"\A(?:CAUTION|IMPORTANT|NOTE|TIP|WARNING):\s+")
_NUMERALS: Final = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I", "arabic": "1"}
_BY_DEPTH: Final = {".": "1", "..": "a", "...": "i", "....": "A", ".....": "I"}
_MOST_VALUE_CHARS: Final = 4096
Kinds: TypeAlias = tuple[str, ...]
"""The kinds of the lists around a block, from the outermost."""


def read_asciidoc(text: str) -> Parsed:
    """Read AsciiDoc; the attributes at its beginning, authors and version describe it."""
    titles: dict[str, str] = {}
    for name, other, title in _TITLED.findall(text):
        words = "_".join(_WORD.findall(title.lower()))
        anchor = name or other or f"_{words}"
        titles.setdefault(anchor, title.rstrip("= "))
    inline = Inline(titles)
    reader = _Reader(list(_lines(text)), inline)
    title, described = reader.header()
    blocks = "".join(reader.blocks())
    return read_described(title + blocks + inline.told_notes(), described)


def _lines(text: str) -> Iterator[str]:
    for line in map(str.rstrip, text.splitlines()):
        found = _DIRECTIVE.fullmatch(line)
        if found is None:
            yield line
        elif found[1]:
            yield found[1]


class _Reader:
    """Reads the lines of a document, or of a cell.

    Args:
        lines: The lines.
        inline: Writes their text.
    """

    def __init__(self, lines: Sequence[str], inline: Inline) -> None:
        self._left = deque(lines)
        self._inline = inline

    def header(self) -> tuple[str, dict[str, str]]:
        """Read the title, and what stands around it: attributes, authors, version and date."""
        title = ""
        described: dict[str, str] = {}
        while self._left and (self._left[0] or not title):
            line = self._left.popleft()
            if attribute := self._attribute(line):
                described |= attribute
            elif "author" in described and (found := _REVISION.fullmatch(line)):
                described |= found.groupdict("")
            elif title and "author" not in described and _AUTHORS.fullmatch(line):
                authors = _ADDRESS.sub("", line)
                described["author"] = authors.replace("; ", ", ")
            elif line.startswith("////"):
                self._to(line)
            elif not title and (title := self._heading(line)):
                if not title.startswith("<h1>"):
                    break
            elif not _UNSEEN.fullmatch(line):
                self._left.appendleft(line)
                break
        return title, {name: value for name, value in described.items() if value}

    def blocks(self, end: str | None = None) -> Iterator[str]:
        """Yield the blocks up to a line that ends them; None for the last line."""
        while self._left and self._left[0] != end:
            yield self._block(())
        if self._left:
            self._left.popleft()

    def _block(self, around: Kinds) -> str:
        """Read a block, with what stands above it; or a line that is none.

        Args:
            around: The kinds of the lists around it.
        """
        said: dict[str, str] = {}
        title = ""
        while self._left:
            line = self._left.popleft()
            if style := _STYLE.fullmatch(line):
                said |= _said(style[1])
            elif found := _TITLE.fullmatch(line):
                words = self._inline.html(found[1])
                title = f"<p>{words}</p>"
            elif fence := _FENCE.fullmatch(line):
                return title + self._fenced(fence[1] or fence[2], said)
            elif self._attribute(line) is None and not _UNSEEN.fullmatch(line):
                told = self._heading(line) or self._list(line, said, around)
                return title + (told or self._paragraph(line, said, around))
            elif not said:
                break
        return title

    def _attribute(self, line: str) -> dict[str, str] | None:
        """Keep an attribute for the text below; None if a line is none."""
        found = _ATTRIBUTE.fullmatch(line)
        if found is None:
            return None
        before, name, after, value = found.groups("")
        while value.endswith("\\") and self._left:
            following = self._left.popleft().strip()
            value = value.rstrip("+ \\") + f" {following}"
        # As in Asciidoctor; else each of some lines could double the text.
        value = self._inline.with_values(value)[:_MOST_VALUE_CHARS]
        if before or after:
            value = ""
        self._inline.values[name.lower()] = value
        return {name: value}

    def _to(self, end: str) -> list[str]:
        """Take the lines up to this one."""
        lines: list[str] = []
        while self._left and (line := self._left.popleft()) != end:
            lines.append(line)
        return lines

    def _next(self, *, skips_styles: bool = False) -> str:
        """Return the next line that is not empty; and no style, if so."""
        lines: Iterator[str] = filter(None, self._left)
        if skips_styles:
            lines = filterfalse(_STYLE.fullmatch, lines)
        return next(lines, "")

    def _drop_empty(self) -> None:
        while self._left and not self._left[0]:
            self._left.popleft()

    def _heading(self, line: str) -> str:
        level = 0
        title = line
        if found := _HEADING.fullmatch(line):
            marks, title = found.groups()
            level = len(marks)
        elif self._is_underlined(line):
            underline = self._left.popleft()
            level = _UNDERLINES.index(underline[0]) + 1
        if not level:
            return ""
        notes = self._inline.told_notes()
        words = self._inline.html(title)
        return f"{notes}<h{level}>{words}</h{level}>"

    def _is_underlined(self, line: str) -> bool:
        underline = self._left[0] if self._left else ""
        if not line[:1].isalnum() or not _UNDERLINE.fullmatch(underline):
            return False
        return abs(len(underline) - len(line)) <= 1

    def _fenced(self, fence: str, said: Said) -> str:
        style = said.get("", "")
        sign = fence[0]
        if sign in SIGNS:
            return table(self._to(fence), sign, said, self._cell)
        if sign == "/" or style == "comment":
            self._to(fence)
            return ""
        if style in _CODE or (sign in "-.`" and fence != "--"):
            return _pre(self._to(fence))
        if sign == "+":
            return "\n".join(self._to(fence))
        inner = "".join(self.blocks(fence))
        if sign != "_" and style != "quote":
            return f"<div>{inner}</div>"
        # Who said it, and where.
        _, _, cited = said.get("all", "").partition(",")
        source = self._inline.html(cited.strip(' "'))
        return f"<blockquote>{inner}</blockquote><p>{source}</p>"

    def _paragraph(self, line: str, said: Said, around: Kinds) -> str:
        lines = [line]
        while self._left and not self._breaks(is_in_list=bool(around)):
            lines.append(self._left.popleft())
        style = said.get("", "")
        if style == "comment":
            return ""
        is_indented = line[0].isspace() and not around
        if is_indented or style in _CODE:
            return _pre(lines)
        text = _RANK.sub("", "\n".join(lines))
        words = self._inline.html(text)
        return f"<p>{words}</p>"

    def _breaks(self, *, is_in_list: bool) -> bool:
        """Whether a paragraph ends before the next line."""
        line = self._left[0]
        if line in ("", "+") or line.startswith("//"):
            return True
        if _STYLE.fullmatch(line) or _FENCE.fullmatch(line):
            return True
        return is_in_list and _item(line)[0] != ""

    def _list(self, line: str, said: Said, around: Kinds) -> str:
        """Read a list; empty if a line is no item."""
        kind, _, _ = _item(line)
        if not kind:
            return ""
        self._left.appendleft(line)
        around = (*around, kind)
        items = "".join(self._items(kind, around))
        if kind[0] in ":;":
            return f"<dl>{items}</dl>"
        if kind[0] in "*-":
            return f"<ul>{items}</ul>"
        numeral = _BY_DEPTH.get(kind, kind)
        numeral = _NUMERALS.get(said.get("", ""), numeral)
        start = said.get("start", "1")
        return f'<ol type="{numeral}" start="{start}">{items}</ol>'

    def _items(self, kind: str, around: Kinds) -> Iterator[str]:
        """Yield the items of a list, with what they have."""
        while _item(self._next())[0] == kind:
            self._drop_empty()
            _, label, text = _item(self._left.popleft())
            lines = [text] if text else []
            while self._left and not self._breaks(is_in_list=True):
                lines.append(self._left.popleft())
            content = self._inline.html("\n".join(lines))
            content += "".join(self._attached(around, has_text=bool(lines)))
            if kind[0] in ":;":
                term = self._inline.html(label)
                yield f"<dt>{term}</dt>"
                if content:
                    yield f"<dd>{content}</dd>"
            else:
                yield f'<li value="{label}">{content}</li>'

    def _attached(self, around: Kinds, *, has_text: bool) -> Iterator[str]:
        """Yield the blocks that belong to an item: those behind a plus, other lists, and what is indented."""
        while self._left:
            following = self._next(skips_styles=True)
            kind, _, _ = _item(following)
            is_text = following.startswith(" ")
            if not has_text:
                is_text = is_text or following[:1].isalnum()
            if self._left[0] == "+":
                self._left.popleft()
            elif kind in around or not (kind or is_text):
                return
            self._drop_empty()
            has_text = True
            yield self._block(around)

    def _cell(self, cell: Cell) -> str:
        if cell.kind != "a":
            return self._inline.html(cell.text)
        lines = cell.text.split("\n")
        return "".join(_Reader(lines, self._inline).blocks())


def _said(text: str) -> dict[str, str]:
    """Return what is said of a block: its style, named attributes, and all of it."""
    said = {"all": text}
    for name, quoted, plain in _NAMED.findall(text):
        said[name] = quoted or plain
    if style := _STYLE_NAME.match(text):
        said[""] = style[0]
    return said


def _pre(lines: Sequence[str]) -> str:
    code = escape("\n".join(lines))
    return f"<pre>\n{code}</pre>"


def _item(line: str) -> tuple[str, str, str]:
    """Return the kind of an item, its number or term, and its text; an empty kind if a line is none."""
    if term := _TERM.fullmatch(line):
        words, kind, text = term.groups("")
        return kind, words, text
    found = _ITEM.fullmatch(line)
    if found is None:
        return "", "", ""
    mark, text = found.groups()
    number = mark.strip("<>.")
    if number.isdecimal() or mark.startswith("<"):
        return "1", number, text
    if number.isalpha():
        return "A" if number.isupper() else "a", "", text
    return mark, "", text
