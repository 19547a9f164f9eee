"""A file that is not what its name says is a problem that is reported, and is never read as something else."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.parsing import WITH_PICTURES, parse
from pgclarify.ingest.scans import Ocr
from tests.unit.ingest.office_files import docx, pptx
from tests.unit.ingest.test_pdf import pdf

ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table", "draw")
)
CELL = "<table:table-cell><text:p>Hail.</text:p></table:table-cell>"
TABLE = f"<table:table><table:table-row>{CELL}</table:table-row></table:table>"
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="a.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
BOOK = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
    '<manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="c"/></spine></package>'
)
CHAPTER = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Hail.</p></body></html>'


def packed(*parts: tuple[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return stream.getvalue()


def odf(kind: str, body: str) -> bytes:
    content = f"<office:document-content {ODF}><office:body>{body}</office:body></office:document-content>"
    return packed(("mimetype", f"application/vnd.oasis.opendocument.{kind}"), ("content.xml", content))


def tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return stream.getvalue()


ODT = odf("text", f"<office:text><text:p>Hail.</text:p>{TABLE}</office:text>")
ODP = odf(
    "presentation",
    "<office:presentation><draw:page><draw:frame><draw:text-box><text:p>Hail.</text:p></draw:text-box></draw:frame>"
    "</draw:page></office:presentation>",
)
ODS = odf("spreadsheet", f"<office:spreadsheet>{TABLE}</office:spreadsheet>")
EPUB = packed(("META-INF/container.xml", CONTAINER), ("a.opf", BOOK), ("c.xhtml", CHAPTER))
FILES = {
    ".zip": packed(("a.txt", "Hail is covered.")),
    ".tar": tar(),
    ".docx": docx(),
    ".pptx": pptx(),
    ".odt": ODT,
    ".odp": ODP,
    ".ods": ODS,
    ".epub": EPUB,
    ".rtf": rb"{\rtf1 Hail.}",
    ".html": b"<html><body><p>Hail.</p></body></html>",
    ".txt": b"Hail is covered.",
    ".pdf": pdf("Hail is covered."),
}
SUFFIXES = sorted(WITH_PICTURES - {".zip", ".eml"})
# Those that office programs open, too.
ALIKE = {(".doc", ".rtf"), (".docm", ".docx"), (".dotx", ".docx"), (".ppsx", ".pptx"), (".pptm", ".pptx")}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_another_kind_is_not_read(suffix: str) -> None:
    for kind, data in FILES.items():
        if kind != suffix and (suffix, kind) not in ALIKE:
            with pytest.raises(UnreadableFile):
                pytest.fail(f"{kind} as {suffix}: {parse(data, suffix, 'a')}")


@pytest.mark.parametrize("kind", [".docx", ".pptx", ".odt", ".odp", ".ods", ".epub", ".rtf"])
def test_a_file_that_is_what_its_name_says_is_read(kind: str) -> None:
    (parsed,) = parse(FILES[kind], kind, f"a{kind}")
    assert parsed.content
    assert "ZIP" not in parsed.content


@pytest.mark.parametrize(("suffix", "kind"), sorted(ALIKE))
def test_a_file_that_office_programs_open_is_read(suffix: str, kind: str) -> None:
    (parsed,) = parse(FILES[kind], suffix, f"a{suffix}")
    assert parsed.content


def test_a_picture_that_is_none_is_not_recognized() -> None:
    for data in (FILES[".zip"], FILES[".docx"]):
        with pytest.raises(UnreadableFile):
            parse(data, ".png", "a.png", Ocr(("eng",), ""))


def test_it_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.epub").write_bytes(FILES[".zip"])
    (tmp_path / "b.txt").write_bytes(FILES[".txt"])
    problem, document = read_documents([tmp_path])
    assert isinstance(problem, UnreadableFile)
    assert "a.epub" in problem.message
    assert isinstance(document, Document)
