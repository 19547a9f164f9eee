"""HTML and Markdown as text that can be quoted."""

from __future__ import annotations

import pytest

from pgclarify.ingest.markup import read_html
from pgclarify.ingest.parsing import parse


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("10<sup>2</sup> square feet", "10^2 square feet"),
        ("1.5 &times; 10<sup>&minus;6</sup>", "1.5 × 10^−6"),  # noqa: RUF001
        ("$3<sup>2</sup> an hour", "$3² an hour"),
        ("45 dollars<sup><a href='#f'>1</a></sup>.", "45 dollars¹."),
        ("m<sup>2</sup> of H<sub>2</sub>O", "m² of H₂O"),
        ("the 1<sup>st</sup> of May", "the 1st of May"),
        ("dogs <del>pay 5 dollars</del> <s>or 6</s> are free", "dogs are free"),
        ("<p style='display: none'>old</p><p hidden>older</p><p>new</p>", "new"),
    ],
)
def test_marks_keep_their_meaning(html: str, text: str) -> None:
    assert read_html(html).content == text


def test_rows_of_a_table_repeat_merged_cells_and_name_columns() -> None:
    html = (
        "<table><caption>Prices</caption><tr><th rowspan=2>Vehicle<th colspan=2>Summer</tr><tr><th>Day<th>Week</tr>"
        "<tr><td>E-bike<td>1,<b>042</b><td rowspan=2>210</tr><tr><td>Bike<br>(old)<td>19</tr></table>"
    )
    assert read_html(html).content == (
        "Prices\nVehicle: E-bike; Summer Day: 1,042; Summer Week: 210\n"
        "Vehicle: Bike (old); Summer Day: 19; Summer Week: 210"
    )


def test_a_table_for_the_layout_is_text() -> None:
    html = "<table><tr><td><h1>Cars</h1><p>For rent.</td><td><table><tr><td>a<td>1</tr></table></td></tr></table>"
    assert read_html(html).content == "# Cars\n\nFor rent.\n\na: 1"


def test_a_page_is_decoded_as_it_declares() -> None:
    page = "<meta charset='windows-1252'><p>Café: 4 €</p>".encode("windows-1252")
    (parsed,) = parse(page, ".html", "a.html")
    assert parsed.content == "Café: 4 €"
    (parsed,) = parse("<meta charset='windows-1252'><p>Café: 4 €</p>".encode(), ".html", "a.html")
    assert parsed.content == "Café: 4 €"


def test_a_markdown_table_becomes_rows_and_what_people_do_not_see_is_left_out() -> None:
    text = (
        "---\ntitle: Shed rules\nstatus: retired\n---\n# Shed\n\n<!-- It was 90 dollars. -->\n"
        "| Name | Fee |\n|---|---|\n| Shed \\| small | 12 |\n\n```\n| no | table |\n<!-- no comment -->\n```\n"
    )
    (parsed,) = parse(text.encode(), ".md", "a.md")
    assert (parsed.title, parsed.metadata) == ("Shed rules", {"status": "retired"})
    assert parsed.content == ("# Shed\n\nName: Shed | small; Fee: 12\n\n```\n| no | table |\n<!-- no comment -->\n```")
