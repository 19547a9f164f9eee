"""Word and PowerPoint files, made with libraries that write them."""

from __future__ import annotations

import zipfile
from functools import cache
from io import BytesIO

from docx import Document as WordDocument
from pptx import Presentation
from pptx.util import Inches


@cache
def docx() -> bytes:
    """A title, headings, a paragraph of several runs, lists, and a table with merged cells."""
    document = WordDocument()
    document.add_heading("Travel policy", 0)
    document.add_heading("Luggage", 1)
    paragraph = document.add_paragraph("We replace ")
    paragraph.add_run("lost").bold = True
    paragraph.add_run(" luggage, snake_case & 2*3.")
    document.add_paragraph("by air", style="List Bullet")
    document.add_heading("Limits", 2)
    table = document.add_table(rows=3, cols=2)
    for row, texts in zip(table.rows, [("what", "limit"), ("bag", "$1,800")], strict=False):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.rows[2].cells[0].merge(table.rows[2].cells[1]).text = "per trip"
    return saved(document)


@cache
def pptx() -> bytes:
    """Slides: the title of the deck; text and notes; a table and a group without a title; an empty slide."""
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Travel\vpolicy"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Luggage"
    second.placeholders[1].text = "We replace\nlost luggage."
    second.notes_slide.notes_text_frame.text = "Not cash."
    third = deck.slides.add_slide(deck.slide_layouts[6])
    table = third.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
    for number, text in enumerate(("what", "limit", "bag", "$1,800")):
        table.cell(*divmod(number, 2)).text = text
    third.shapes.add_group_shape().shapes.add_textbox(0, 0, 100, 100).text_frame.text = "per trip"
    deck.slides.add_slide(deck.slide_layouts[6])
    return saved(deck)


def saved(document: object) -> bytes:
    """The bytes of a file."""
    stream = BytesIO()
    document.save(stream)  # type: ignore[attr-defined]
    return stream.getvalue()


def with_part(data: bytes, part: str, content: bytes) -> bytes:
    """The same file with one part replaced, or added. A long part of equal bytes makes it a bomb."""
    stream = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in dict.fromkeys([*old.namelist(), part]):
            new.writestr(name, content if name == part else old.read(name))
    return stream.getvalue()


def with_text(data: bytes, part: str, before: str, text: str) -> bytes:
    """The same file with a text in a part, before another text there."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        content = file.read(part).decode()
    assert content.count(before) == 1
    return with_part(data, part, content.replace(before, f"{text}{before}").encode())
