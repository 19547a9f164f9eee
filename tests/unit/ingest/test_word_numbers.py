"""Automatic numbers, headers, footers and boxes of Word are read as people see them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from docx import Document as WordDocument

from tests.unit.ingest.formats import read
from tests.unit.ingest.office_files import saved, with_part

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LEVELS = {
    "clauses": [(1, "decimal", "%1.", ""), (1, "decimal", "%1.%2", ""), (1, "lowerLetter", "(%3)", "")],
    "article": [(34, "upperRoman", "Article %1 -", ""), (1, "decimal", "%1.%2", "<w:isLgl/>")],
    "zero": [(8, "decimalZero", "%1)", "")],
    "styled": [(3, "decimal", "Part %1:", '<w:pStyle w:val="Heading1"/>')],
    "bullets": [(1, "bullet", "o", "")],
}


def word(kind: str, *paragraphs: tuple[int | None, str], style: str = "", restart: int = 0) -> bytes:
    """A Word file with a list; the level of each paragraph, None for no number."""
    levels = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/>'
        "</w:lvl>"
        for depth, (start, form, text, more) in enumerate(LEVELS[kind])
    )
    override = f'<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{restart}"/></w:lvlOverride>' if restart else ""
    numbering = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="9">{levels}</w:abstractNum><w:num w:numId="9">'
        f'<w:abstractNumId w:val="9"/>{override}</w:num></w:numbering>'
    )
    body = ""
    for depth, text in paragraphs:
        number = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="9"/></w:numPr>' if depth is not None else ""
        own = f'<w:pStyle w:val="{style}"/>' if style else ""
        body += f"<w:p><w:pPr>{own}{number}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
    data = with_part(saved(WordDocument()), "word/numbering.xml", numbering.encode())
    return with_part(data, "word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>".encode())


@pytest.mark.parametrize(
    ("make", "lines"),
    [
        (
            partial(
                word,
                "clauses",
                (0, "Rent"),
                (1, "It is 900."),
                (0, "Notice"),
                (1, "Six weeks."),
                (1, "Nine."),
                (2, "Free."),
            ),
            ["1. Rent", "1.1 It is 900.", "2. Notice", "2.1 Six weeks.", "2.2 Nine.", "(a) Free."],
        ),
        (partial(word, "article", (0, "Parking"), (1, "Noise")), ["Article XXXIV - Parking", "34.1 Noise"]),
        (partial(word, "article", (0, "Parking"), restart=2), ["Article II - Parking"]),
        (partial(word, "zero", (0, "One"), (None, "Between."), (0, "Two")), ["08) One", "Between.", "09) Two"]),
        (partial(word, "bullets", (0, "One")), ["* One"]),
        (partial(word, "clauses", (0, "Rent"), style="Heading1"), ["# 1. Rent"]),
    ],
)
def test_automatic_numbers_are_those_that_people_see(make: Callable[[], bytes], lines: list[str]) -> None:
    assert [line.strip() for line in read(make(), ".docx").splitlines() if line.strip()] == lines


def test_numbers_may_come_from_the_style() -> None:
    styles = (
        f'<w:styles {W}><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:numPr>'
        '<w:numId w:val="9"/></w:numPr></w:pPr></w:style></w:styles>'
    )
    data = with_part(word("styled", (None, "Fees"), style="Heading1"), "word/styles.xml", styles.encode())
    assert read(data, ".docx") == "# Part 3: Fees"


def test_headers_and_footers_are_read_once_and_page_numbers_not() -> None:
    document = WordDocument()
    document.add_paragraph("Shed rules")
    section = document.sections[0]
    section.header.paragraphs[0].text = "Shed rules"
    section.footer.paragraphs[0].text = "Valid until 5 May"
    count = section.footer.add_paragraph("Page ")
    count._p.append(count._p.makeelement(f"{{{W[9:-1]}}}fldSimple", {f"{{{W[9:-1]}}}instr": " PAGE "}))
    other = document.add_section()
    other.footer.is_linked_to_previous = False
    other.footer.paragraphs[0].text = "Valid until 5 May"
    assert read(saved(document), ".docx") == "Shed rules\n\nValid until 5 May"


def test_a_box_of_text_is_read_once() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>The key costs 16.</w:t></w:r></w:p></w:txbxContent>"
    names = (
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
        ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
        ' xmlns:v="urn:schemas-microsoft-com:vml"'
        ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
        ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    )
    shape = (
        '<w:drawing><wp:inline><a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/'
        f'wordprocessingShape"><wps:wsp><wps:txbx>{box}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline>'
        "</w:drawing>"
    )
    body = (
        f'<w:p><w:r><w:t>Before.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires="wps">{shape}</mc:Choice>'
        f"<mc:Fallback><w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )
    document = f"<w:document {W} {names}><w:body>{body}</w:body></w:document>"
    text = read(with_part(saved(WordDocument()), "word/document.xml", document.encode()), ".docx")
    assert text.count("The key costs 16.") == 1
    assert "Before." in text
