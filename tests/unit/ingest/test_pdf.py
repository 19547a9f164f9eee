"""PDF files, made here byte by byte or by pypdf."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest import read_documents


def pdf(*pages: str, title: str | None = None, password: str | None = None) -> bytes:
    """A PDF file with a line of text on each page. An empty line makes an empty page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    data = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    data += (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    ).encode()
    if title is None and password is None:
        return data
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    if title is not None:
        writer.add_metadata({"/Title": title})
    if password is not None:
        writer.encrypt(password, algorithm="RC4-128")
    changed = BytesIO()
    writer.write(changed)
    return changed.getvalue()


def read_one(folder: Path, data: bytes) -> Document | UnreadableFile:
    path = folder / "policy.pdf"
    path.write_bytes(data)
    (found,) = read_documents([folder])
    return found


def test_pages_are_joined_and_their_starts_kept(tmp_path: Path) -> None:
    document = read_one(tmp_path, pdf("Hail is covered.", "Floods are not.", "Ask us."))
    assert isinstance(document, Document)
    assert document.content == "Hail is covered.\n\nFloods are not.\n\nAsk us."
    assert (document.document_id, document.title) == ("policy.pdf", "policy")
    starts = document.metadata["page_starts"]
    assert [document.content[start:].split("\n")[0] for start in starts] == [
        "Hail is covered.",
        "Floods are not.",
        "Ask us.",
    ]


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (pdf("", ""), "Its 2 pages have no text"),
        (pdf("Secret.", password="sesame"), "It is encrypted."),  # noqa: S106
        (b"no PDF at all", "no PDF file"),
        (pdf("Hail is covered.")[:300], "no PDF file"),
    ],
)
def test_a_pdf_without_text_is_a_problem_with_its_reason(tmp_path: Path, data: bytes, detail: str) -> None:
    problem = read_one(tmp_path, data)
    assert isinstance(problem, UnreadableFile)
    assert detail in str(problem.detail)
    assert "\n" not in str(problem.detail)


def test_an_encrypted_pdf_with_an_empty_password_is_read(tmp_path: Path) -> None:
    document = read_one(tmp_path, pdf("Hail is covered.", password=""))
    assert isinstance(document, Document)
    assert document.content == "Hail is covered."
