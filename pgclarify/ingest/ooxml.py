"""Prepares Word and PowerPoint files (Office Open XML), so that nothing of them is lost or moved when they are read.

Struck-out, hidden and deleted text is taken out and counted. Formulas become text, charts become tables, merged cells
are repeated, and notes become the end of their slide.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.marks import LABEL_END, LABEL_START
from pgclarify.ingest.numbering import Numbering, value
from pgclarify.ingest.numbering import W as _W

if TYPE_CHECKING:
    from lxml.etree import _Element

_A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TABLE_URI: Final = "http://schemas.openxmlformats.org/drawingml/2006/table"
_WORD_BODY: Final = "word/document.xml"
_MARGIN = re.compile(r"word/(?:header|footer)\d*\.xml")
# A header or footer may count pages.
_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b")
_WORD_TEXT = re.compile(r"word/(?:document|footnotes|endnotes)\.xml")
_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")
# A paragraph that begins with this and a mark without a width is no item of a list, whose number would be lost.
_TYPED_NUMBER = re.compile(r"\s*\d+[.)]")
_NO_WIDTH = "\u2060"
_OFF = ("0", "false", "off", "none")
_MOST_COLUMNS = 200


@dataclass(slots=True)
class Prepared:
    """A file that can be read.

    Attributes:
        data: The file.
        unread: What was taken out, or is not read: each kind with its number.
        hidden_slides: Numbers of the slides that are not shown.
    """

    data: bytes
    unread: Counter[str] = field(default_factory=Counter)
    hidden_slides: set[int] = field(default_factory=set)


def prepare(data: bytes) -> Prepared:
    """Prepare a Word or PowerPoint file.

    Raises:
        ImportError: If the extra "files" is not installed.
        ValueError: If a part is no XML.
        zipfile.BadZipFile: If it is no Office file.
    """
    # An optional extra.
    from lxml import etree

    prepared = Prepared(b"")
    changed = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(changed, "w") as new:
        package = _Package(old)
        for part in old.namelist():
            content = old.read(part)
            if _WORD_TEXT.fullmatch(part):
                root = package.root(part)
                _prepare_word(root, part, package, prepared.unread)
                if part == _WORD_BODY:
                    _add_margins(root, package, prepared.unread)
                content = etree.tostring(root)
            elif _SLIDE.fullmatch(part):
                root = package.root(part)
                _prepare_slide(root, part, package, prepared.unread)
                content = etree.tostring(root)
            elif part == "word/comments.xml":
                _count(prepared.unread, "comment", sum(1 for _ in package.root(part).iter(f"{_W}comment")))
            new.writestr(part, content)
        prepared.hidden_slides = set(package.hidden_slides())
    _count(prepared.unread, "hidden slide", len(prepared.hidden_slides))
    prepared.data = changed.getvalue()
    return prepared


class _Package:
    """The parts of a file, and which of them another one refers to."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = set(archive.namelist())

    def root(self, part: str) -> _Element:
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        return etree.fromstring(self._archive.read(part), parser)

    def targets(self, part: str) -> dict[str, str]:
        """Return the parts that a part refers to, by the ids that it uses."""
        folder, name = posixpath.split(part)
        relations = f"{folder}/_rels/{name}.rels"
        if relations not in self._names:
            return {}
        found: dict[str, str] = {}
        for one in self.root(relations):
            target = str(one.get("Target", ""))
            place = posixpath.normpath(posixpath.join(folder, target)).lstrip("/") if target[:1] != "/" else target[1:]
            if one.get("Id") and place in self._names:
                found[str(one.get("Id"))] = place
        return found

    def part(self, name: str) -> _Element | None:
        """Return a part; None if it is not there."""
        return self.root(name) if name in self._names else None

    def hidden_slides(self) -> Iterator[int]:
        """Yield the numbers of slides that are not shown."""
        part = "ppt/presentation.xml"
        if part not in self._names:
            return
        targets = self.targets(part)
        for number, slide in enumerate(self.root(part).iter(f"{_P}sldId"), start=1):
            place = targets.get(str(slide.get(f"{_R}id")))
            if place and self.root(place).get("show") in _OFF:
                yield number


