"""DOCX and PPTX as Markdown."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from docx import Document as WordDocument
from lxml.etree import SubElement
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from pgclarify.data.vocabulary import Document
from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest import files, read_documents
from pgclarify.ingest.parsed import Parsed
from pgclarify.ingest.parsing import parse
from tests.unit.ingest.office_files import docx, pptx, saved, with_part, with_text

WORD_PART = "word/document.xml"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
DIAGRAM = f"{DRAWING}/diagram"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORDS = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{}</w:body></w:document>'


def test_word_keeps_headings_lists_and_tables(tmp_path: Path) -> None:
    (tmp_path / "policy.docx").write_bytes(docx())
    (document,) = read_documents([tmp_path])
    assert isinstance(document, Document)
    assert replace(document, origin=None) == Document(
        "policy.docx",
        "# Travel policy\n\n# Luggage\n\nWe replace lost luggage, snake_case & 2*3.\n\n* by air\n\n## Limits\n\n"
        "what: bag; limit: $1,800\nwhat: per trip; limit: per trip",
        title="Travel policy",
    )


def test_powerpoint_keeps_titles_tables_groups_and_notes(tmp_path: Path) -> None:
    (tmp_path / "policy.PPTX").write_bytes(pptx())
    (document,) = read_documents([tmp_path])
    assert isinstance(document, Document)
    assert document.title == "Travel policy"
    assert document.content == (
        "## Travel policy\n\n## Luggage\n\nWe replace\n\nlost luggage.\n\nNot cash.\n\n## per trip\n\n"
        "what: bag; limit: $1,800"
    )
    assert [place["name"] for place in document.places] == ["slide 1", "slide 2", "slide 3"]


def read_word(body: str) -> Parsed:
    (parsed,) = parse(with_part(docx(), WORD_PART, WORDS.format(body).encode()), ".docx", "a.docx")
    return parsed


def test_tracked_insertions_are_read_and_deletions_are_counted() -> None:
    parsed = read_word(
        "<w:p><w:r><w:t>We pay </w:t></w:r><w:del><w:r><w:delText>nothing</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>$1,800</w:t></w:r></w:ins></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a form.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    assert parsed.content == "We pay $1,800\n\nIn a form."
    assert parsed.unread == {"tracked deletion": 1}


def test_what_stands_in_fields_forms_and_directions_is_read() -> None:
    parsed = read_word(
        '<w:p><w:r><w:t>The skiff costs </w:t></w:r><w:fldSimple w:instr=" DOCPROPERTY Price "><w:r><w:t>23 dollars'
        '</w:t></w:r></w:fldSimple><w:r><w:t>, </w:t></w:r><w:bdo w:val="ltr"><w:r><w:t>the raft 26</w:t></w:r></w:bdo>'
        "<w:r><w:t>, and </w:t></w:r><w:sdt><w:sdtContent><w:r><w:t>the barge 60</w:t></w:r></w:sdtContent></w:sdt>"
        "</w:p>"
        "<w:p><w:r><w:t>Re</w:t></w:r><w:r><w:softHyphen/></w:r><w:r><w:t>imbursement takes 12 days.</w:t></w:r></w:p>"
    )
    assert parsed.content == (
        "The skiff costs 23 dollars, the raft 26, and the barge 60\n\nReimbursement takes 12 days."
    )


def test_hidden_and_struck_out_text_is_counted_and_not_read() -> None:
    parsed = read_word(
        "<w:p><w:r><w:t>Dogs are free.</w:t></w:r>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>99</w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>5</w:t></w:r>"
        '<w:r><w:rPr><w:strike w:val="false"/></w:rPr><w:t> Cats, too.</w:t></w:r></w:p>'
    )
    assert parsed.content == "Dogs are free. Cats, too."
    assert parsed.unread == {"hidden text": 1, "struck-out text": 1}


def test_a_formula_is_text_in_its_place() -> None:
    parsed = read_word(
        "<w:p><w:r><w:t>It costs </w:t></w:r><m:oMath xmlns:m="
        '"http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>40+</m:t></m:r><m:f><m:num><m:r><m:t>a+b'
        "</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f><m:sSup><m:e><m:r><m:t>n</m:t></m:r></m:e>"
        "<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath><w:r><w:t> dollars.</w:t></w:r></w:p>"
    )
    assert parsed.content == "It costs 40+(a+b)/2n^2 dollars."


def test_a_table_has_its_merged_cells_in_each_row_and_its_headers_in_each_line() -> None:
    document = WordDocument()
    table = document.add_table(rows=4, cols=3)
    texts = [("Vehicle", "Price", ""), ("", "Day", "Week"), ("Bike", "19", "95"), ("", "20", "99")]
    for row, cells in zip(table.rows, texts, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Price"
    table.cell(0, 0).merge(table.cell(1, 0)).text = "Vehicle"
    table.cell(2, 0).merge(table.cell(3, 0)).text = "Bike"
    (parsed,) = parse(saved(document), ".docx", "a.docx")
    assert parsed.content == (
        "Vehicle: Bike; Price Day: 19; Price Week: 95\nVehicle: Bike; Price Day: 20; Price Week: 99"
    )


def test_a_diagram_is_text() -> None:
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Steps"
    slide, relations, diagram = (
        f"ppt/{part}" for part in ("slides/slide1.xml", "slides/_rels/slide1.xml.rels", "diagrams/data1.xml")
    )
    frame = (
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id='9' name='a'/><p:cNvGraphicFramePr/><p:nvPr/>"
        "</p:nvGraphicFramePr><p:xfrm><a:off x='0' y='0'/><a:ext cx='9' cy='9'/></p:xfrm><a:graphic>"
        f"<a:graphicData uri='{DIAGRAM}'><dgm:relIds xmlns:dgm='{DIAGRAM}' r:dm='rId9'/></a:graphicData></a:graphic>"
        "</p:graphicFrame>"
    )
    relation = f"<Relationship Id='rId9' Type='{RELATIONS}/diagramData' Target='../diagrams/data1.xml'/>"
    text = (
        f"<dgm:dataModel xmlns:dgm='{DIAGRAM}' xmlns:a='{DRAWING}/main'><dgm:ptLst><dgm:pt modelId='2'><dgm:t><a:p>"
        "<a:r><a:t>The key costs 16.</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
    )
    data = with_text(saved(deck), slide, "</p:spTree>", frame)
    data = with_text(data, relations, "</Relationships>", relation)
    (parsed,) = parse(with_part(data, diagram, text.encode()), ".pptx", "a.pptx")
    assert parsed.content == "## Steps\n\nThe key costs 16."


def test_boxes_of_a_slide_are_read_from_top_to_bottom() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for place, text in ((4, "3. The answer: 19 dollars."), (1, "1. What does it cost?"), (2, "2. For adults:")):
        box = slide.shapes.add_textbox(Inches(1), Inches(place), Inches(4), Inches(1))
        box.text_frame.text = text
    (parsed,) = parse(saved(deck), ".pptx", "a.pptx")
    assert parsed.content == "## 1. What does it cost?\n\n2. For adults:\n\n3. The answer: 19 dollars."


def test_a_chart_is_a_table_and_a_hidden_slide_is_counted() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Visitors"
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Tower", (410, 655))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), data)
    hidden = deck.slides.add_slide(deck.slide_layouts[5])
    hidden.shapes.title.text = "Old prices"
    hidden._element.set("show", "0")
    (parsed,) = parse(saved(deck), ".pptx", "a.pptx")
    assert "June; Tower: 655" in parsed.content
    assert "Old prices" not in parsed.content
    assert parsed.unread == {"hidden slide": 1}


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1000), ".docx"),
        (saved(WordDocument()), ".docx"),
        (with_part(docx(), WORD_PART, b"<w:document"), ".docx"),
        (with_part(docx(), WORD_PART, WORDS.format("<w:sdt>" * 20_000).encode()), ".docx"),
    ],
)
def test_an_office_file_without_text_or_of_another_kind_is_a_problem(tmp_path: Path, data: bytes, suffix: str) -> None:
    (tmp_path / f"a{suffix}").write_bytes(data)
    (tmp_path / "b.docx").write_bytes(docx())
    problem, document = read_documents([tmp_path])
    assert isinstance(problem, UnreadableFile)
    assert f"a{suffix}" in problem.message and problem.detail
    assert isinstance(document, Document)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "part", "suffix", "reason"),
    [(docx(), WORD_PART, ".docx", "of memory"), (pptx(), "ppt/slides/slide1.xml", ".pptx", "")],
)
def test_a_bomb_is_left_out_and_the_rest_is_read(
    tmp_path: Path, data: bytes, part: str, suffix: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files._apart, "_memory_bytes", 250 * 2**20)
    bomb = with_part(data, part, b"<a>" + b"<b/>" * 3_000_000)
    assert len(bomb) < 1_000_000
    (tmp_path / f"a{suffix}").write_bytes(bomb)
    (tmp_path / "b.docx").write_bytes(docx())
    problem, document = read_documents([tmp_path])
    assert isinstance(problem, UnreadableFile)
    assert reason in str(problem.detail)
    assert problem.hint or not reason
    assert isinstance(document, Document)


@pytest.mark.parametrize(
    ("package", "suffix", "data"),
    [
        ("lxml", ".docx", docx()),
        ("xberg", ".pptx", pptx()),
        ("openpyxl", ".xlsx", b"PK"),
        ("pypdfium2", ".pdf", b"%PDF-1.7"),
        ("bs4", ".html", b"<p>text</p>"),
    ],
)
def test_without_the_extra_it_says_what_to_install(
    package: str, suffix: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingReader) as caught:
        parse(data, suffix, f"a{suffix}")
    assert "pgclarify[files]" in (caught.value.hint or "")


def test_automatic_numbers_of_slides_are_those_that_people_see() -> None:
    deck = Presentation()
    frame = deck.slides.add_slide(deck.slide_layouts[1]).placeholders[1].text_frame
    frame.text = "Rent\nDeposit\nNotice"
    forms = ("arabicPeriod", "alphaLcParenR", "arabicPeriod")
    for depth, form, paragraph in zip((0, 1, 0), forms, frame.paragraphs, strict=True):
        paragraph.level = depth
        number = SubElement(paragraph._p.get_or_add_pPr(), f"{{{DRAWING}/main}}buAutoNum", type=form)
        if depth == 0:
            number.set("startAt", "3")
    (parsed,) = parse(saved(deck), ".pptx", "a.pptx")
    lines = [line.lstrip("*+ ") for line in parsed.content.splitlines() if line.strip("- ")]
    assert lines == ["3. Rent", "a) Deposit", "4. Notice"]


def test_a_broken_file_is_told_without_the_names_of_functions_of_libraries() -> None:
    letters = "abcdefghij"
    entities = "".join(f'<!ENTITY {after} "{f"&{letter};" * 10}">' for letter, after in pairwise(letters))
    bomb = f'<!DOCTYPE w [<!ENTITY a "{"x" * 1000}">{entities}]><w at="&j;">&j;</w>'.encode()
    with pytest.raises(UnreadableFile) as refused:
        parse(with_part(docx(), WORD_PART, bomb), ".docx", "a.docx")
    detail = str(refused.value.detail)
    assert "xmlCtxt" not in detail and "<string>" not in detail
