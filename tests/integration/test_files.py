"""Files as people have them: what `load` makes of them answers questions, also without a language model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from openpyxl import Workbook

from pgclarify.cli.main import main
from tests.sessions import Connection, scalar
from tests.workers import wait_until_searchable, worker


@pytest.fixture
def loaded(
    database: str,
    connection: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Connection]:
    """A price list, loaded and searchable, and a worker without a language model."""
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    monkeypatch.chdir(tmp_path)
    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Prices"
    sheet.append(["Rental prices"])
    sheet.append(["Vehicle", "Day", "Week"])
    for number in range(60):
        sheet.append([f"Model {number}", number + 0.5, number * 5])
    sheet.append(["E-bike", 42.5, 210])
    for row in sheet.iter_rows(min_row=3, min_col=2):
        for cell in row:
            cell.number_format = '0.00 "€"'
    workbook.create_sheet("Old").sheet_state = "hidden"
    workbook.save("prices.xlsx")
    with pytest.raises(SystemExit) as ended:
        main(["load", "shop", "prices.xlsx", "--no-wait", "--json"])
    assert not ended.value.code
    assert json.loads(capsys.readouterr().out)["not_read"] == {"prices.xlsx": {"hidden sheet": 1}}
    with worker(database, None, tmp_path):
        wait_until_searchable(connection, "shop")
        yield connection


def test_a_cell_of_a_price_list_is_found_without_a_model_with_its_row_as_quote(loaded: Connection) -> None:
    question = "select answer, citations->0->>'quote' from pgclarify.clarify('E-bike day price', corpus => 'shop')"
    assert loaded.execute(question).fetchone() == ("42.50 €", "Vehicle: E-bike; Day: 42.50 €; Week: 210.00 €")
    place = "sheet Prices, row 63"
    assert (
        scalar(loaded, "select citations->0->>'place' from pgclarify.clarify('E-bike day price', corpus => 'shop')")
        == place
    )
    assert scalar(loaded, "select place from pgclarify.citation where rank = 1") == place
    # Each passage of the long table says its columns.
    assert scalar(loaded, "select count(*) from pgclarify_private.passage") > 3
    assert scalar(loaded, "select bool_and(content like '%%Vehicle: %%; Day: %%') from pgclarify_private.passage")


def test_what_is_not_read_is_stored_and_doctor_sums_it_up(
    loaded: Connection, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scalar(loaded, "select unread from pgclarify.document") == {"hidden sheet": 1}
    with pytest.raises(SystemExit):
        main(["doctor", "--json"])
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert "1 hidden sheet in 1 document" in checks["files"]["finding"]
    loaded.execute("create role stranger in role pgclarify_reader")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        loaded.execute("set role stranger")
        loaded.execute("select unread from pgclarify_private.document")


def test_a_page_of_a_pdf_file_has_an_address_that_browsers_open_there(connection: Connection) -> None:
    link = "select pgclarify_private.page_link(%s, %s)"
    assert (
        scalar(connection, link, "https://a.example/b.PDF", "page 7, read by OCR") == "https://a.example/b.PDF#page=7"
    )
    for uri, place in (
        ("https://a.example/b.pdf#x", "page 7"),
        ("https://a.example/b.html", "page 7"),
        ("/b.pdf", None),
    ):
        assert scalar(connection, link, uri, place) == uri