def _number_paragraphs(root: _Element, package: _Package) -> None:
    """Write automatic numbers, between signs, before the paragraphs that have them."""
    numbering = Numbering(package.part("word/numbering.xml"), package.part("word/styles.xml"))
    for paragraph in root.iter(f"{_W}p"):
        label = numbering.label(paragraph)
        first = paragraph.find(f"{_W}r")
        if label and first is not None:
            first.addprevious(_element(f"{_W}r", _element(f"{_W}t", text=f"{LABEL_START}{label}{LABEL_END}")))


def _add_margins(root: _Element, package: _Package, unread: Counter[str]) -> None:
    """Put the text of headers and footers once at the end, if it does not stand in the body."""
    body = root.find(f"{_W}body")
    if body is None:
        return
    seen = {_words(paragraph) for paragraph in root.iter(f"{_W}p")}
    margins = sorted(part for part in set(package.targets(_WORD_BODY).values()) if _MARGIN.fullmatch(part))
    for part in margins:
        margin = package.root(part)
        _prepare_word(margin, part, package, unread)
        _remove_page_numbers(margin)
        for paragraph in margin.iter(f"{_W}p"):
            words = _words(paragraph)
            # A box in a paragraph has paragraphs, too.
            if words and words not in seen and paragraph.find(f".//{_W}p") is None:
                seen.add(words)
                runs = [deepcopy(run) for run in paragraph.iter(f"{_W}r")]
                body.append(_element(f"{_W}p", *runs))
    # The properties of the last section come last.
    for properties in body.findall(f"{_W}sectPr"):
        body.append(properties)


def _remove_page_numbers(root: _Element) -> None:
    """Remove paragraphs that count pages, such as "Page 1 of 3"."""
    for paragraph in list(root.iter(f"{_W}p")):
        fields = [field.get(f"{_W}instr", "") for field in paragraph.iter(f"{_W}fldSimple")]
        fields += [field.text or "" for field in paragraph.iter(f"{_W}instrText")]
        if any(map(_PAGE_FIELD.match, fields)):
            _remove(paragraph)


def _words(element: _Element) -> str:
    return " ".join("".join(text.text or "" for text in element.iter(f"{_W}t")).split())


def _prepare_word(root: _Element, part: str, package: _Package, unread: Counter[str]) -> None:
    for fallback in list(root.iter(f"{_MC}Fallback")):
        # The same for older programs.
        if fallback.getprevious() is not None:
            _remove(fallback)
    if part == _WORD_BODY:
        _number_paragraphs(root, package)
    for run in list(root.iter(f"{_W}r")):
        properties = run.find(f"{_W}rPr")
        if properties is None or not any(text.text for text in run.iter(f"{_W}t")):
            continue
        if _is_on(properties, "vanish"):
            _count(unread, "hidden text")
            _remove(run)
        elif _is_on(properties, "strike") or _is_on(properties, "dstrike"):
            _count(unread, "struck-out text")
            _remove(run)
    for name in ("del", "moveFrom"):
        for deletion in list(root.iter(f"{_W}{name}")):
            # The mark of a deleted paragraph has no text.
            if deletion.find(f"{_W}r") is not None:
                _count(unread, "tracked deletion")
                _remove(deletion)
    for formula in list(root.iter(f"{_M}oMath")):
        _replace(formula, _element(f"{_W}r", _element(f"{_W}t", text=f" {formula_text(formula)} ")))
    for group in list(root.iter(f"{_M}oMathPara")):
        for run in group:
            group.addprevious(run)
        _remove(group)
    targets = package.targets(part)
    for chart in list(root.iter(f"{_C}chart")):
        grid = _chart_grid(package, targets.get(str(chart.get(f"{_R}id"))))
        paragraph = next(chart.iterancestors(f"{_W}p"), None)
        if grid and paragraph is not None:
            paragraph.addnext(_word_table(grid))
        else:
            _count(unread, "chart")
    for table in root.iter(f"{_W}tbl"):
        _repeat_merged_word_cells(table)
    pictures = sum(1 for _ in root.iter("{http://schemas.openxmlformats.org/drawingml/2006/picture}pic"))
    _count(unread, "picture", pictures)


