"""CSV and TSV: a row with an id is a document; a table without ids is one document."""

from __future__ import annotations

import csv
import gzip
import io
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest import FieldMapping, read_documents
from pgclarify.ingest.tables import read_table_stream

FAQ = FieldMapping(id=("no",), content=("answer",), title=("question",))


def read(data: bytes, mapping: FieldMapping | None = None) -> list[Document | UnreadableFile]:
    return list(read_table_stream(io.BytesIO(data), "faq.csv", mapping or FieldMapping()))


def test_a_row_is_a_document_and_its_other_fields_are_metadata() -> None:
    rows = read(b'no,question,answer,year,note\n7,Hail?,Covered.,2024,\n8,,"No, ""never"".",2025,x\n', FAQ)
    assert rows == [
        Document("7", "Covered.", title="Hail?", metadata={"year": "2024"}),
        Document("8", 'No, "never".', metadata={"year": "2025", "note": "x"}),
    ]


def test_a_column_may_have_the_date() -> None:
    rows = read(b"id,text,day\n1,a,2026-03-01\n2,b,\n", FieldMapping.parse(["dated=day"]))
    assert rows == [Document("1", "a", dated=datetime(2026, 3, 1)), Document("2", "b")]


@pytest.mark.parametrize(
    "data",
    [
        b"id,text\r\n1,a\r\n\r\n,\r\n2,b\r\n",
        b"\xef\xbb\xbfid,text\n1,a\n2,b",
        b'\n"id","text"\n"1","a"\n"2","b",,\n',
        b"\xfe\xff" + "id\ttext\n1\ta\n2\tb\n".encode("utf-16-be"),
        "id,text\n1,a\n2,b\n".encode("utf-32"),
    ],
)
def test_ways_to_write_the_same(data: bytes) -> None:
    assert read(data) == [Document("1", "a"), Document("2", "b")]


def test_files_of_every_suffix(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,a\n")
    # The only comma is not a delimiter.
    (tmp_path / "b.TSV").write_text("id\ttext, or so\n2\tb\n")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"id,text\n3,c\n"))
    (tmp_path / "empty.csv").write_bytes(b"")
    skipped: list[str] = []
    mapping = FieldMapping(content=("text", "text, or so"))
    found = list(read_documents([tmp_path], fields=mapping, on_skip=skipped.append))
    assert [(row.document_id, row.content) for row in found if isinstance(row, Document)] == [
        ("1", "a"),
        ("2", "b"),
        ("3", "c"),
    ]
    assert len(found) == 3
    assert skipped == ["empty file"]


@pytest.mark.parametrize(
    ("header", "mapping"),
    [
        (b"key,body,year", FieldMapping()),
        (b"id,body,year", FieldMapping(content=("bdoy",))),
        (b"id,body,year", FieldMapping(content=("body",), title=("nmae",))),
        (b"id,body,year,id", FieldMapping(content=("body",))),
        (b'"id,body\nyear', FieldMapping(content=("body",))),
    ],
)
def test_columns_that_do_not_fit_are_one_problem(header: bytes, mapping: FieldMapping) -> None:
    (problem,) = read(header + b"\n1,a,2024\n2,b,2024\n", mapping)
    assert isinstance(problem, UnreadableFile)
    if not header.startswith(b'"'):
        assert "body, year" in str(problem.detail)


@pytest.mark.parametrize(
    ("row", "place"),
    [
        (b"2,b", "line 3 of"),
        (b"2,b,2024,x", "line 3 of"),
        (b",b,2024", "line 3 of"),
        (b"2,\x81\xff,2024", "line 3 of"),
        (b"2,b,20\x0024", "line 3 of"),
        (b'2,"b\nb\nb",2024,x', "lines 3 to 5 of"),
        (b'2,b,2024,"["', "line 3 of"),
    ],
)
def test_a_bad_row_is_named_by_its_lines_and_the_others_are_read(row: bytes, place: str) -> None:
    first, problem, last = read(b"id,text,year\n1,a,2024\n" + row + b"\n3,c,2024\n")
    assert isinstance(first, Document) and isinstance(last, Document)
    assert [first.document_id, last.document_id] == ["1", "3"]
    assert isinstance(problem, UnreadableFile)
    assert place in problem.message


def test_without_a_named_content_a_row_reads_as_all_its_columns() -> None:
    (row,) = read(b'id,title,Vehicle,Day,readers\n7,Prices,E-bike,42.5,"[""sales""]"\n')
    assert row == Document(
        "7",
        "Vehicle: E-bike; Day: 42.5",
        title="Prices",
        metadata={"Vehicle": "E-bike", "Day": "42.5"},
        readers=("sales",),
    )


