"""Reads AsciiDoc as HTML, by xberg. What that library leaves in the text as markup is replaced before."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Final

from pgclarify.ingest.extraction import extract
from pgclarify.ingest.marks import lowered, note_mark, raised
from pgclarify.ingest.markup import read_described
from pgclarify.ingest.tree import Tree

# The lines before and after a block whose lines are shown as they are, or not at all.
_FENCE = re.compile(r"(-{4,}|\.{4,}|`{3,}|\+{4,}|/{4,})\w*[ \t]*")
_UNSEEN: Final = ("/", "+")
_TABLE, _OPEN_BLOCK, _PAGE_BREAK = "|===", "--", "<<<"
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
_HIGH, _LOW = re.compile(r"\^(\S+?)\^"), re.compile(r"~(\S+?)~")
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
_LEAST_UNDERLINE: Final = 3
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
_BUILT_IN: Final[Mapping[str, str]] = {
    "amp": "&", "apos": "'", "asterisk": "*", "cpp": "C++", "empty": "", "gt": ">", "lt": "<", "nbsp": " ", "plus": "+",
    "quot": '"', "sp": " ", "vbar": "|",
}  # fmt: skip


def read_asciidoc(text: str) -> Tree:
    """Read AsciiDoc; the attributes at its beginning describe it.

    Args:
        text: The source. No file is read that it names.

    Raises:
        ImportError: If the extra "files" is not installed.
        RuntimeError: If it cannot be read.
    """
    attributes: dict[str, str] = {}
    header: dict[str, str] = {}
    notes: list[str] = []
    lines = [*_lines(deque(map(str.rstrip, text.splitlines())), attributes, header, notes), *_told(notes)]
    html = extract("\n".join(lines).encode(), ".adoc").html
    return read_described(_KIND.sub("", html), header)


def _lines(source: deque[str], attributes: dict[str, str], header: dict[str, str], notes: list[str]) -> Iterator[str]:
    """Yield the lines to read. Attributes are noted, all of them and those of the header; and notes below the text."""
    # The end of the block that is shown as it is, or not at all.
    end = ""
    is_header, is_table, is_code = True, False, False
    before = ""
    while source:
        line, above = source.popleft(), before
        before = line
        if end:
            is_end = line == end
            if end[0] not in _UNSEEN:
                yield _fence_of(end) if is_end else line
            end = "" if is_end else end
        elif is_table and line != _TABLE:
            if line != _OPEN_BLOCK and not any(one.fullmatch(line) for one in (_FENCE, _BLOCK_LINE, _BLOCK_MACRO)):
                yield _as_seen(_BEFORE_CODE.sub("|", _CELL.sub("|", _whole(line, source))), attributes, notes)
        elif (found := _FENCE.fullmatch(line)) or (is_code and line == _OPEN_BLOCK):
            end, is_header, is_code = found[1] if found else _OPEN_BLOCK, False, False
            if end[0] not in _UNSEEN:
                yield _fence_of(end)
        elif attribute := _ATTRIBUTE.fullmatch(line):
            attributes[attribute[1]] = _with_values(attribute[2], attributes)
            if is_header and attribute[2]:
                header[attribute[1]] = attributes[attribute[1]]
        elif line == _TABLE:
            is_header, is_table = False, not is_table
            yield line
        elif line not in (_OPEN_BLOCK, _PAGE_BREAK) and not _BLOCK_MACRO.fullmatch(line):
            # The header is the title and the attributes around it.
            is_header = is_header and (not line or line.startswith(("= ", "[")))
            is_code = line.startswith(("[source", "[listing"))
            line = _whole(line, source)
            if title := _BLOCK_TITLE.fullmatch(line):
                yield from ("", _as_seen(title[1], attributes, notes), "")
            elif heading := _heading_of(line, above, source):
                yield from (*_told(notes), "", _as_seen(heading, attributes, notes), "")
                before = ""
            elif term := _TERM.fullmatch(line):
                # A question stands above its answer.
                said = (term[1], "", term[2] or "") if term[1].endswith("?") else (f"{term[1]}: {term[2] or ''}",)
                yield from ("", *(_as_seen(one, attributes, notes) for one in said))
            else:
                yield _as_seen(line, attributes, notes)


def _fence_of(end: str) -> str:
    """Return a fence that xberg knows."""
    return "----" if end == _OPEN_BLOCK or end.startswith("`") else end


def _whole(line: str, source: deque[str]) -> str:
    """Join a line with the next ones if a link, a note or the like goes on there."""
    for _ in range(_MOST_OPEN_LINES):
        if not source or not source[0] or not _OPEN.search(line):
            break
        line = f"{line} {source.popleft().strip()}"
    return line


def _heading_of(line: str, above: str, source: deque[str]) -> str:
    """Return a heading with its marks; empty if a line is none."""
    if found := _HEADING.fullmatch(line):
        return f"{found[1]} {found[2]}"
    underline = source[0] if source and line and not above else ""
    is_underlined = (
        len(underline) >= _LEAST_UNDERLINE
        and underline[0] in _UNDERLINES
        and underline.count(underline[0]) == len(underline)
        and abs(len(underline) - len(line)) <= 1
        and line[0].isalnum()
    )
    return f"{'=' * (_UNDERLINES.index(source.popleft()[0]) + 1)} {line}" if is_underlined else ""


def _told(notes: list[str]) -> Iterator[str]:
    """Yield the notes that were not told. Their places stay, because the numbers go on."""
    for number, note in enumerate(notes):
        if note:
            yield from ("", f"[{number + 1}] {note}")
            notes[number] = ""


def _noted(text: str, notes: list[str]) -> str:
    if not text:
        # The same note again.
        return ""
    notes.append(text)
    return note_mark(str(len(notes)))


def _as_seen(line: str, attributes: Mapping[str, str], notes: list[str]) -> str:
    line = _PICTURE.sub("", _QUOTE.sub("", _with_values(line, attributes)))
    line = _SEEN_TERM.sub(lambda found: found[1] or found[2], _INDEX_TERM.sub("", line))
    line = _FOOTNOTE.sub(lambda found: _noted(found[1], notes), line)
    line = _LINK.sub(lambda found: _text_of_link(found[1], found[2]), line)
    line = _REFERENCE.sub(lambda found: found[2].strip() if found[2] else _words_of(found[1]), line)
    line = _WRAPPED.sub(r" \1", _MENU.sub(r"\1 > \2", line))
    line = _SPAN.sub(r"\2", line)
    line = "".join(part if part.startswith("`") else _with_marks(part) for part in _CODE.split(line))
    return "" if line.strip() == "+" else unescape(_LINE_END.sub("", line))


def _with_marks(text: str) -> str:
    text = _PASSED.sub(r"\2", text)
    text = _HIGH.sub(lambda found: raised(found[1], text[: found.start()]), text)
    return _LOW.sub(lambda found: lowered(found[1]), text)


def _with_values(text: str, attributes: Mapping[str, str]) -> str:
    return _VALUE.sub(lambda found: attributes.get(found[1], _BUILT_IN.get(found[1], found[0])), text)


def _text_of_link(target: str, text: str) -> str:
    told = _AFTER_TEXT.sub("", text.strip()).strip().strip('"')
    return told or (target if "://" in target or "@" in target else _words_of(target))


def _words_of(target: str) -> str:
    """Name a place by its anchor, or by its file: that is what a reader without the other file can know."""
    name = target.rpartition("#")[2] or target.rpartition("#")[0]
    return re.sub(r"[-_]+", " ", name.rpartition("/")[2].removesuffix(".adoc")).strip()