def _prepare_slide(root: _Element, part: str, package: _Package, unread: Counter[str]) -> None:
    targets = package.targets(part)
    for chart in list(root.iter(f"{_C}chart")):
        grid = _chart_grid(package, targets.get(str(chart.get(f"{_R}id"))))
        data = chart.getparent()
        if grid and data is not None:
            data.set("uri", _TABLE_URI)
            _replace(chart, _slide_table(grid))
        else:
            _count(unread, "chart")
    for table in root.iter(f"{_A}tbl"):
        _repeat_merged_slide_cells(table)
    for run in list(root.iter(f"{_A}r")):
        properties = run.find(f"{_A}rPr")
        if properties is not None and properties.get("strike", "noStrike") != "noStrike":
            _count(unread, "struck-out text")
            _remove(run)
    for paragraph in root.iter(f"{_A}p"):
        first = next(paragraph.iter(f"{_A}t"), None)
        if first is not None and _TYPED_NUMBER.match(first.text or ""):
            first.text = f"{_NO_WIDTH}{first.text}"
    _count(unread, "picture", sum(1 for _ in root.iter(f"{_P}pic")))
    shapes = next(root.iter(f"{_P}spTree"), None)
    notes = next((place for place in targets.values() if place.startswith("ppt/notesSlides/")), None)
    if notes is None or shapes is None:
        return
    for shape in package.root(notes).iter(f"{_P}sp"):
        kind = next(shape.iter(f"{_P}ph"), None)
        # Other shapes of it are the picture of the slide, and its number.
        if kind is not None and kind.get("type") == "body" and any(text.text for text in shape.iter(f"{_A}t")):
            kind.getparent().remove(kind)
            shapes.append(shape)


def formula_text(formula: _Element) -> str:
    """Write a formula of Office on one line: (a+b)/2, x^2, √(x)."""
    return " ".join("".join(_formula_parts(formula)).split())


def _formula_parts(element: _Element) -> Iterator[str]:
    name = str(element.tag).rpartition("}")[2]

    def inner(part: str) -> str:
        found = element.find(f"{_M}{part}")
        return "".join(_formula_parts(found)) if found is not None else ""

    def grouped(part: str) -> str:
        text = inner(part)
        return text if re.fullmatch(r"[\w.,]*", text) else f"({text})"

    match name:
        case "t":
            yield element.text or ""
        case "f":
            yield f"{grouped('num')}/{grouped('den')}"
        case "sSup":
            yield f"{grouped('e')}^{grouped('sup')}"
        case "sSub":
            yield f"{inner('e')}_{grouped('sub')}"
        case "sSubSup":
            yield f"{inner('e')}_{grouped('sub')}^{grouped('sup')}"
        case "rad":
            yield f"{inner('deg')}√({inner('e')})"
        case "nary":
            sign = element.find(f"{_M}naryPr/{_M}chr")
            mark = sign.get(f"{_M}val", "∫") if sign is not None else "∫"
            lower, upper = grouped("sub"), grouped("sup")
            yield f"{mark}{f'_{lower}' if lower else ''}{f'^{upper}' if upper else ''} {inner('e')}"
        case "d":
            yield f"({', '.join(''.join(_formula_parts(one)) for one in element.findall(f'{_M}e'))})"
        case _:
            for child in element:
                yield from _formula_parts(child)


def _chart_grid(package: _Package, part: str | None) -> list[list[str]]:
    """Return the numbers of a chart as a table, whose first row may be its title; empty if it has none."""
    if part is None:
        return []
    root = package.root(part)
    series = list(root.iter(f"{_C}ser"))
    names: dict[str, str] = {}
    columns: list[dict[str, str]] = []
    for one in series:
        names |= _points(one, "cat", "xVal")
        columns.append(_points(one, "val", "yVal"))
    places = sorted(set(names).union(*columns), key=int) if columns else []
    if not places:
        return []
    head = [_joined(one.find(f"{_C}tx"), f"{_C}v") for one in series]
    title = _joined(root.find(f"{_C}chart/{_C}title"), f"{_A}t")
    grid = [["", *head], *([names.get(place, ""), *(one.get(place, "") for one in columns)] for place in places)]
    return [[title] * len(grid[0]), *grid] if title and title not in head else grid


