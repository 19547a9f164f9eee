"""Each kind of content in each format that has it, made here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from docx import Document as WordDocument
from pptx import Presentation
from pptx.util import Inches

from tests.unit.ingest.formats import FROM_HTML, packed
from tests.unit.ingest.office_files import saved, with_part

_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_NAMES = " ".join(f'xmlns:{name}="{_OASIS}:{name}:1.0"' for name in ("office", "text", "style", "table"))
_NAMES += f' xmlns:draw="{_OASIS}:drawing:1.0" xmlns:fo="{_OASIS}:xsl-fo-compatible:1.0"'
_LOOKS = {
    "raised": 'style:text-position="super 58%"',
    "bold": 'fo:font-weight="bold"',
    "struck": 'style:text-line-through-style="solid"',
    "hidden": 'text:display="none"',
}
_STYLES = "".join(
    f'<style:style style:name="{name}" style:family="text"><style:text-properties {look}/></style:style>'
    for name, look in _LOOKS.items()
)


def odf(kind: str, body: str, more: str = "") -> bytes:
    """A text or a presentation of OpenDocument; what its other part has."""
    content = f"<office:automatic-styles>{_STYLES}</office:automatic-styles><office:body>{body}</office:body>"
    return packed(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {_NAMES}>{content}</office:document-content>",
            "styles.xml": f"<office:document-styles {_NAMES}>{more}</office:document-styles>",
        }
    )


def odt(body: str, more: str = "") -> bytes:
    """A text."""
    return odf("text", f"<office:text>{body}</office:text>", more)


def odp(*slides: str) -> bytes:
    """A presentation: what stands on each slide."""
    pages = "".join(f"<draw:page><draw:frame>{slide}</draw:frame></draw:page>" for slide in slides)
    return odf("presentation", f"<office:presentation>{pages}</office:presentation>")


def _run_of(paragraph: Any, text: str, look: str) -> None:
    run = paragraph.add_run()
    run.text = text
    if look == "raised":
        run.font._element.set("baseline", "30000")
    elif look == "struck":
        run.font._element.set("strike", "sngStrike")
    elif look:
        run.font.bold = True


def _word_run_of(paragraph: Any, text: str, look: str) -> None:
    font = paragraph.add_run(text).font
    name = {"raised": "superscript", "bold": "bold", "struck": "strike", "hidden": "hidden"}.get(look)
    if name:
        setattr(font, name, True)


def _word(runs: list[tuple[str, str]]) -> bytes:
    document = WordDocument()
    paragraph = document.add_paragraph()
    for text, look in runs:
        _word_run_of(paragraph, text, look)
    return saved(document)


def _slides(runs: list[tuple[str, str]]) -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Title"
    for text, look in runs:
        _run_of(slide.placeholders[1].text_frame.paragraphs[0], text, look)
    return saved(deck)


def _marked(runs: list[tuple[str, str]], marks: dict[str, str]) -> str:
    return "".join(marks.get(look, "{}").format(text) for text, look in runs)


_OF_HTML = {"raised": "<sup>{}</sup>", "bold": "<b>{}</b>", "struck": "<s>{}</s>", "hidden": "<i hidden>{}</i>"}
_OF_ODF = {look: f'<text:span text:style-name="{look}">{{}}</text:span>' for look in _LOOKS}
_OF_DOCBOOK = {
    "raised": "<superscript>{}</superscript>",
    "bold": '<emphasis role="bold">{}</emphasis>',
    "struck": '<emphasis role="strike">{}</emphasis>',
}
_OF_RST = {"raised": "\\ :sup:`{}`", "bold": "**{}**"}
_OF_ADOC = {"raised": "^{}^", "bold": "*{}*", "struck": "[.line-through]##{}##"}
_OF_RTF = {"raised": r"{{\super {}}}", "bold": r"{{\b {}}}", "struck": r"{{\strike {}}}", "hidden": r"{{\v {}}}"}

RUNS: dict[str, tuple[Callable[[list[tuple[str, str]]], bytes], set[str]]] = {
    ".docx": (_word, {"raised", "bold", "struck", "hidden"}),
    ".pptx": (_slides, {"raised", "struck"}),
    ".odt": (lambda runs: odt(f"<text:p>{_marked(runs, _OF_ODF)}</text:p>"), set(_LOOKS)),
    ".odp": (
        lambda runs: odp(f"<draw:text-box><text:p>{_marked(runs, _OF_ODF)}</text:p></draw:text-box>"),
        set(_LOOKS),
    ),
    ".rst": (lambda runs: _marked(runs, _OF_RST).encode(), set(_OF_RST)),
    ".adoc": (lambda runs: _marked(runs, _OF_ADOC).encode(), set(_OF_ADOC)),
    ".xml": (lambda runs: f"<chapter><para>{_marked(runs, _OF_DOCBOOK)}</para></chapter>".encode(), set(_OF_DOCBOOK)),
    ".rtf": (lambda runs: rf"{{\rtf1 {_marked(runs, _OF_RTF)}\par}}".encode(), set(_OF_RTF)),
}
"""How runs of text, each with its look, become a file of each format; and the looks that it has."""


def _html_runs(make: Callable[[str], bytes], runs: list[tuple[str, str]]) -> bytes:
    return make(f"<p>{_marked(runs, _OF_HTML)}</p>")


RUNS.update({suffix: (partial(_html_runs, make), set(_OF_HTML)) for suffix, make in FROM_HTML.items()})


def _odf_table() -> str:
    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    boat, summer = cell("Boat", 'table:number-rows-spanned="2"'), cell("Summer", 'table:number-columns-spanned="2"')
    rows = (boat + summer + covered, covered + cell("Day") + cell("Week"), cell("Skiff") + cell("3") + cell("7"))
    return f"<table:table>{''.join(f'<table:table-row>{row}</table:table-row>' for row in rows)}</table:table>"


def _filled(table: Any) -> None:
    for row, texts in enumerate((("Boat", "Summer", ""), ("", "Day", "Week"), ("Skiff", "3", "7"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 1).merge(table.cell(0, 2))


def _word_table() -> bytes:
    document = WordDocument()
    _filled(document.add_table(3, 3))
    return saved(document)


def _slide_table() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    _filled(slide.shapes.add_table(3, 3, 0, 0, Inches(3), Inches(3)).table)
    return saved(deck)


_HTML_TABLE = (
    '<table><tr><th rowspan="2">Boat</th><th colspan="2">Summer</th></tr><tr><th>Day</th><th>Week</th></tr>'
    "<tr><td>Skiff</td><td>3</td><td>7</td></tr></table>"
)
TWO_HEADERS: dict[str, bytes] = {
    ".docx": _word_table(),
    ".pptx": _slide_table(),
    ".odt": odt(_odf_table()),
    ".odp": odp(_odf_table()),
    ".rst": b"+-----+----------+\n|Boat |Summer    |\n|     +----+-----+\n|     |Day |Week |\n+=====+====+=====+\n"
    b"|Skiff|3   |7    |\n+-----+----+-----+\n",
    ".adoc": b"|===\n.2+|Boat 2+|Summer\n|Day |Week\n\n|Skiff |3 |7\n|===\n",
    **{suffix: make(_HTML_TABLE) for suffix, make in FROM_HTML.items()},
}
"""A table with two rows of headers."""

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_RUBY = (
    "<w:r><w:ruby><w:rt><w:r><w:t>7</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>3</w:t></w:r></w:rubyBase></w:ruby></w:r>"
    "<w:r><w:t> days</w:t></w:r>"
)
RUBY: dict[str, bytes] = {
    ".docx": with_part(
        saved(WordDocument()),
        "word/document.xml",
        f'<w:document xmlns:w="{_W}"><w:body><w:p>{_WORD_RUBY}</w:p></w:body></w:document>'.encode(),
    ),
    ".odt": odt(
        "<text:p><text:ruby><text:ruby-base>3</text:ruby-base><text:ruby-text>7</text:ruby-text></text:ruby> days"
        "</text:p>"
    ),
    **{suffix: make("<p><ruby>3<rp>(</rp><rt>7</rt><rp>)</rp></ruby> days</p>") for suffix, make in FROM_HTML.items()},
}
"""A number with the pronunciation above it."""

NOTES: dict[str, bytes] = {
    ".md": b"14[^1] euros\n\n[^1]: Free.\n",
    ".rst": b"14\\ [#]_ euros\n\n.. [#] Free.\n",
    ".adoc": b"14footnote:[Free.] euros",
    ".xml": b"<chapter><para>14<footnote><para>Free.</para></footnote> euros</para></chapter>",
    ".odt": odt(
        "<text:p>14<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Free.</text:p>"
        "</text:note-body></text:note> euros</text:p>"
    ),
}
"""A number with the mark of a note, and the note."""