def test_a_text_of_several_lines_stands_above_the_other_columns() -> None:
    (row,) = read(b'id,text,Price\n1,"# Hail\n\nCovered.",17\n')
    assert isinstance(row, Document)
    assert row.content == "# Hail\n\nCovered.\n\nPrice: 17"


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        (b"sep=;\nid;text\n1;a\n2;b\n", ["1", "2"]),
        (b"id|text\n1|a\n2|b\n", ["1", "2"]),
        (b"id,text\r1,a\r2,b\r", ["1", "2"]),
        (b'id,text\n1,a 3" pipe\n2,"b" new\n', ["1", "2"]),
        (b'id;"text, or a note, or so"\n1;a\n2;b\n', ["1", "2"]),
    ],
)
def test_tables_as_programs_write_them(data: bytes, ids: list[str]) -> None:
    assert [row.document_id for row in read(data) if isinstance(row, Document)] == ids


def test_windows_1252_is_read_and_reported_unless_the_file_is_utf8() -> None:
    (row,) = read(b"id;text\n1;Der E-Roller f\xfcr G\xe4ste kostet 17 \x80.\n")
    assert isinstance(row, Document)
    assert row.content == "Der E-Roller für Gäste kostet 17 €."
    assert row.unread
    rows = read("id,text\n1,für\n".encode() + b"2,f\xfcr\n")
    assert isinstance(rows[1], UnreadableFile)


def test_a_table_without_ids_is_one_document_with_a_place_for_each_row(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("Vehicle,Day\nCity bike,19\nE-bike,42.5\n")
    (tmp_path / "prices.tsv.gz").write_bytes(gzip.compress(b"Vehicle\tDay, net\nE-bike\t42.5\n"))
    table, packed = read_documents([tmp_path])
    assert isinstance(table, Document) and isinstance(packed, Document)
    assert table.document_id == "prices.csv"
    assert table.content == "Vehicle: City bike; Day: 19\nVehicle: E-bike; Day: 42.5"
    assert table.places[1] == {"start_char": 28, "kind": "row", "name": "row 3"}
    assert packed.content == "Vehicle: E-bike; Day, net: 42.5"


def test_rows_of_a_very_long_table_have_no_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.ingest.files._MOST_PLACES", 1)
    (tmp_path / "prices.csv").write_text("Vehicle,Day\nCity bike,19\nE-bike,42.5\n")
    (table,) = read_documents([tmp_path])
    assert isinstance(table, Document)
    assert table.places == ()


def test_a_table_without_ids_whose_quote_is_not_closed_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text('Vehicle,Day\n"E-bike,42\nBike,19\n')
    (problem,) = read_documents([tmp_path])
    assert isinstance(problem, UnreadableFile)


def test_a_row_over_the_limit_is_a_problem_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.ingest.tables._MAX_ROW_CHARS", 1000)
    long_line = b"2," + b"x" * 5000
    many_lines = b'3,"' + b"x\n" * 600 + b'"'
    rows = read(b"id,text\n1,a\n" + long_line + b"\n4,d\n" + many_lines + b"\n")
    assert [row.document_id for row in rows if isinstance(row, Document)] == ["1", "4"]
    assert any(isinstance(row, UnreadableFile) and "line 3 of" in row.message for row in rows)
    (problem,) = read(b"id,text," + b"x" * 5000)
    assert isinstance(problem, UnreadableFile)


def test_readers_are_roles_and_never_metadata() -> None:
    rows = read(b'id,text,readers\n1,a,"[""sales""]"\n2,b,sales\n3,c,\n4,d,12\n')
    assert rows[0] == Document("1", "a", readers=("sales",))
    assert rows[2] == Document("3", "c")
    assert isinstance(rows[1], UnreadableFile) and isinstance(rows[3], UnreadableFile)


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1).filter(str.strip)


@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["text", "a, b, c, d", "a; b; c; d", 'a | b\t| "c" | d\t|']),
)
def test_tables_written_by_csv_are_read_unchanged(
    rows: list[tuple[str, str, str]], encoding: str, delimiter: str, line_end: str, column: str
) -> None:
    written = io.StringIO()
    writer = csv.writer(written, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL)
    writer.writerow(("id", column, "more"))
    writer.writerows(rows)
    found = read(written.getvalue().encode(encoding), FieldMapping(content=(column,)))
    assert found == [Document(key, text, metadata={"more": more}) for key, text, more in rows]


def test_utf16_that_breaks_off_is_a_problem() -> None:
    *rows, problem = read("id,text\n1,a\n2,b\n".encode("utf-16")[:-1])
    assert rows == [Document("1", "a")]
    assert isinstance(problem, UnreadableFile)


def test_a_guessed_encoding_is_reported_once_for_its_table(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_bytes("id,text\n1,Café\n2,Tür\n".encode("cp1252"))
    reported: list[tuple[str, object]] = []
    assert len(list(read_documents([tmp_path], on_unread=lambda *one: reported.append(one)))) == 2
    assert reported == [("prices.csv", {"guessed encoding (Windows-1252)": 1})]


def test_a_citation_of_a_row_names_its_file_in_the_same_way_from_any_folder(tmp_path: Path) -> None:
    path = tmp_path / "lists" / "prices.csv"
    path.parent.mkdir()
    path.write_text("id,title,text\n2,Price,40 euros\n")
    below, alone = (one for given in (tmp_path, path) for one in read_documents([given]) if isinstance(one, Document))
    assert below.places == alone.places
    assert "prices.csv" in below.places[0]["name"]
