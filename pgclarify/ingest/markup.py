"""Reads HTML, the only reader of it: also for e-books and mail, and for all that other libraries convert to HTML."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pgclarify.ingest.marks import LABEL, lowered, note_mark, raised
from pgclarify.ingest.numbering import numeral
from pgclarify.ingest.tree import (
    Block,
    Code,
    Heading,
    Item,
    Items,
    Note,
    Paragraph,
    Part,
    Quote,
    Rule,
    Table,
    Term,
    Terms,
    Tree,
)
from pgclarify.ingest.writer import Writer
from pgclarify.language.words import word_set

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import PageElement, Tag
    from typing_extensions import TypeIs

# These elements have no text for people, text that is struck out, or only links to other pages (nav). Of ruby, the
# pronunciation (rt) is left out.
_UNSEEN: Final = word_set("nav script style noscript template svg iframe img input button rt rp rtc title del s strike")
_IN_LAYOUT: Final = re.compile("table|h[1-6]")
_BLOCKS: Final = word_set(
    "[document] html body address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu ol p pre search section summary table"
    " ul"
)
_LISTS: Final = word_set("ul ol menu dir")
_HEADING = re.compile(r"h[1-6]")
_LITERAL: Final = word_set("code kbd samp tt")
_BOLD: Final = word_set("b strong")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# Mail programs also indent what the sender says.
_INDENTED = re.compile(r"border(?:-left)?\s*:\s*(?:none|0)", re.IGNORECASE)
_RAISED = re.compile(r"vertical-align\s*:\s*(super|text-top|sub|text-bottom)\b", re.IGNORECASE)
_RAISED_CLASS = re.compile(r"\.([\w-]+)\s*(?:,[^{}]*)?\{[^{}]*vertical-align\s*:\s*(super|sub)\b", re.IGNORECASE)
_LOW: Final = word_set("sub subscript text-bottom")
_HIGH: Final = word_set("sup super superscript text-top")
_NOTE_CLASS = re.compile(
    r"(?:foot|end|side)?note-?_?(?:ref(?:erence)?|mark|call|anchor|link)|fn-?_?(?:ref|mark|link)|reference|citation",
    re.IGNORECASE,
)
_NOTE_MARK = re.compile(r"[\[(]?(?:\d{1,3}|[a-z]|[*\u2020\u2021\u00a7\u00b6#]{1,3})[\])]?")
_NOTE_TYPES: Final = word_set("doc-footnote doc-endnote footnote endnote rearnote")
# A link from a note back to the text is an arrow, or the mark of the note.
_BACK: Final = word_set("doc-backlink footnote-backref footnote-back")
_MOST_SPAN = 1000
_START = re.compile(r"<(?:t[dh]|li|d[td])[\s>]", re.IGNORECASE)
_END = re.compile(r"</(?:t[dh]|li|d[td])[\s>]", re.IGNORECASE)
# Signs for what the text of a block cannot say: the end of a line, and bold type.
_BREAK = "\v"
_BOLD_START, _BOLD_END = "\x0e", "\x0f"
_SIGNS: Final = str.maketrans("", "", "\v\x0e\x0f")
_LINE_END = re.compile(r"[ \t\r\n]*[\r\n][ \t\r\n]*")
_BLANKS = re.compile(r"[ \t]+")
_BROKEN = re.compile(rf"[ \n]*{_BREAK}[ \n]*")
_LEAD = re.compile(rf"\s*{_BOLD_START}([^{_BOLD_END}]*){_BOLD_END}")
_TICKS = re.compile("`+")
_BLANK_LINES = re.compile(r"\A[ \n]*\n|[ \n]*\Z")


def read_html(html: str, *, trusts_headers: bool = True, is_drawn: bool = False, styles: str = "") -> Tree:
    """Read an HTML page: headings, lists, tables, notes, quotations and code. Of links only the text is kept.

    Exponents and marks of footnotes stay apart from the number before them: 10^2, $3².

    Args:
        html: The page.
        trusts_headers: Whether a first row of <th> is a header; if not, its cells are judged.
        is_drawn: Whether its tables were found by their looks, so that no header is sure.
        styles: CSS of the page that stands elsewhere.

    Raises:
        ImportError: If beautifulsoup4 is not installed.
        RecursionError: If the page is nested too deeply.
    """
    # Slow to import.
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

    with warnings.catch_warnings():
        # The HTML parser reads XHTML well enough.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        # lxml takes a third of the time, and the other one reads pages of any depth.
        parser = "lxml" if is_drawn or _omits_end_tags(html) else "html.parser"
        soup = BeautifulSoup(html.translate(_SIGNS), parser)
    title = " ".join(soup.title.get_text().split()) if soup.title else None
    author = soup.find("meta", attrs={"name": "author"})
    if not is_drawn:
        # What is drawn is seen; this takes time.
        styles = "\n".join([styles, *(style.get_text() for style in soup("style"))])
    metadata = {"author": str(author.get("content", ""))} if author is not None else {}
    _remove_unseen(soup, is_drawn=is_drawn)
    _write_marks(soup, {name: kind.lower() for name, kind in _RAISED_CLASS.findall(styles)})
    # Tables in cells come first, so that a table for the layout of the page is known by them.
    for table in soup("table"):
        if table.find(_IN_LAYOUT) is not None:
            _unwrap(table)
    reader = _Reader(soup, partial(_table, trusts_headers=trusts_headers and not is_drawn, is_drawn=is_drawn))
    return Tree(title or None, (Part(tuple(reader.blocks(soup))),), metadata)


def read_described(html: str, described: Mapping[str, Any]) -> Tree:
    """Read a page that another format was converted to, with what the source says about itself."""
    metadata = dict(described)
    title = metadata.pop("title", None)
    # It may have tags.
    told = text_of_html(title) if isinstance(title, str) else ""
    return replace(read_html(html), title=told or None, metadata=metadata)


def text_of_html(html: str) -> str:
    """Return the text of a page, or of a part of one."""
    return Writer().text(read_html(html).parts[0].blocks)


class _Reader:
    """Makes blocks of elements.

    Args:
        soup: The page.
        table: Makes a block of a table.
    """

    def __init__(self, soup: BeautifulSoup, table: partial[Table]) -> None:
        self._table = table
        # An element that is a part of a line, such as a link, may contain blocks; then it is no part of a line.
        self._around: set[int] = set()
        for element in soup(list(_BLOCKS)):
            for parent in element.parents:
                if id(parent) in self._around:
                    break
                self._around.add(id(parent))

    def blocks(self, element: Tag, *, is_line: bool = True) -> Iterator[Block]:
        """Yield the blocks of what stands in an element."""
        line: list[str] = []
        for child in element.children:
            if _is_tag(child) and not self._is_inline(child):
                yield from _paragraph(line, is_line=is_line)
                line = []
                yield from self._block(child)
            else:
                line.append(_inline(child))
        yield from _paragraph(line, is_line=is_line)

    def _is_inline(self, child: Tag) -> bool:
        return child.name not in _BLOCKS and id(child) not in self._around

    def _block(self, element: Tag) -> Iterator[Block]:
        name = element.name
        if _HEADING.fullmatch(name):
            yield Heading(int(name[1]), _one_line(_inline(element)))
        elif name == "pre":
            yield Code(_BLANK_LINES.sub("", _verbatim(element)))
        elif name == "hr":
            yield Rule()
        elif name == "table":
            yield self._table(element)
        elif name in _LISTS:
            yield Items(tuple(self._items(element)))
        elif name == "dl":
            yield Terms(tuple(self._terms(element)))
        elif name == "blockquote" and not _INDENTED.search(str(element.get("style", ""))):
            yield Quote(tuple(self.blocks(element)))
        elif _types(element) & _NOTE_TYPES:
            yield from self._note(element)
        else:
            yield from self.blocks(element, is_line=name not in ("p", "figcaption"))

    def _items(self, element: Tag) -> Iterator[Item]:
        start = str(element.get("start", ""))
        number = int(start) if start.lstrip("-").isdecimal() else 1
        blocks: list[Block] = []
        mark = ""
        for child in filter(_is_tag, element.children):
            if child.name != "li":
                # A list that should stand in the item before it.
                blocks.extend(self._block(child) if not self._is_inline(child) else _paragraph([_inline(child)]))
                continue
            if blocks:
                yield Item(tuple(blocks), mark)
            value = str(child.get("value", ""))
            number = int(value) if value.isdecimal() else number
            mark = f"{numeral(number, str(element.get('type', '1')))}." if element.name == "ol" else ""
            number += 1
            label = LABEL.match(child.get_text().lstrip())
            if label and (own := child.find(string=LABEL)):
                mark = label[1]
                own.replace_with(LABEL.sub("", own, count=1))
            blocks = list(self.blocks(child))
        if blocks:
            yield Item(tuple(blocks), mark)

    def _terms(self, element: Tag) -> Iterator[Term]:
        text = ""
        meanings: list[tuple[Block, ...]] = []
        for child in element.find_all(["dt", "dd"]):
            if child.find_parent("dl") is not element:
                continue
            if child.name == "dd":
                meanings.append(tuple(self.blocks(child)))
                continue
            if text or meanings:
                yield Term(text, tuple(meanings))
            text, meanings = _one_line(_inline(child)), []
        yield Term(text, tuple(meanings))

    def _note(self, element: Tag) -> Iterator[Block]:
        blocks = list(self.blocks(element))
        match blocks:
            case [Paragraph(mark, is_line=True), *others] if _NOTE_MARK.fullmatch(mark):
                yield Note(mark, tuple(others))
            case _:
                yield from blocks


def _is_tag(node: PageElement) -> TypeIs[Tag]:
    return getattr(node, "name", None) is not None


def _paragraph(line: Sequence[str], *, is_line: bool = True) -> Iterator[Paragraph]:
    text = _BLANKS.sub(" ", _LINE_END.sub("\n", "".join(line)))
    text = _BROKEN.sub("  \n", text).strip()
    if not text:
        return
    found = None if is_line else _LEAD.match(text)
    is_lead = found is not None and text[found.end() :].strip() != ""
    lead = " ".join(found[1].split()) if found and is_lead else ""
    yield Paragraph(_without_signs(text).strip(), lead, is_line)


def _without_signs(text: str) -> str:
    return LABEL.sub(r"\1 ", text.translate(_SIGNS))


def _one_line(text: str) -> str:
    return " ".join(_without_signs(text.replace(_BREAK, " ")).split())


def _inline(node: PageElement) -> str:
    """Return a part of a line, with signs."""
    from bs4.element import PreformattedString

    if not _is_tag(node):
        # Comments and declarations are no text.
        return "" if isinstance(node, PreformattedString) else str(node)
    if node.name == "br":
        return f"{_BREAK}{''.join(map(_inline, node.children))}"
    text = "".join(map(_inline, node.children))
    if node.name in _LITERAL and text.strip() and node.find_parent(_LITERAL) is None:
        return _literal(text)
    if node.name in _BOLD and text.strip():
        inner = text.replace(_BOLD_START, "").replace(_BOLD_END, "")
        return f"{_BOLD_START}{inner}{_BOLD_END}"
    return f'"{text}"' if node.name == "q" else text


def _literal(text: str) -> str:
    """Write code in a line, between more backticks than it has."""
    inner = text.strip()
    if "`" in inner:
        ticks = f"{max(_TICKS.findall(inner), key=len)}`"
        return text.replace(inner, f"{ticks} {inner} {ticks}")
    return text.replace(inner, f"`{inner}`")


def _verbatim(node: PageElement) -> str:
    if not _is_tag(node):
        return str(node)
    return "\n" if node.name == "br" else "".join(map(_verbatim, node.children))


def _remove_unseen(soup: BeautifulSoup, *, is_drawn: bool) -> None:
    for element in soup(list(_UNSEEN)):
        element.decompose()
    if is_drawn:
        return
    for element in soup.find_all(style=_HIDDEN) + soup.find_all(hidden=True):
        element.decompose()
    for element in soup("a"):
        if (_types(element) | _classes(element)) & _BACK and not any(map(str.isalnum, element.get_text())):
            element.decompose()


def _write_marks(soup: BeautifulSoup, classes: dict[str, str]) -> None:
    """Write superscripts, subscripts and marks of notes as characters, so that they are no part of a number."""
    for element in soup(["sup", "sub", "a", "span"]):
        if not element.parent:
            # It was in another one.
            continue
        text = element.get_text()
        before = element.find_previous(string=True)
        told = str(before) if before is not None else ""
        kind = _height(element, classes)
        if _is_note(element, text, told, is_high=kind == "sup"):
            element.replace_with(note_mark(text))
        elif kind:
            element.replace_with(raised(text, told) if kind == "sup" else lowered(text))
    soup.smooth()


def _height(element: Tag, classes: dict[str, str]) -> str:
    """Return "sup" or "sub" for what stands higher or lower than the line."""
    names = _classes(element) | {element.name}
    names |= {classes[name] for name in names if name in classes}
    if found := _RAISED.search(str(element.get("style", ""))):
        names.add(found[1].lower())
    if names & _HIGH:
        return "sup"
    return "sub" if names & _LOW else ""


def _is_note(element: Tag, text: str, before: str, *, is_high: bool) -> bool:
    if {"doc-noteref", "noteref"} & _types(element):
        return True
    if not _NOTE_MARK.fullmatch(text.strip()):
        return False
    link = element if element.name == "a" else element.find("a")
    address = str(link.get("href", "")) if link is not None else ""
    if is_high and address.startswith("#"):
        return True
    # Beside a word or number.
    if not is_high and before[-1:].isspace():
        return False
    return any(map(_NOTE_CLASS.fullmatch, _classes(element)))


def _classes(element: Tag) -> set[str]:
    found = element.get("class") or ()
    return set(found.split() if isinstance(found, str) else found)


def _types(element: Tag) -> set[str]:
    return set(f"{element.get('role', '')} {element.get('epub:type', '')}".split())


def _omits_end_tags(html: str) -> bool:
    """Whether cells or items do not say where they end, which HTML allows, and the default parser does not know."""
    return len(_START.findall(html)) > len(_END.findall(html))


def _unwrap(table: Tag) -> None:
    """Make paragraphs of the cells of a table that is only there for the layout."""
    for element in table.find_all(["tr", "td", "th", "tbody", "thead", "tfoot"], recursive=True):
        if element.find_parent("table") is table:
            element.name = "div"
    table.name = "div"


def _table(element: Tag, *, trusts_headers: bool, is_drawn: bool) -> Table:
    cells, header_rows = _cells(element)
    caption = element.caption.get_text(" ", strip=True) if element.caption else ""
    rows = tuple(map(tuple, cells))
    return Table(rows, caption, header_rows if trusts_headers else None, is_drawn)


def _cells(table: Tag) -> tuple[list[list[str]], int | None]:
    """Return the cells of a table, merged ones repeated, and the number of headers; None if it is unknown."""
    grid: list[list[str]] = []
    header_rows = 0
    # For each column, the text of a cell that goes on below, and for how many rows.
    open_cells: dict[int, tuple[str, int]] = {}
    for element in table(["br", "p", "div", "li"]):
        # The words before and after it are apart.
        element.append(" ")
    for row in table("tr"):
        parts = row.find_all(["td", "th"], recursive=False)
        if not parts:
            continue
        texts: list[str] = []
        later: dict[int, tuple[str, int]] = {}
        for column, text, rows in _placed(parts, open_cells):
            texts.append(text)
            if rows > 1:
                later[column] = (text, rows - 1)
        open_cells = later
        is_header = all(part.name == "th" for part in parts) or row.find_parent("thead") is not None
        if is_header and header_rows == len(grid):
            header_rows += 1
        grid.append(texts)
    return grid, header_rows if 0 < header_rows < len(grid) else None


def _placed(parts: Sequence[Tag], open_cells: dict[int, tuple[str, int]]) -> Iterator[tuple[int, str, int]]:
    """Yield column, text and number of rows of the cells of a row, with those that go on from above."""
    column = 0
    for part in parts:
        while column in open_cells:
            yield column, *open_cells[column]
            column += 1
        text = part.get_text()
        for _ in range(_span(part, "colspan")):
            yield column, text, _span(part, "rowspan")
            column += 1
    while column in open_cells:
        yield column, *open_cells[column]
        column += 1


def _span(part: Tag, name: str) -> int:
    value = str(part.get(name, "1"))
    return min(max(int(value), 1), _MOST_SPAN) if value.isdecimal() else 1
