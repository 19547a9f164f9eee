"""Tables as lines that name their columns."""

from __future__ import annotations

import pytest

from pgclarify.ingest.grids import table_lines


def lines(*rows: tuple[str, ...], **options: object) -> list[str]:
    found, _ = table_lines(rows, **options)  # type: ignore[arg-type]
    return [line.text for line in found]


def test_each_row_names_its_columns_and_leaves_out_empty_cells() -> None:
    assert lines(("Vehicle", "Day", "Week"), ("E-bike", "42.5 €", ""), ("Cargo\n bike", "", "200")) == [
        "Vehicle: E-bike; Day: 42.5 €",
        "Vehicle: Cargo bike; Week: 200",
    ]


@pytest.mark.parametrize(
    "headers",
    [
        # Merged cells are repeated; or only the first one has the text.
        (("Vehicle", "Summer", "Summer"), ("Vehicle", "Day", "Week")),
        (("Vehicle", "Summer", ""), ("", "Day", "Week")),
    ],
)
def test_two_headers_are_joined(headers: tuple[tuple[str, ...], ...]) -> None:
    assert lines(*headers, ("E-bike", "42", "210"), ("Bike", "19", "95"))[0] == (
        "Vehicle: E-bike; Summer Day: 42; Summer Week: 210"
    )


def test_titles_stand_above_the_header() -> None:
    found, _ = table_lines([("Prices 2026", "", ""), ("", "", ""), ("Vehicle", "Day", "Week"), ("E-bike", "42", "210")])
    assert [(line.text, line.row, line.is_title) for line in found] == [
        ("Prices 2026", 1, True),
        ("Vehicle: E-bike; Day: 42; Week: 210", 4, False),
    ]


def test_a_title_among_the_rows_is_said_with_each_row_below_it() -> None:
    rows = [("Vehicle", "Day", "Week"), ("Bikes",) * 3, ("E-bike", "42", "210"), ("Cars",) * 3, ("Van", "90", "400")]
    assert lines(*rows) == ["Bikes; Vehicle: E-bike; Day: 42; Week: 210", "Cars; Vehicle: Van; Day: 90; Week: 400"]


def test_rows_of_equal_cells_are_not_lost() -> None:
    rows = [("A", "B", "C"), ("0", "0", "0"), ("closed",) * 3]
    assert lines(*rows, has_header=True) == ["A: 0; B: 0; C: 0", "closed"]
    assert lines(*rows, has_header=True, merges=False)[1] == "A: closed; B: closed; C: closed"


def test_without_a_header_two_columns_are_names_and_values() -> None:
    assert lines(("Rent", "1,350 euros"), ("Deposit", "4,050 euros")) == ["Rent: 1,350 euros", "Deposit: 4,050 euros"]
    assert lines(("Name", "Ada"), ("City", "London")) == ["Name: Ada", "City: London"]
    assert lines(("Tenant", "Ada"), ("Rent", "1,350 euros"), ("Start", "1 May 2026"))[1] == "Rent: 1,350 euros"
    assert lines(("Vehicle", "Price"), ("E-bike", "42 €"), ("Bike", "19 €"))[0] == "Vehicle: E-bike; Price: 42 €"
    assert lines(("17", "E-bike", "42"), ("18", "Bike", "19"))[0] == "17; E-bike; 42"


def test_years_can_be_names_of_columns() -> None:
    assert lines(("Product", "2024", "2025"), ("E-bike", "100", "120"))[0] == "Product: E-bike; 2024: 100; 2025: 120"


def test_a_table_goes_on_with_the_columns_of_the_page_before() -> None:
    _, columns = table_lines([("Vehicle", "Day", "Week"), ("E-bike", "42", "210")])
    assert lines(("Van", "on demand", "400"), ("Bus", "91", "401"), before=columns)[0] == (
        "Vehicle: Van; Day: on demand; Week: 400"
    )
    # A table with its own header does not.
    assert lines(("Station", "Opens", "Closes"), ("Main", "9", "17"), before=columns)[0] == (
        "Station: Main; Opens: 9; Closes: 17"
    )


def test_a_long_row_is_cut_between_fields_and_says_its_first_field_again() -> None:
    header = ("Vehicle", *(f"column {number}" for number in range(40)))
    row = ("E-bike", *(f"a value with some words {number}" for number in range(40)))
    found = lines(header, row)
    assert len(found) > 2
    assert all(line.startswith("Vehicle: E-bike; ") and len(line) <= 400 for line in found)
    assert all(any(f"column {number}: {row[number + 1]}" in line for line in found) for number in range(40))


def test_names_of_a_drawn_table_are_not_trusted_if_a_column_with_values_has_none() -> None:
    rows = [("State", "Handgun", "", "Totals"), ("Alabama", "14", "15", "29"), ("Alaska", "9", "3", "12")]
    assert lines(*rows, is_drawn=True)[1] == "Alabama; 14; 15; 29"
    assert lines(*rows)[0] == "State: Alabama; Handgun: 14; 15; Totals: 29"
