"""Reads AsciiDoc as HTML, by xberg. What that library leaves in the text as markup is replaced before."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from html import unescape
from typing import Final

from pgclarify.ingest.extraction import extract
from pgclarify.ingest.marks import lowered, note_mark, raised
from pgclarify.ingest.markup import read_described
from pgclarify.ingest.parsed import Parsed

# The lines before and after a block whose lines are shown as they are, or not at all.
_FENCE = re.compile(r"(-{4,}|\.{4,}|`{3,}|\+{4,}|/{4,})\w*[ \t]*")
_UNSEEN: Final = ("/", "+")
_TABLE = "|==="
_OPEN_BLOCK = "--"
_PAGE_BREAK = "<<<"
_ATTRIBUTE = re.compile(r":([A-Za-z][\w-]*):[ \t]*(.*?)[ \t]*")
_BLOCK_TITLE = re.compile(r"\.([^\s.].*)")
_BLOCK_LINE = re.compile(r"\[.*\][ \t]*")
# Pictures, other files, and conditions, which depend on who builds the pages: the text of each is kept.
_BLOCK_MACRO = re.compile(
    r"(?:audio|endif|ifdef|ifeval|ifndef|image|include|toc|video)::[^\[\n]*\[.*\][ \t]*|//(?!/).*"
)
_PICTURE = re.compile(r"\b(?:image|icon)::?[^\s:\[](?:[^\[\n]*[^\s\[])?\[[^\]\n]*\]")
# Terms of the index, of which those in two parentheses are seen; and anchors.
_INDEX_TERM = re.compile(
    r"\(\(\(.*?\)\)\)|\bindexterm:\[[^\]\n]*\]|\[\[[\w:.-]+(?:,[^\]\n]*)?\]\]|\banchor:\S+?\[[^\]\n]*\]"
)
_SEEN_TERM = re.compile(r"\(\(([^()\n]+)\)\)|\bindexterm2:\[([^\]\n]*)\]")
_FOOTNOTE = re.compile(r"footnote:(?:[\w-]+)?\[([^\]\n]*)\]")
_HIGH = re.compile(r"\^(\S+?)\^")
_LOW = re.compile(r"~(\S+?)~")
_PASSED = re.compile(r"(?<!\w)(\+{1,3}|\$\$)(?=\S)([^+\n]*?\S)\1(?!\w)")
# Of code in a line, nothing is replaced.
_CODE = re.compile(r"(`+[^`\n]+`+)")
# What begins with these ends in a later line.
_OPEN = re.compile(
    r"(?:(?:\b(?:link|xref|indexterm2?|https?)|footnote)(?::[^\s\[]*)?:?\[[^\]]*|<<[^<>\s][^<>]*|\(\(\((?:(?!\)\)\)).)*)\Z"
)
_MOST_OPEN_LINES: Final = 4
_HEADING = re.compile(r"(={1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?")
# The lines below titles of the older form, by their level.
_UNDERLINES: Final = "=-~^+"
_UNDERLINE = re.compile(r"([=\-~^+])\1{2,}")
_LINK = re.compile(
    r"(?:\b(?:link|mailto|xref):(?:\+\+)?|(?=\bhttps?://|\{[\w-]+\}))([^\s\[\]]+?)(?:\+\+)?\[([^\]\n]*)\]"
)
_REFERENCE = re.compile(r"<<([^,<>\n]+)(?:,([^<>\n]+))?>>")
_MENU = re.compile(r"\bmenu:([^\s\[]+)\[([^\]\n]*)\]")
_WRAPPED = re.compile(r"\b(?:btn|kbd|latexmath|pass|stem):(?:[\w-]+)?\[([^\]\n]*)\]")
# Of a link: the mark that opens a new window, and attributes.
_AFTER_TEXT = re.compile(r"\^?(?:,[ \t]*[\w-]+=.*)?$")
# How a cell is laid out, such as `2+^a|`.
_CELL = re.compile(r"(?:(?<=\s)|^)(?:(?:\d+)?(?:\.\d+)?[+*])?(?:\.?[<^>])*[adehlmsv]?\|")
_BEFORE_CODE = re.compile(r"\|[ \t]*\[\w[^\]]*\]$")
# The kind of a warning, where it has no title of its own.
_KIND = re.compile(r'<p class="markdown-alert-title">[^<]*</p>')
_VALUE = re.compile(r"\{([A-Za-z][\w-]*)\}")
# Of a list of terms and what they mean.
_TERM = re.compile(r"([^\s|].{0,98}[^\s:;])(?::{2,4}|;;)(?:[ \t]+(.*))?")
_SPAN = re.compile(r"\[[\w.%#-]+\](#{1,2})(?=\S)(.+?)\1")
_QUOTE = re.compile(r"(?<=[\"'])`|`(?=[\"'])")
_LINE_END = re.compile(r"[ \t]\+[ \t]*$")
_BUILT_IN: Final = {"amp": "&", "apos": "'", "gt": ">", "lt": "<", "nbsp": " ", "quot": '"', "sp": " ", "vbar": "|"}
_BUILT_IN.update(asterisk="*", cpp="C++", empty="", plus="+")
# What is left out, and what is kept of the others.
_REPLACED: Final = (
    (_QUOTE, ""),
    (_PICTURE, ""),
    (_INDEX_TERM, ""),
    (_SEEN_TERM, r"\1\2"),
    (_MENU, r"\1 > \2"),
    (_WRAPPED, r" \1"),
    (_SPAN, r"\2"),
    (_LINE_END, ""),
)


def read_asciidoc(text: str) -> Parsed:
    """Read AsciiDoc; the attributes at its beginning describe it.

    Args:
        text: The source. No file is read that it names.

    Raises:
        ImportError: If the extra "files" is not installed.
        RuntimeError: If it cannot be read.
    """
    source = _Source(text)
    lines = [*source.lines(), *source.told_notes()]
    html = extract("\n".join(lines).encode(), ".adoc").html
    return read_described(_KIND.sub("", html), source.header)


class _Source:
    """Reads lines.

    Attributes:
        header: The attributes at the beginning, which describe the document.
    """

    def __init__(self, text: str) -> None:
        self.header: dict[str, str] = {}
        self._left = deque(map(str.rstrip, text.splitlines()))
        self._attributes: dict[str, str] = {}
        self._notes: list[str] = []

    def lines(self) -> Iterator[str]:
        """Yield the lines as the library reads them. Attributes and notes are kept."""
        # The end of the block that is shown as it is, or not at all.
        end = ""
        is_header, is_table, is_code = True, False, False
        before = ""
        while self._left:
            line, above = self._left.popleft(), before
            before = line
            fence = _FENCE.fullmatch(line)
            if end:
                if end[0] not in _UNSEEN:
                    yield _fence_of(end) if line == end else line
                end = "" if line == end else end
            elif is_table and line != _TABLE:
                is_text = not (fence or _BLOCK_LINE.fullmatch(line) or _BLOCK_MACRO.fullmatch(line))
                if is_text and line != _OPEN_BLOCK:
                    yield self._seen(_BEFORE_CODE.sub("|", _CELL.sub("|", self._whole(line))))
            elif fence or (is_code and line == _OPEN_BLOCK):
                end = fence[1] if fence else _OPEN_BLOCK
                is_header = is_code = False
                if end[0] not in _UNSEEN:
                    yield _fence_of(end)
            elif attribute := _ATTRIBUTE.fullmatch(line):
                name, value = attribute[1], self._with_values(attribute[2])
                self._attributes[name] = value
                if is_header and value:
                    self.header[name] = value
            elif line == _TABLE:
                is_header, is_table = False, not is_table
                yield line
            elif line not in (_OPEN_BLOCK, _PAGE_BREAK) and not _BLOCK_MACRO.fullmatch(line):
                # The header is the title and the attributes around it.
                is_header = is_header and (not line or line.startswith(("= ", "[")))
                is_code = line.startswith(("[source", "[listing"))
                line = self._whole(line)
                if heading := self._heading(line, above):
                    yield from (*self.told_notes(), "", self._seen(heading), "")
                    before = ""
                else:
                    yield from map(self._seen, _said(line))

    def told_notes(self) -> Iterator[str]:
        """Yield the notes that were not told. Their places stay, because the numbers go on."""
        for number, note in enumerate(self._notes, start=1):
            if note:
                yield ""
                yield f"[{number}] {note}"
        self._notes = [""] * len(self._notes)

    def _whole(self, line: str) -> str:
        """Join a line with the next ones if a link, a note or the like goes on there."""
        for _ in range(_MOST_OPEN_LINES):
            if self._left and self._left[0] and _OPEN.search(line):
                line = f"{line} {self._left.popleft().strip()}"
        return line

    def _heading(self, line: str, above: str) -> str:
        """Return a heading with its marks; empty if a line is none."""
        if found := _HEADING.fullmatch(line):
            return f"{found[1]} {found[2]}"
        underline = self._left[0] if self._left else ""
        if above or not line[:1].isalnum() or not _UNDERLINE.fullmatch(underline):
            return ""
        if abs(len(underline) - len(line)) > 1:
            return ""
        level = _UNDERLINES.index(self._left.popleft()[0]) + 1
        return f"{'=' * level} {line}"

    def _seen(self, line: str) -> str:
        """Return a line as people see it."""
        line = self._with_values(line)
        for pattern, replacement in _REPLACED:
            line = pattern.sub(replacement, line)
        line = _FOOTNOTE.sub(self._noted, line)
        line = _LINK.sub(_text_of_link, line)
        line = _REFERENCE.sub(lambda found: (found[2] or _words_of(found[1])).strip(), line)
        parts = [part if part.startswith("`") else _with_marks(part) for part in _CODE.split(line)]
        line = "".join(parts)
        return "" if line.strip() == "+" else unescape(line)

    def _noted(self, note: re.Match[str]) -> str:
        if not note[1]:
            # The same note again.
            return ""
        self._notes.append(note[1])
        return note_mark(str(len(self._notes)))

    def _with_values(self, text: str) -> str:
        values = _BUILT_IN | self._attributes
        return _VALUE.sub(lambda found: values.get(found[1], found[0]), text)


def _fence_of(end: str) -> str:
    """Return a fence that xberg knows."""
    return "----" if end.startswith((_OPEN_BLOCK, "`")) else end


def _said(line: str) -> tuple[str, ...]:
    """Return a line; a title of a block, and a term, stand apart."""
    if title := _BLOCK_TITLE.fullmatch(line):
        return "", title[1], ""
    term = _TERM.fullmatch(line)
    if term is None:
        return (line,)
    # A question stands above its answer.
    if term[1].endswith("?"):
        return "", term[1], "", term[2] or ""
    return "", f"{term[1]}: {term[2] or ''}"


def _with_marks(text: str) -> str:
    text = _PASSED.sub(r"\2", text)
    text = _HIGH.sub(lambda found: raised(found[1], found.string[: found.start()]), text)
    return _LOW.sub(lambda found: lowered(found[1]), text)


def _text_of_link(link: re.Match[str]) -> str:
    target = link[1]
    text = _AFTER_TEXT.sub("", link[2].strip()).strip(' "')
    if text:
        return text
    return target if "://" in target or "@" in target else _words_of(target)


def _words_of(target: str) -> str:
    """Name a place by its anchor, or by its file: that is what a reader without the other file can know."""
    file, _, anchor = target.partition("#")
    name = (anchor or file).rpartition("/")[2]
    return re.sub(r"[-_]+", " ", name.removesuffix(".adoc")).strip()
