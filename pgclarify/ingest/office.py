"""Word (DOCX) and PowerPoint (PPTX) files as Markdown, with headings, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.markup import read_html

if TYPE_CHECKING:
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
    from pptx.text.text import TextFrame

# The link from a footnote back to its place.
_BACK_REFERENCE = re.compile(r'<a href="#[^"]*">↑</a>')
_TITLES = "p[style-name='Title'] => h1:fresh"


def read_docx(data: bytes, name: str | Path) -> str:
    """Read the text of a Word file: body, footnotes and text boxes; without pictures, headers and comments.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: If it has no text.
    """
    # An optional extra, and slow to import.
    from mammoth import convert_to_html

    # Ignore the file's own mapping of styles.
    html = convert_to_html(
        BytesIO(data), style_map=_TITLES, include_embedded_style_map=False, convert_image=lambda image: []
    ).value
    _, content = read_html(_BACK_REFERENCE.sub("", html), has_header_rows=True)
    return _with_text(content, name)


def read_pptx(data: bytes, name: str | Path) -> str:
    """Read the text of a PowerPoint file by slide: titles, text, tables and notes; without pictures and charts.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: If it has no text.
    """
    # An optional extra, and slow to import.
    from pptx import Presentation

    slides = [_read_slide(slide, number) for number, slide in enumerate(Presentation(BytesIO(data)).slides, start=1)]
    return _with_text("\n\n".join(slide for slide in slides if slide), name)


def _read_slide(slide: Slide, number: int) -> str:
    from pptx.enum.shapes import PP_PLACEHOLDER

    title = slide.shapes.title
    is_of_deck = title is not None and title.placeholder_format.type == PP_PLACEHOLDER.CENTER_TITLE
    blocks = [block for shape in slide.shapes if shape != title for block in _read_shape(shape) if block]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        blocks.append(_lines(slide.notes_slide.notes_text_frame))
    heading = " ".join(title.text_frame.text.split()) if title is not None else ""
    if not heading and not any(blocks):
        return ""
    # Without its own heading, a slide's text would be below the heading of the previous slide.
    return "\n\n".join([f"{'#' if is_of_deck else '##'} {heading or f'Slide {number}'}", *filter(None, blocks)])


def _read_shape(shape: BaseShape) -> Iterator[str]:
    from pptx.shapes.autoshape import Shape
    from pptx.shapes.graphfrm import GraphicFrame
    from pptx.shapes.group import GroupShape

    if isinstance(shape, GroupShape):
        for part in shape.shapes:
            yield from _read_shape(part)
    elif isinstance(shape, Shape):
        yield _lines(shape.text_frame)
    elif isinstance(shape, GraphicFrame) and shape.has_table:
        yield _table([cell.text for cell in row.cells] for row in shape.table.rows)


def _lines(text_frame: TextFrame) -> str:
    lines = (" ".join(paragraph.text.split()) for paragraph in text_frame.paragraphs)
    return "\n".join(line for line in lines if line)


def _table(rows: Iterable[list[str]]) -> str:
    """Make a Markdown table; the first row is the header."""
    cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    if not any(cell for row in cells for cell in row):
        return ""
    cells.insert(1, ["---"] * len(cells[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _with_text(content: str, name: str | Path) -> str:
    if content:
        return content
    raise UnreadableFile(f"cannot read {name}", detail="It has no text: it is empty, or has only pictures.")
