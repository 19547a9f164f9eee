"""Pictures and scanned pages, which are read only if somebody wants it."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from pgclarify.data.vocabulary import Document
from pgclarify.errors import InputError, UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.scans import Ocr


@pytest.fixture
def ocr() -> Ocr:
    """English, whose data a package of the development tools has."""
    return Ocr.of("eng")


def picture(text: str, kind: str) -> bytes:
    image = Image.new("RGB", (1400, 300), "white")
    ImageDraw.Draw(image).text((60, 100), text, "black", font=ImageFont.load_default(60))
    stream = BytesIO()
    image.save(stream, kind, resolution=150.0)
    return stream.getvalue()


@pytest.mark.slow
def test_a_picture_and_a_scanned_page_are_read_and_marked(tmp_path: Path, ocr: Ocr) -> None:
    (tmp_path / "a.png").write_bytes(picture("The deposit is 37 euros.", "png"))
    (tmp_path / "b.pdf").write_bytes(picture("A key costs 75 euros.", "pdf"))
    notice, scan = read_documents([tmp_path], ocr=ocr)
    assert isinstance(notice, Document) and isinstance(scan, Document)
    assert "The deposit is 37 euros." in notice.content
    assert "A key costs 75 euros." in scan.content
    assert notice.metadata == scan.metadata == {"ocr": True}
    assert [place["name"] for place in (*notice.places, *scan.places)] == [
        "picture, read by OCR",
        "page 1, read by OCR",
    ]


def test_without_it_pictures_are_counted_and_scans_refused_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture("text", "png"))
    (tmp_path / "b.pdf").write_bytes(picture("text", "pdf"))
    skipped: list[str] = []
    (problem,) = read_documents([tmp_path], on_skip=skipped.append)
    assert isinstance(problem, UnreadableFile)
    assert "--ocr" in str(problem.hint)
    assert skipped == [".png"]


def test_a_language_without_data_is_refused_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as caught:
        Ocr.of("eng+zzz")
    assert "tessdata-fast-zzz" in str(caught.value.hint)
    with pytest.raises(InputError):
        Ocr.of("../eng")
    (tmp_path / "zzz.traineddata").write_bytes(b"data")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    assert Ocr.of("zzz") == Ocr(("zzz",), str(tmp_path))
    assert sys.prefix in Ocr.of("eng").folder
