"""Excel files as rows that name their columns."""

from __future__ import annotations

import zipfile
from datetime import date, datetime, time
from io import BytesIO

import pytest
import xlwt
from openpyxl import Workbook
from openpyxl.comments import Comment

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.parsed import Parsed
from pgclarify.ingest.parsing import parse
from pgclarify.ingest.spreadsheets import shown


def read(workbook: Workbook) -> Parsed:
    stream = BytesIO()
    workbook.save(stream)
    (parsed,) = parse(stream.getvalue(), ".xlsx", "a.xlsx")
    return parsed


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (42.5, "General", "42.5"),
        (0.1 + 0.2, "General", "0.3"),
        (1234567, "General", "1234567"),
        (0.15, "0%", "15%"),
        (0.155, "0.0%", "15.5%"),
        (1234.5, "#,##0.00", "1,234.50"),
        (1234.5, '#,##0.00 "€"', "1,234.50 €"),
        (1234.5, "[$€-407] 0", "€ 1234"),
        (42.5, "0.##", "42.5"),
        (-5, "0;(0)", "(5)"),
        (-5, "0.0", "-5.0"),
        (0, '0;-0;"none"', "none"),
        (7, "000", "007"),
        (1234567, '#,##0,"k"', "1,235k"),
        (12.5, '_-* #,##0.00_-"$"', "12.50$"),
        (1.5e10, "0.00E+00", "15000000000"),
        (3, '0 "days"', "3 days"),
        (42.5, '0.00 "EUR/day"', "42.50 EUR/day"),
        (42.5, "[$EUR] 0.00", "EUR 42.50"),
        (True, "General", "TRUE"),
        (None, "General", ""),
        (date(2026, 4, 15), "dd.mm.yyyy", "15.04.2026"),
        (datetime(2026, 4, 15), "mm-dd-yy", "2026-04-15"),
        (datetime(2026, 4, 5, 14, 3), "d mmm yyyy h:mm AM/PM", "5 Apr 2026 2:03 PM"),
        (time(9, 5), "hh:mm", "09:05"),
        ("text", "0.00", "text"),
    ],
)
def test_a_value_is_read_as_it_is_shown(value: object, number_format: str, text: str) -> None:
    assert shown(value, number_format) == text


def test_each_sheet_is_a_heading_and_each_row_has_its_place() -> None:
    workbook = Workbook()
    prices = workbook.active
    prices.title = "Prices"
    for row in [["Rental prices"], [], ["Vehicle", "Price"], [None, "Day", "Week"], ["E-bike", 42.5, 210]]:
        prices.append(row)
    prices.merge_cells("A1:C1")
    prices.merge_cells("A3:A4")
    prices.merge_cells("B3:C3")
    hours = workbook.create_sheet("Hours")
    hours.append(["Station", "Opens"])
    hours.append(["Harbour", time(9)])
    parsed = read(workbook)
    assert parsed.content == (
        "## Prices\n\n### Rental prices\n\nVehicle: E-bike; Price Day: 42.5; Price Week: 210\n\n"
        "## Hours\n\nStation: Harbour; Opens: 9:00:00"
    )
    assert [(place.kind, place.name) for place in parsed.places][2:4] == [
        ("row", "sheet Prices, row 5"),
        ("sheet", "sheet Hours"),
    ]


def test_what_people_do_not_see_is_counted_and_not_read() -> None:
    workbook = Workbook()
    sheet = workbook.active
    for row in [["Vehicle", "Day", "Cost"], ["E-bike", 42, 30], ["Old bike", 10, 9], ["Sum", "=B2+B3", 1]]:
        sheet.append(row)
    sheet.column_dimensions["C"].hidden = True
    sheet.row_dimensions[3].hidden = True
    sheet["A2"].comment = Comment("stolen", "Ada")
    workbook.create_sheet("Secret").sheet_state = "hidden"
    parsed = read(workbook)
    assert parsed.content == "## Sheet\n\nVehicle: E-bike; Day: 42\nVehicle: Sum"
    assert parsed.unread == {"hidden cell": 6, "hidden sheet": 1, "comment": 1, "formula without a value": 1}


def test_a_cell_far_away_takes_no_memory() -> None:
    workbook = Workbook()
    workbook.active["XFD1048576"] = "far"
    workbook.active["A1"] = "near"
    with pytest.raises(UnreadableFile):
        read(workbook)


def test_an_opendocument_spreadsheet_is_read_as_it_is_shown() -> None:
    content = f"""<office:document-content {NAMESPACES}><office:automatic-styles>
        <style:style style:name="h" style:family="table"><style:table-properties table:display="false"/></style:style>
        </office:automatic-styles><office:body><office:spreadsheet>
        <table:table table:name="Prices">
        <table:table-row>{cell("Vehicle")}{cell("Summer", 'table:number-columns-spanned="2"')}
        <table:covered-table-cell/></table:table-row>
        <table:table-row>{cell("")}{cell("Day")}{cell("Share")}</table:table-row>
        <table:table-row>{cell("E-bike")}{cell("42,50 €", 'office:value="42.5"')}{cell("15%", 'office:value="0.15"')}
        </table:table-row>
        <table:table-row table:visibility="collapse">{cell("Old")}</table:table-row>
        <table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/>
        </table:table-row></table:table>
        <table:table table:name="Secret" table:style-name="h"><table:table-row>{cell("x")}</table:table-row>
        </table:table>
        </office:spreadsheet></office:body></office:document-content>"""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("content.xml", content)
    (parsed,) = parse(stream.getvalue(), ".ods", "a.ods")
    assert parsed.content == "## Prices\n\nVehicle: E-bike; Summer Day: 42,50 €; Summer Share: 15%"
    assert parsed.unread == {"hidden cell": 1, "hidden sheet": 1}
    assert parsed.places[1].name == "sheet Prices, row 3"


NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "style", "table", "text")
)


def cell(text: str, attributes: str = "") -> str:
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def test_a_file_of_excel_2003_is_read_as_it_is_shown() -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Rates")
    sheet.write_merge(0, 0, 0, 3, "Prices")
    for column, name in enumerate(("Vehicle", "Day", "From", "Share")):
        sheet.write(1, column, name)
    for column, (value, form) in enumerate(
        [("E-bike", "General"), (42.5, '0.00 "EUR"'), (date(2026, 4, 15), "DD.MM.YYYY"), (0.15, "0%")]
    ):
        sheet.write(2, column, value, xlwt.easyxf(num_format_str=form))
    sheet.write(3, 0, "Old bike")
    sheet.write(3, 1, True)
    sheet.row(3).hidden = True
    hidden = book.add_sheet("Hidden")
    hidden.visibility = 1
    hidden.write(0, 0, "secret")
    stream = BytesIO()
    book.save(stream)

    (parsed,) = parse(stream.getvalue(), ".xls", "a.xls")

    assert parsed.content.splitlines() == [
        "## Rates", "", "### Prices", "", "Vehicle: E-bike; Day: 42.50 EUR; From: 15.04.2026; Share: 15%",
    ]  # fmt: skip
    assert parsed.places[-1].name == "sheet Rates, row 3"
    assert parsed.unread == {"hidden sheet": 1, "hidden cell": 2}
