"""HTML as Markdown: headings become headings, rows of tables name their columns, and tags are removed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.grids import Columns, table_lines

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

# These elements have no text for people, text that is struck out, or only links to other pages (nav).
_UNSEEN: Final = ["nav", "script", "style", "noscript", "template", "svg", "iframe", "img", "input", "button"]
_STRUCK_OUT: Final = ["del", "s", "strike"]
_IN_LAYOUT: Final = ["table", "h1", "h2", "h3", "h4", "h5", "h6"]
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HIGH = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOW = str.maketrans("0123456789+-\u2212=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
# A plain number before an exponent, as in 10^2; not a price before the mark of a footnote, as in $3².
_NUMBER_BEFORE = re.compile(r"(?<![\w.,$€£¥])\d[\d.,]*$")
# The lines of a table are put in only after the conversion, which would change them.
_PLACE = "\ue000{}\ue001"
_PLACED = re.compile("\ue000(\\d+)\ue001")
_MOST_SPAN = 1000
_CELL_START = re.compile(r"<t[dh][\s>]", re.IGNORECASE)
_CELL_END = re.compile(r"</t[dh][\s>]", re.IGNORECASE)


def read_html(
    html: str,
    *,
    trusts_headers: bool = True,
    is_drawn: bool = False,
    before: Columns | None = None,
) -> tuple[str | None, str, Columns | None]:
    """Convert an HTML page to Markdown: headings, lists and code. Of links and emphasis only the text is kept.

    A row of a table becomes a line such as `Vehicle: E-bike; Day: 42.5 €`. Exponents and marks of footnotes stay apart
    from the number before them: 10^2, $3².

    Args:
        html: The page.
        trusts_headers: Whether a first row of <th> is a header; if not, its cells are judged.
        is_drawn: Whether its tables were found by their looks, so that no header is sure.
        before: Columns of the last table of the page before, which a first table without a header may continue.

    Returns:
        The page's <title>; its body; and the columns of its last table.

    Raises:
        ImportError: If the extra "files" is not installed.
        RecursionError: If the page is nested too deeply.
    """
    # An optional extra, and slow to import.
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
    from markdownify import MarkdownConverter

    # No escapes and link targets, because a quote of the page has to be in the text.
    converter = MarkdownConverter(
        heading_style="atx",
        strip=["a", "b", "strong", "i", "em", "blockquote"],
        escape_asterisks=False,
        escape_underscores=False,
        escape_misc=False,
    )
    with warnings.catch_warnings():
        # The HTML parser reads XHTML well enough.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        # lxml takes a third of the time, and the other one reads pages of any depth.
        parser = "lxml" if is_drawn or _omits_end_tags(html) else "html.parser"
        soup = BeautifulSoup(_PLACED.sub("", html), parser)
    title = " ".join(soup.title.get_text().split()) if soup.title else None
    for element in soup([*_UNSEEN, *_STRUCK_OUT, "title"]):
        element.decompose()
    if not is_drawn:
        # What is drawn is seen; this takes time.
        for element in soup.find_all(style=_HIDDEN) + soup.find_all(hidden=True):
            element.decompose()
    _raise_and_lower(soup)
    tables: list[str] = []
    columns = before
    # Tables in cells come first, so that a table for the layout of the page is known by them.
    for table in soup("table"):
        if table.find(_IN_LAYOUT) is not None:
            _unwrap(table)
    for table in soup("table"):
        cells, header_rows = _cells(table)
        lines, columns = table_lines(
            cells,
            header_rows=header_rows if trusts_headers and not is_drawn else None,
            is_drawn=is_drawn,
            before=columns if not tables else None,
        )
        caption = table.caption.get_text(" ", strip=True) if table.caption else ""
        paragraph = soup.new_tag("p")
        paragraph.string = _PLACE.format(len(tables))
        tables.append("\n".join(filter(None, [caption, *(line.text for line in lines)])))
        table.replace_with(paragraph)
    content = converter.convert_soup(soup).strip()
    return title or None, _PLACED.sub(lambda found: tables[int(found[1])], content).strip(), columns


def _raise_and_lower(soup: BeautifulSoup) -> None:
    """Write superscripts and subscripts as characters, so that they do not become a part of a number."""
    for element in soup(["sup", "sub"]):
        text = " ".join(element.get_text().split())
        before = element.find_previous(string=True)
        is_high = element.name == "sup"
        if is_high and before is not None and _NUMBER_BEFORE.search(str(before)) and _is_mark(text, _HIGH):
            element.replace_with(f"^{text}")
        elif _is_mark(text, _HIGH if is_high else _LOW):
            element.replace_with(text.translate(_HIGH if is_high else _LOW))
        else:
            element.replace_with(text)
    soup.smooth()


def _omits_end_tags(html: str) -> bool:
    """Whether cells of tables do not say where they end, which HTML allows, and the default parser does not know."""
    return len(_CELL_START.findall(html)) > len(_CELL_END.findall(html))


def _is_mark(text: str, translation: dict[int, int]) -> bool:
    return bool(text) and all(ord(character) in translation for character in text)


def _unwrap(table: Tag) -> None:
    """Make paragraphs of the cells of a table that is only there for the layout."""
    for element in table.find_all(["tr", "td", "th", "tbody", "thead", "tfoot"], recursive=True):
        if element.find_parent("table") is table:
            element.name = "div"
    table.name = "div"


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
