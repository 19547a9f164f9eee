"""Prepares Word and PowerPoint files (Office Open XML), so that nothing of them is lost or moved when they are read.

Struck-out, hidden and deleted text is taken out and counted. Formulas become text, charts become tables, merged cells
are repeated, and notes become the end of their slide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from html import escape
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.formulas import formula_text
from pgclarify.ingest.marks import LABEL_END, LABEL_START, lowered, raised
from pgclarify.ingest.numbering import Counts
from pgclarify.ingest.packages import Package, written, xml_root
from pgclarify.ingest.slide_numbers import slide_label
from pgclarify.ingest.word_numbers import WordNumbers

if TYPE_CHECKING:
    from lxml.etree import _Element

_NAMES: Final = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
}
_W = f"{{{_NAMES['w']}}}"
_A = f"{{{_NAMES['a']}}}"
_TABLE_URI: Final = "http://schemas.openxmlformats.org/drawingml/2006/table"
_WORD_BODY: Final = "word/document.xml"
_DECK: Final = "ppt/presentation.xml"
_MARGIN = re.compile(r"word/(?:header|footer)\d*\.xml")
# A header or footer may count pages.
_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b")
_WORD_TEXT = re.compile(r"word/(?:document|footnotes|endnotes)\.xml")
_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")
# A paragraph that begins with this and a mark without a width is no item of a list, whose number would be lost.
_TYPED_NUMBER = re.compile(r"\s*\d+[.)]")
_NO_WIDTH = "\u2060"
_RUN = '<w:r><w:t xml:space="preserve">{}</w:t></w:r>'
_WORD_CELL = f"<w:tc><w:p>{_RUN}</w:p></w:tc>"
_SLIDE_CELL = "<a:tc><a:txBody><a:bodyPr/><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
_OFF = ("0", "false", "off", "none")
_IS_ON: Final = "not(@w:val='0' or @w:val='false' or @w:val='off' or @w:val='none')"
_TAKEN_OUT: Final = {
    # In Word, and on slides.
    "hidden text": f"//w:r[.//w:t/text()][w:rPr/w:vanish[{_IS_ON}]]",
    "struck-out text": f"//w:r[.//w:t/text()][w:rPr/w:strike[{_IS_ON}] or w:rPr/w:dstrike[{_IS_ON}]]"
    " | //a:r[a:rPr[@strike != 'noStrike']]",
    # The mark of a deleted paragraph has no text.
    "tracked deletion": "//w:del[w:r] | //w:moveFrom[w:r]",
}


def prepare(data: bytes) -> tuple[bytes, Counter[str], set[int]]:
    """Prepare a Word or PowerPoint file.

    Returns:
        The file; what was taken out of it, or is not read, each kind with its number; and the numbers of the slides
        that are not shown.

    Raises:
        ImportError: If the extra "files" is not installed.
        ValueError: If a part is no XML.
        zipfile.BadZipFile: If it is no Office file.
    """
    package = Package(data)
    hidden = set(_hidden_slides(package))
    unread = Counter({"hidden slide": len(hidden)})
    changed: dict[str, bytes] = {}
    for part in package.parts:
        if _WORD_TEXT.fullmatch(part):
            changed[part] = written(_prepared_word(part, package, unread))
        elif _SLIDE.fullmatch(part):
            changed[part] = written(_prepared_slide(part, package, unread))
        elif part == "word/comments.xml":
            unread["comment"] += len(_all(package.root(part), "//w:comment"))
    return package.changed(changed), unread, hidden


def _prepared_word(part: str, package: Package, unread: Counter[str]) -> _Element:
    root = package.root(part)
    # The same for older programs, and the pronunciation of words.
    for unseen in _all(root, "//mc:Fallback[preceding-sibling::*] | //w:rt"):
        _remove(unseen)
    if part == _WORD_BODY:
        _number_paragraphs(root, package)
    _take_out(root, unread)
    for formula in _all(root, "//m:oMath"):
        _replace(formula, _run_of(f" {formula_text(formula)} "))
    for group in _all(root, "//m:oMathPara"):
        for run in group:
            group.addprevious(run)
        _remove(group)
    for chart, grid in _charts(root, part, package, unread):
        paragraph = next(chart.iterancestors(f"{_W}p"), None)
        if paragraph is not None:
            paragraph.addnext(_table_of(grid, _WORD_CELL, "<w:tr>{}</w:tr>", "<w:tbl>{}</w:tbl>"))
    for table in root.iter(f"{_W}tbl"):
        _repeat_merged_word_cells(table)
    unread["picture"] += len(_all(root, "//pic:pic"))
    if part == _WORD_BODY:
        _add_margins(root, package, unread)
    return root


def _prepared_slide(part: str, package: Package, unread: Counter[str]) -> _Element:
    root = package.root(part)
    for chart, grid in _charts(root, part, package, unread):
        columns = "<a:gridCol/>" * len(grid[0])
        table = f"<a:tbl><a:tblPr/><a:tblGrid>{columns}</a:tblGrid>{{}}</a:tbl>"
        chart.getparent().set("uri", _TABLE_URI)
        _replace(chart, _table_of(grid, _SLIDE_CELL, "<a:tr>{}</a:tr>", table))
    for table in root.iter(f"{_A}tbl"):
        _repeat_merged_slide_cells(table)
    _take_out(root, unread)
    counts = Counts()
    for paragraph in root.iter(f"{_A}p"):
        label = slide_label(paragraph, counts)
        first = next(paragraph.iter(f"{_A}t"), None)
        if first is None:
            continue
        text = first.text or ""
        if label:
            first.text = f"{LABEL_START}{label}{LABEL_END}{text}"
        elif _TYPED_NUMBER.match(text):
            first.text = f"{_NO_WIDTH}{text}"
    for text in _all(root, "//a:r[a:rPr/@baseline != 0]/preceding-sibling::a:r[1]/a:t"):
        # The library would put a blank between the two.
        (mark,) = _all(text, "../following-sibling::a:r[1]/a:t")
        is_low = _all(mark, "../a:rPr[@baseline < 0]")
        words = text.text or ""
        told = lowered(mark.text or "") if is_low else raised(mark.text or "", words)
        text.text = f"{words}{told}"
        mark.text = ""
    unread["picture"] += len(_all(root, "//p:pic"))
    for notes in _targets(package, part).values():
        if notes.startswith("ppt/notesSlides/"):
            # Other shapes of it are the picture of the slide, and its number.
            for kind in _all(package.root(notes), "//p:sp[.//a:t/text()]//p:ph[@type='body']"):
                shape = next(kind.iterancestors(f"{{{_NAMES['p']}}}sp"))
                _remove(kind)
                _all(root, "//p:spTree")[0].append(shape)
    return root


def _all(root: _Element, path: str) -> list[_Element]:
    """Return the elements of an XPath."""
    return list(root.xpath(path, namespaces=_NAMES))


def _take_out(root: _Element, unread: Counter[str]) -> None:
    """Remove what people do not see."""
    for kind, path in _TAKEN_OUT.items():
        for element in _all(root, path):
            unread[kind] += 1
            _remove(element)


def _targets(package: Package, part: str) -> dict[str, str]:
    """Return the parts that a part refers to, by the ids that it uses."""
    folder, _, name = part.rpartition("/")
    relations = package.find(f"{folder}/_rels/{name}.rels")
    found: dict[str, str] = {}
    for relation in relations if relations is not None else ():
        place = package.place(part, str(relation.get("Target", "")))
        if place in package.parts:
            found[str(relation.get("Id"))] = place
    return found


def _hidden_slides(package: Package) -> Iterator[int]:
    """Yield the numbers of slides that are not shown."""
    deck = package.find(_DECK)
    if deck is None:
        return
    targets = _targets(package, _DECK)
    for number, name in enumerate(_all(deck, "//p:sldId/@r:id"), start=1):
        slide = package.find(targets.get(str(name), ""))
        if slide is not None and slide.get("show") in _OFF:
            yield number


def _number_paragraphs(root: _Element, package: Package) -> None:
    """Write automatic numbers, between signs, before the paragraphs that have them."""
    numbers = WordNumbers(package.find("word/numbering.xml"), package.find("word/styles.xml"))
    for paragraph in root.iter(f"{_W}p"):
        label = numbers.label(paragraph)
        first = paragraph.find(f"{_W}r")
        if label and first is not None:
            first.addprevious(_run_of(f"{LABEL_START}{label}{LABEL_END}"))


def _add_margins(root: _Element, package: Package, unread: Counter[str]) -> None:
    """Put the text of headers and footers once at the end, if it does not stand in the body."""
    body = root.find(f"{_W}body")
    if body is None:
        return
    seen = {_text(paragraph, ".//w:t") for paragraph in root.iter(f"{_W}p")}
    parts = set(_targets(package, _WORD_BODY).values())
    for part in sorted(filter(_MARGIN.fullmatch, parts)):
        # A box in a paragraph has paragraphs, too.
        for paragraph in _all(_prepared_word(part, package, unread), "//w:p[not(.//w:p)]"):
            words = _text(paragraph, ".//w:t")
            fields = _all(paragraph, ".//w:fldSimple/@w:instr | .//w:instrText/text()")
            # "Page 1 of 3" is no text.
            if words and words not in seen and not any(map(_PAGE_FIELD.match, fields)):
                seen.add(words)
                told = _element("<w:p/>")
                told.extend(deepcopy(run) for run in paragraph.iter(f"{_W}r"))
                body.append(told)
    # The properties of the last section come last.
    for properties in body.findall(f"{_W}sectPr"):
        body.append(properties)


def _text(element: _Element, path: str) -> str:
    told = ""
    for part in _all(element, path):
        told += part.text or ""
    return " ".join(told.split())


def _charts(
    root: _Element, part: str, package: Package, unread: Counter[str]
) -> Iterator[tuple[_Element, list[list[str]]]]:
    """Yield the charts of a part that have numbers, with a table of these; count the others."""
    targets = _targets(package, part)
    for chart in _all(root, "//c:chart[@r:id]"):
        name = str(chart.get(f"{{{_NAMES['r']}}}id"))
        grid = _chart_grid(package.root(targets[name])) if name in targets else []
        if grid:
            yield chart, grid
        else:
            unread["chart"] += 1


def _chart_grid(root: _Element) -> list[list[str]]:
    """Return the numbers of a chart as a table, whose first row may be its title; empty if it has none."""
    head = [""]
    names: dict[str, str] = {}
    columns = [names]
    for series in _all(root, "//c:ser"):
        head.append(_text(series, "c:tx//c:v"))
        names |= _points(series, "c:cat|c:xVal")
        columns.append(_points(series, "c:val|c:yVal"))
    places = sorted(set().union(*columns), key=int)
    if not places:
        return []
    rows = [[column.get(place, "") for column in columns] for place in places]
    title = _text(root, "c:chart/c:title//a:t")
    rows.insert(0, head)
    if title and title not in head:
        rows.insert(0, [title] * len(head))
    return rows


def _points(series: _Element, path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for values in _all(series, path):
        for point in values.iter(f"{{{_NAMES['c']}}}pt"):
            found[str(point.get("idx"))] = _text(point, "c:v")
    return found


def _repeat_merged_word_cells(table: _Element) -> None:
    above: dict[int, _Element] = {}
    for row in table.findall(f"{_W}tr"):
        column = 0
        for cell in row.findall(f"{_W}tc"):
            width = max([1, *map(int, _all(cell, "w:tcPr/w:gridSpan/@w:val[. < 200]"))])
            if column in above and _all(cell, "w:tcPr/w:vMerge[not(@w:val='restart')]"):
                for content in cell.findall(f"{_W}p"):
                    cell.remove(content)
                cell.extend(map(deepcopy, above[column].findall(f"{_W}p")))
            for merged in _all(cell, "w:tcPr/w:vMerge | w:tcPr/w:gridSpan"):
                _remove(merged)
            above[column] = cell
            column += 1
            for _ in range(1, width):
                above[column] = deepcopy(cell)
                cell.addnext(above[column])
                column += 1


def _repeat_merged_slide_cells(table: _Element) -> None:
    above: list[_Element] = []
    for row in table.findall(f"{_A}tr"):
        cells = row.findall(f"{_A}tc")
        for column, cell in enumerate(cells):
            source = cell
            if cell.get("hMerge", "0") not in _OFF and column:
                source = cells[column - 1]
            elif cell.get("vMerge", "0") not in _OFF and column < len(above):
                source = above[column]
            texts = list(map(deepcopy, source.findall(f"{_A}txBody")))
            for text in cell.findall(f"{_A}txBody") if texts else []:
                cell.remove(text)
            cell[:0] = texts
        for cell in cells:
            for name in ("gridSpan", "rowSpan", "hMerge", "vMerge"):
                cell.attrib.pop(name, None)
        above = cells


def _run_of(text: str) -> _Element:
    return _element(_RUN.format(escape(text)))


def _table_of(grid: list[list[str]], cell: str, row: str, table: str) -> _Element:
    """Return a table of these cells, rows and all of them, in which {} stands for their content."""
    rows = ""
    for texts in grid:
        cells = [cell.format(escape(text)) for text in texts]
        rows += row.format("".join(cells))
    return _element(table.format(rows))


def _element(xml: str) -> _Element:
    """Return an element, written with the usual prefixes."""
    names = f'xmlns:w="{_NAMES["w"]}" xmlns:a="{_NAMES["a"]}"'
    return xml_root(f"<all {names}>{xml}</all>".encode())[0]


def _replace(element: _Element, other: _Element) -> None:
    other.tail = element.tail
    element.getparent().replace(element, other)


def _remove(element: _Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
