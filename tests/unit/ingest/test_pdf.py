"""PDF files, made here byte by byte or by pypdf."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.extraction import Extracted, Page
from pgclarify.ingest.pdf import _pages, _Plain, _with_titles

NEXT_LINE = ") Tj 0 -16 Td ("


def pdf(
    *pages: str,
    title: str | None = None,
    password: str | None = None,
    catalog: str = "",
    encoding: str = "/WinAnsiEncoding",
) -> bytes:
    """A PDF file with a line of text on each page. An empty line makes an empty page.

    catalog: More of its first object. encoding: Which letters its bytes are.
    """
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding {encoding} >>",
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


def test_pages_are_joined_and_their_places_kept(tmp_path: Path) -> None:
    document = read_one(tmp_path, pdf("Hail is covered.", "Floods are not.", "Ask us."))
    assert isinstance(document, Document)
    assert document.content == "Hail is covered.\n\nFloods are not.\n\nAsk us."
    assert (document.document_id, document.title) == ("policy.pdf", "policy")
    assert [(place["name"], document.content[place["start_char"] :].split("\n")[0]) for place in document.places] == [
        ("page 1", "Hail is covered."),
        ("page 2", "Floods are not."),
        ("page 3", "Ask us."),
    ]


def test_a_page_without_text_between_others_is_counted(tmp_path: Path) -> None:
    picture = pdf("Hail is covered.", "(a picture)", "Ask us.").replace(
        b"BT /F1 12 Tf 72 720 Td ((a picture)) Tj ET", b"0 0 m 72 720 l S                          "
    )
    document = read_one(tmp_path, picture)
    assert isinstance(document, Document)
    assert document.unread == {"page without text": 1}
    assert [place["name"] for place in document.places] == ["page 1", "page 3"]


def test_words_that_are_parted_at_the_end_of_a_line_are_whole(tmp_path: Path) -> None:
    document = read_one(
        tmp_path, pdf(NEXT_LINE.join(["We pay a reim-", "bursement of 44 dollars, and a", "well-known fee."]))
    )
    assert isinstance(document, Document)
    assert " ".join(document.content.split()) == "We pay a reimbursement of 44 dollars, and a well-known fee."


def test_a_letter_of_which_the_file_does_not_say_what_it_is_is_counted(tmp_path: Path) -> None:
    document = read_one(tmp_path, pdf("The o\\001ce closes at 16:10.", encoding="<< /Differences [1 /g17] >>"))
    assert isinstance(document, Document)
    assert document.content == "The oce closes at 16:10."
    assert document.unread == {"unreadable letter": 1}


def test_a_header_of_all_pages_is_read_once(tmp_path: Path) -> None:
    pages = [f"Handbook, page {number}) Tj 0 -200 Td (Rule {number + 10} is here." for number in range(1, 5)]
    document = read_one(tmp_path, pdf(*pages))
    assert isinstance(document, Document)
    assert document.content.count("Handbook") == 1
    assert all(f"Rule {number + 10} is here." in document.content for number in range(1, 5))


def test_what_the_layout_loses_is_added_and_much_of_it_replaces_the_layout() -> None:
    plain = [_Plain(text, 0, 0, is_blank=False) for text in ("One two three.\nFour five six.", "Seven eight nine ten.")]
    words = " ".join(f"word{number}" for number in range(40))
    long = _Plain(f"{words}\nPaid by the landlord.", 0, 0, is_blank=False)
    html = [Page(1, "<p>One two three.</p>"), Page(2, "<p>Seven</p>"), Page(3, f"<h1>{words}</h1>")]
    assert _pages([*plain, long], Extracted(None, "", html)) == [
        plain[0].text,
        plain[1].text,
        f"# {words}\n\nPaid by the landlord.",
    ]


def test_a_page_whose_layout_loses_many_words_is_read_as_it_is_stored() -> None:
    plain = _Plain("Bike, Bonn office, 19 €\nVan, Bonn office, 90 €\nBoat, Kiel office, 70 €", 0, 0, is_blank=False)
    html = "<p>Bike, Bonn office, 19 € Van, 90 € Boat, Kiel office, 70 €</p>"
    assert _pages([plain], Extracted(None, "", [Page(1, html)])) == [plain.text]


def test_a_hyphen_is_kept_if_the_word_has_one_elsewhere() -> None:
    pages = [
        _Plain(text, 0, 0, is_blank=False)
        for text in ("From north\x02\nsouth infor\x02\nmation.", "A north-south road.")
    ]
    assert _pages(pages, Extracted(None, "")) == ["From north-south information.", "A north-south road."]


def in_columns(rows: list[tuple[str, str]], *, gap: int = 258) -> bytes:
    """A page with two columns that are stored row by row."""
    moves = (f"{left}) Tj {gap} 0 Td ({right}) Tj {-gap} -14 Td (" for left, right in rows)
    return pdf("".join(moves))


def test_short_columns_that_are_stored_row_by_row_are_read_one_after_the_other(tmp_path: Path) -> None:
    rows = [
        ("A skiff for a day in", "A sauna evening with a"),
        ("summer costs a sum of", "towel costs each guest"),
        ("27 dollars with oars.", "39 dollars at the desk."),
    ]
    for number in (2, 3):
        document = read_one(tmp_path, in_columns(rows[:number], gap=200))
        assert isinstance(document, Document)
        expected = [*(left for left, _ in rows[:number]), *(right for _, right in rows[:number])]
        assert document.content.split() == " ".join(expected).split()


def test_rows_of_a_table_stay_rows(tmp_path: Path) -> None:
    rows = [("City bike for a day", "19 dollars"), ("Cargo bike for a day", "55 dollars"), ("Deposit", "50 dollars")]
    document = read_one(tmp_path, in_columns(rows))
    assert isinstance(document, Document)
    assert document.content.index("19 dollars") < document.content.index("Cargo bike")


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (("The infor-", "mation is free."), "The information is free."),
        (("INFOR-", "MATION IS FREE."), "INFORMATION IS FREE."),
        (("From north-", "south by a north-south road."), "From north-south by a north-south road."),
        (("The FAA-", "approved plan of Jean-", "Pierre."), "The FAA-approved plan of Jean-Pierre."),
        (("A so-called north-", "south ticket."), "A so-called north-south ticket."),
        (("Twenty-", "five foot-", "bridges."), "Twenty-five footbridges."),
        (("About COVID-", "19."), "About COVID-19."),
        (("A state-of-", "the-art plan."), "A state-of-the-art plan."),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_is_kept_where_the_word_has_one(
    tmp_path: Path, lines: tuple[str, ...], read: str
) -> None:
    document = read_one(tmp_path, pdf(") Tj 0 -14 Td (".join(lines)))
    assert isinstance(document, Document)
    assert document.content.split() == read.split()


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (pdf("", ""), "No page has text"),
        (pdf("Secret.", password="sesame"), "It is encrypted."),  # noqa: S106
        (b"no PDF at all", "no PDF file"),
        (pdf("Hail is covered.")[:300], "no PDF file"),
        (pdf("Please wait...", catalog="/AcroForm << /Fields [] /XFA (<template/>) >>"), "XFA form"),
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


def test_a_page_has_its_own_title_and_not_that_of_a_page_before() -> None:
    pages = ["# Benefits\n\n## Virtual care\n\nCall us.", "Dental care\n\nA visit costs 20.", "It goes on.\n\nAnd on."]
    assert list(_with_titles(pages)) == [pages[0], "## Dental care\n\nA visit costs 20.", pages[2]]


@pytest.mark.parametrize("top", ["and so on", "It ends here.", "Boat 20", "# Fees", "Note:", "A"])
def test_other_lines_above_a_page_are_no_title(top: str) -> None:
    pages = ["# Benefits\n\nCall us.", f"{top}\n\nA visit costs 20."]
    assert list(_with_titles(pages)) == pages


def below(text: str, *, by: int = 16) -> str:
    return f") Tj 0 -{by} Td ({text}"


def beside(*texts: str) -> str:
    """Texts that stand side by side, and the way back to the first."""
    return ") Tj 90 0 Td (".join(texts) + f") Tj -{90 * (len(texts) - 1)} 0 Td ("


@pytest.mark.parametrize(
    ("before", "rise", "mark", "told"),
    [
        ("Entry costs 14", 5, "1", "14^1"),
        ("Entry costs $14", 5, "12", "$14¹²"),
        ("the council", 5, "7", "council⁷"),
        ("CO", -3, "2", "CO₂"),
    ],
)
def test_a_raised_mark_is_no_part_of_a_number(tmp_path: Path, before: str, rise: int, mark: str, told: str) -> None:
    text = f"{before}) Tj /F1 7 Tf {rise} Ts ({mark}) Tj 0 Ts /F1 12 Tf ( in all, and 103 more."
    document = read_one(tmp_path, pdf(text))
    assert isinstance(document, Document)
    assert document.content.endswith(f"{told} in all, and 103 more.")


def test_a_table_without_lines_has_rows_and_names(tmp_path: Path) -> None:
    rows = [("Boat", "Day", "Week"), ("Skiff", "19", "95"), ("Raft", "", "40"), ("Canoe", "12", "60")]
    table = "".join(below(beside(*row)) for row in rows)
    page = pdf("Prices are in euros." + table + below("Late return costs 12 euros an hour."))
    document = read_one(tmp_path, page)
    assert isinstance(document, Document)
    assert document.content.split("\n\n") == [
        "Prices are in euros.",
        "Boat: Skiff; Day: 19; Week: 95\nBoat: Raft; Week: 40\nBoat: Canoe; Day: 12; Week: 60",
        "Late return costs 12 euros an hour.",
    ]
