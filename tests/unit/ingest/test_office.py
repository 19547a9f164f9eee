"""DOCX and PPTX as Markdown."""

from __future__ import annotations

import sys
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document as WordDocument
from mammoth import embed_style_map

from pgclarify.data.vocabulary import Document
from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest import files, read_documents
from pgclarify.ingest.office import read_docx
from pgclarify.ingest.parsing import parse
from tests.unit.ingest.office_files import docx, pptx, saved, with_part

WORD_PART = "word/document.xml"
WORDS = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{}</w:body></w:document>'


def test_word_keeps_headings_lists_and_tables(tmp_path: Path) -> None:
    (tmp_path / "policy.docx").write_bytes(docx())
    (document,) = read_documents([tmp_path])
    assert isinstance(document, Document)
    assert replace(document, origin=None) == Document(
        "policy.docx",
        "# Travel policy\n\n# Luggage\n\nWe replace lost luggage, snake_case & 2*3.\n\n* by air\n\n## Limits\n\n"
        "| what | limit |\n| --- | --- |\n| bag | $1,800 |\n| per trip | |",
        title="Travel policy",
    )


def test_powerpoint_keeps_titles_tables_groups_and_notes(tmp_path: Path) -> None:
    (tmp_path / "policy.PPTX").write_bytes(pptx())
    (document,) = read_documents([tmp_path])
    assert isinstance(document, Document)
    assert replace(document, origin=None) == Document(
        "policy.PPTX",
        "# Travel policy\n\n## Luggage\n\nWe replace\nlost luggage.\n\nNot cash.\n\n## Slide 3\n\n"
        "| what | limit |\n| --- | --- |\n| bag | $1,800 |\n\nper trip",
        title="Travel policy",
    )


def test_tracked_insertions_are_read_and_deletions_are_not() -> None:
    body = (
        "<w:p><w:r><w:t>We pay </w:t></w:r><w:del><w:r><w:delText>nothing</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>$1,800</w:t></w:r></w:ins></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a form.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    assert (
        read_docx(with_part(docx(), WORD_PART, WORDS.format(body).encode()), "a.docx") == "We pay $1,800\n\nIn a form."
    )


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (docx(), ".pptx"),
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
        ("mammoth", ".docx", docx()),
        ("pptx", ".pptx", pptx()),
        ("pypdf", ".pdf", b"%PDF-1.7"),
        ("markdownify", ".html", b"<p>text</p>"),
    ],
)
def test_without_the_extra_it_says_what_to_install(
    package: str, suffix: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingReader) as caught:
        parse(data, suffix, f"a{suffix}")
    assert "pgclarify[files]" in (caught.value.hint or "")


def test_a_word_file_does_not_say_itself_what_its_styles_become() -> None:
    stream = BytesIO(docx())
    embed_style_map(stream, "p => h6:fresh")
    assert read_docx(stream.getvalue(), "policy.docx") == read_docx(docx(), "policy.docx")