def _points(series: _Element, *names: str) -> dict[str, str]:
    found = next((one for name in names if (one := series.find(f"{_C}{name}")) is not None), None)
    if found is None:
        return {}
    return {str(point.get("idx")): _joined(point, f"{_C}v") for point in found.iter(f"{_C}pt")}


def _joined(element: _Element | None, tag: str) -> str:
    return " ".join(one.text or "" for one in element.iter(tag)) if element is not None else ""


def _repeat_merged_word_cells(table: _Element) -> None:
    above: dict[int, _Element] = {}
    for row in table.findall(f"{_W}tr"):
        column = 0
        for cell in row.findall(f"{_W}tc"):
            properties = cell.find(f"{_W}tcPr")
            span = value(properties, "gridSpan")
            merge = properties.find(f"{_W}vMerge") if properties is not None else None
            if merge is not None and merge.get(f"{_W}val") != "restart" and column in above:
                for content in cell.findall(f"{_W}p"):
                    cell.remove(content)
                cell.extend(deepcopy(one) for one in above[column].findall(f"{_W}p"))
            width = min(int(span), _MOST_COLUMNS) if span.isdecimal() else 1
            if merge is not None:
                properties.remove(merge)
            if span:
                properties.remove(properties.find(f"{_W}gridSpan"))
            above[column] = cell
            for copy in range(1, width):
                repeated = deepcopy(cell)
                cell.addnext(repeated)
                above[column + copy] = repeated
            column += width


def _repeat_merged_slide_cells(table: _Element) -> None:
    above: list[_Element] = []
    for row in table.findall(f"{_A}tr"):
        cells = row.findall(f"{_A}tc")
        for column, cell in enumerate(cells):
            source = None
            if cell.get("hMerge") not in (None, *_OFF) and column:
                source = cells[column - 1]
            elif cell.get("vMerge") not in (None, *_OFF) and column < len(above):
                source = above[column]
            text = cell.find(f"{_A}txBody")
            if source is not None and source.find(f"{_A}txBody") is not None:
                if text is not None:
                    cell.remove(text)
                cell.insert(0, deepcopy(source.find(f"{_A}txBody")))
        for cell in cells:
            for name in ("gridSpan", "rowSpan", "hMerge", "vMerge"):
                cell.attrib.pop(name, None)
        above = cells


def _word_table(grid: list[list[str]]) -> _Element:
    return _element(
        f"{_W}tbl",
        *(
            _element(
                f"{_W}tr",
                *(
                    _element(f"{_W}tc", _element(f"{_W}p", _element(f"{_W}r", _element(f"{_W}t", text=cell))))
                    for cell in row
                ),
            )
            for row in grid
        ),
    )


def _slide_table(grid: list[list[str]]) -> _Element:
    return _element(
        f"{_A}tbl",
        _element(f"{_A}tblPr"),
        _element(f"{_A}tblGrid", *(_element(f"{_A}gridCol") for _ in grid[0])),
        *(
            _element(
                f"{_A}tr",
                *(
                    _element(
                        f"{_A}tc",
                        _element(
                            f"{_A}txBody",
                            _element(f"{_A}bodyPr"),
                            _element(f"{_A}p", _element(f"{_A}r", _element(f"{_A}t", text=cell))),
                        ),
                    )
                    for cell in row
                ),
            )
            for row in grid
        ),
    )


def _element(tag: str, *children: _Element, text: str | None = None) -> _Element:
    from lxml import etree

    element = etree.Element(tag, nsmap={"w": _W[1:-1], "a": _A[1:-1]})
    element.text = text
    if text is not None and tag == f"{_W}t":
        element.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    element.extend(children)
    return element


def _is_on(properties: _Element, name: str) -> bool:
    found = properties.find(f"{_W}{name}")
    return found is not None and found.get(f"{_W}val") not in _OFF


def _replace(element: _Element, other: _Element) -> None:
    other.tail = element.tail
    element.getparent().replace(element, other)


def _remove(element: _Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _count(unread: Counter[str], kind: str, number: int = 1) -> None:
    if number:
        unread[kind] += number
