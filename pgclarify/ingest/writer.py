"""Writes the tree of a page, which all formats become, as Markdown in which each row of a table names its columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from textwrap import indent
from typing import Final, TypeAlias

from bs4 import BeautifulSoup
from bs4.element import Tag
from markdownify import MarkdownConverter, strip_pre

from pgclarify.ingest.grids import Columns, table_lines
from pgclarify.ingest.marks import LABEL, NOTE_MARK
from pgclarify.language.foreign_text import storable

# Mail programs also indent what the sender says.
_INDENTED = re.compile(r"border(?:-left)?\s*:\s*(?:none|0)", re.IGNORECASE)
_MOST_TITLE_CHARS: Final = 80
# After a break, or a sentence, number or price.
_NEW_SENTENCE: Final = re.compile(r"  \n|\s+(?:[$€£¥]?\d|[A-ZÀ-ÖØ-Þ][\w'’]*(?:[\s.,]|\Z))")  # noqa: RUF001
_LEAST_WORDS: Final = 2
# Of a note.
_NAME: Final = re.compile(r"\[[^\]\n]{1,40}\]")
_TICKS: Final = re.compile("`{3,}")
_MOST_SPAN: Final = 1000
# Signs around bold words, which are no text.
_BOLD_START, _BOLD_END = "\x0e", "\x0f"
SIGNS: Final = str.maketrans("", "", _BOLD_START + _BOLD_END)
_LEAD = re.compile(rf"\s*{_BOLD_START}([^{_BOLD_END}]*){_BOLD_END}(?=.*\S)", re.DOTALL)
_BLANKS = re.compile(r"(?<=\S) {2,}(?=\S)")
_BLANK_LINES = re.compile(r"\n(?: *\n){2,}")
Around: TypeAlias = Collection[str]
"""The names of the elements around one."""


class Writer(MarkdownConverter):  # type: ignore[misc]
    """Writes the parts of a document, one after the other: a table may go on in the next part.

    Args:
        marks_quotes: Whether lines of quotations begin with ">".
        trusts_headers: Whether a first row of <th> is a header; if not, its cells are judged.
        is_drawn: Whether tables were found by their looks, so that no header is sure.
    """

    def __init__(self, *, marks_quotes: bool = False, trusts_headers: bool = True, is_drawn: bool = False) -> None:
        # No escapes and link targets, because a quote of the page has to be in the text.
        super().__init__(heading_style="atx", escape_asterisks=False, escape_underscores=False, strip=["a", "em", "i"])
        self.is_drawn = is_drawn
        self._marks_quotes = marks_quotes
        self._trusts_headers = trusts_headers and not is_drawn
        # Of the last table.
        self._columns: Columns | None = None

    def text(self, soup: BeautifulSoup) -> str:
        """Write the page of a part, of which the tables are changed."""
        above = self._columns if self.is_drawn else None
        self._columns = None
        for table in soup("table"):
            cells, header_rows = _cells(table)
            if self.is_drawn:
                _free_sentences(table, cells)
            lines, self._columns = table_lines(
                cells,
                header_rows=header_rows if self._trusts_headers else None,
                is_drawn=self.is_drawn,
                before=above,
            )
            above = None
            written = [line.text for line in lines]
            if table.caption:
                written.insert(0, table.caption.get_text(" ", strip=True))
            table.string = "\n".join(filter(None, written))
        text = _BLANK_LINES.sub("\n\n", self.convert_soup(soup))
        text = LABEL.sub(r"\1 ", text.translate(SIGNS))
        return storable(text.strip())

    def convert_b(self, element: Tag, text: str, parent_tags: Around) -> str:
        """Put signs around bold words, but not around blocks."""
        if "_noformat" in parent_tags or "\n\n" in text or not text.strip():
            return text
        words = text.translate(SIGNS)
        return f"{_BOLD_START}{words}{_BOLD_END}"

    convert_strong = convert_b

    def convert_p(self, element: Tag, text: str, parent_tags: Around) -> str:
        """Make a paragraph of the bold words at its beginning if they are its title, no part of its first sentence."""
        text = _titled(_BLANKS.sub(" ", text))
        written: str = super().convert_p(element, text, parent_tags)
        return written

    def convert_hN(self, level: int, element: Tag, text: str, parent_tags: Around) -> str:  # noqa: N802
        """Write a heading, if it has text."""
        words = " ".join(text.split())
        heading: str = super().convert_hN(level, element, words, parent_tags)
        return heading if words else ""

    def convert_ul(self, element: Tag, text: str, parent_tags: Around) -> str:
        """Write a list. What follows in the item around it stands apart."""
        items = self.convert_list(element, text, parent_tags)
        return f"{items}\n\n"

    convert_ol = convert_ul

    def convert_pre(self, element: Tag, text: str, parent_tags: Around) -> str:
        """Write code between more backticks than it has."""
        code = strip_pre(text)
        longest = max(_TICKS.findall(code), key=len, default="``")
        ticks = f"{longest}`"
        return f"\n\n{ticks}\n{code}\n{ticks}\n\n" if code else ""

    def convert_blockquote(self, element: Tag, text: str, parent_tags: Around) -> str:
        """Write what someone else said."""
        style = str(element.get("style", ""))
        write = self.convert_div
        if self._marks_quotes and not _INDENTED.search(style):
            write = super().convert_blockquote
        written = write(element, text, parent_tags)
        return f"\n{written}"

    def convert_aside(self, element: Tag, text: str, parent_tags: Around) -> str:
        """Write a note behind its mark."""
        mark, _, note = text.strip().partition("\n\n")
        if NOTE_MARK.fullmatch(mark) or _NAME.fullmatch(mark):
            text = f"{mark} {note}"
        written: str = self.convert_div(element, text, parent_tags)
        return written

    def convert_li(self, element: Tag, text: str, parent_tags: Around) -> str:
        """Write an item behind its number, which may be in its text."""
        text = _titled(text.strip())
        label = LABEL.match(text.removeprefix(_BOLD_START))
        mark = element.get("mark")
        if label:
            mark = label[1]
            text = LABEL.sub("", text, count=1).strip()
        if mark and text:
            blanks = " " * (len(mark) + 1)
            lines = indent(text, blanks).lstrip()
            return f"{mark} {lines}\n"
        written: str = super().convert_li(element, text, parent_tags)
        return written


def _titled(text: str) -> str:
    """Make a paragraph of bold words at the beginning, if they are a title."""
    found = _LEAD.match(text)
    if found is None:
        return text
    lead = " ".join(found[1].split())
    rest = text[found.end() :].translate(SIGNS)
    words = LABEL.sub("", lead)
    is_question = words.endswith("?") and rest.lstrip()[:1].isalnum()
    begins_anew = is_question or _NEW_SENTENCE.match(rest)
    if not begins_anew or not _is_title(words):
        return text
    return f"{lead}\n\n{rest.lstrip()}"


def _is_title(words: str) -> bool:
    if len(words) > _MOST_TITLE_CHARS or words[:1].islower():
        return False
    if words.endswith("?"):
        return True
    return len(words.split()) > 1 and words[-1:].isalnum()


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


def _free_sentences(table: Tag, cells: list[list[str]]) -> None:
    """Make paragraphs of sentences in the first and last rows of a table that was found by its looks."""
    for place, put in ((0, table.insert_before), (-1, table.insert_after)):
        while cells and (sentence := _sentence(cells[place])):
            paragraph = Tag(name="p")
            paragraph.string = sentence
            put(paragraph)
            cells.pop(place)


def _sentence(row: Sequence[str]) -> str:
    """Return the text of a row if it is one sentence; else nothing."""
    texts = list(filter(str.strip, row))
    if len(row) == 1 or len(texts) != 1:
        return ""
    text = texts[0].strip()
    if not text.endswith((".", "!", "?")):
        return ""
    words = text.split()
    return text if len(words) > _LEAST_WORDS else ""


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
    if not value.isdecimal():
        return 1
    return min(max(int(value), 1), _MOST_SPAN)
