"""Small files that would take endless time or all memory to parse: they are skipped, and the load continues."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import xlwt

from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest.apart import ParsingProcess
from pgclarify.ingest.headings import find_headings
from tests.unit.ingest.test_pdf import pdf

pytestmark = pytest.mark.slow


def assemble(objects: Sequence[bytes]) -> bytes:
    """A PDF file of these objects; the first is the catalog."""
    data = b"%PDF-1.5\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, len(data))
    )


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """A compressed stream."""
    packed = zlib.compress(content, 9)
    return b"<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (entries, len(packed), packed)


def nested_forms(pages: int = 1000, depth: int = 40, width: int = 10) -> bytes:
    """Some hundred kilobytes: many pages with the same form, which contains forms. Each page takes seconds to parse."""
    font = b"/Font << /F1 3 0 R >>"
    shown = b"/X Do\n" * width
    first_page = 6 + depth
    kids = b" ".join(b"%d 0 R" % (first_page + page) for page in range(pages))
    kind = b"/Type /XObject /Subtype /Form /BBox [0 0 612 792]"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 612 792]"
        b" /Resources << %s /XObject << /X 5 0 R >> >> >>" % (kids, pages, font),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        stream(shown),
    ]
    objects += [
        stream(shown, b"%s /Resources << %s /XObject << /X %d 0 R >> >>" % (kind, font, 6 + level))
        for level in range(depth)
    ]
    objects.append(stream(b"BT /F1 12 Tf (text) Tj ET", b"%s /Resources << %s >>" % (kind, font)))
    objects += [b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>"] * pages
    return assemble(objects)


@pytest.mark.parametrize(("bomb", "suffix"), [(nested_forms(), ".pdf"), (b"<!--" * 1_000_000, ".html")])
def test_a_file_that_takes_too_long_is_left_out_and_the_next_is_read(bomb: bytes, suffix: str) -> None:
    assert len(bomb) < 5_000_000
    # No machine parses the bomb in this time.
    process = ParsingProcess(seconds=1)
    try:
        with pytest.raises(UnreadableFile) as caught:
            process.parse(bomb, suffix, f"bomb{suffix}")
        assert "takes longer than" in str(caught.value.detail)
        process._seconds = 60
        assert process.parse(b"# Hail", ".md", "a.md")[0].title == "Hail"
    finally:
        process.close()


def test_a_process_that_dies_is_replaced() -> None:
    process = ParsingProcess()
    try:
        assert process.parse(b"# Hail", ".md", "a.md")[0].title == "Hail"
        process._process.kill()  # type: ignore[union-attr]
        with pytest.raises(UnreadableFile):
            process.parse(b"# Hail", ".md", "a.md")
        assert process.parse(b"# Hail", ".md", "a.md")[0].title == "Hail"
    finally:
        process.close()


def test_a_file_that_was_interrupted_does_not_answer_for_the_next() -> None:
    class Interrupted:
        def __init__(self, stream: Any) -> None:
            self.stream = stream

        def readline(self) -> bytes:
            raise KeyboardInterrupt

        def __getattr__(self, name: str) -> Any:
            return getattr(self.stream, name)

    process = ParsingProcess()
    try:
        assert process.parse(b"# Hail", ".md", "a.md")[0].title == "Hail"
        running: Any = process._process
        answers, running.stdout = running.stdout, Interrupted(running.stdout)
        with pytest.raises(KeyboardInterrupt):
            process.parse(b"# Rain", ".md", "b.md")
        running.stdout = answers
        assert process.parse(b"# Snow", ".md", "c.md")[0].title == "Snow"
    finally:
        process.close()


def test_the_parsing_process_names_the_extra_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pypdfium2.py").write_text("raise ModuleNotFoundError(name='pypdfium2')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    process = ParsingProcess()
    try:
        with pytest.raises(MissingReader) as refused:
            process.parse(pdf("Hail"), ".pdf", "a.pdf")
        assert "pgclarify[files]" in str(refused.value.hint)
    finally:
        process.close()


def test_nothing_in_the_folder_at_hand_is_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("pypdfium2", "json", "bs4"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    process = ParsingProcess()
    try:
        assert process.parse(pdf("Hail"), ".pdf", "a.pdf")[0].content == "Hail"
    finally:
        process.close()


def test_a_heading_of_open_brackets_takes_no_time_that_grows_with_its_square() -> None:
    # In quadratic time, this would take hours.
    (heading,) = find_headings("# " + "![" * 1_000_000)
    assert heading.text.startswith("![")


def test_what_a_library_prints_is_no_answer() -> None:
    book = xlwt.Workbook()
    book.add_sheet("Rates").write(0, 0, "E-bike")
    stream = BytesIO()
    book.save(stream)
    process = ParsingProcess()
    try:
        # xlrd prints a warning about a file that is cut off.
        with suppress(UnreadableFile):
            process.parse(stream.getvalue()[:-700], ".xls", "a.xls")
        assert process.parse(b"# Hail", ".md", "a.md")[0].title == "Hail"
    finally:
        process.close()
