"""The command load with files of many kinds: the stored documents, the messages about the others, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pgclarify.cli.main import main
from pgclarify.errors import MissingReader
from pgclarify.ingest.apart import ParsingProcess
from tests.integration.by_hand import Connection, scalar

Load = Callable[..., tuple[int, str, str]]


@pytest.fixture
def load(database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Load:
    """Loads into the corpus "c", without a worker: the exit code, and what is printed on both streams."""
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    # There may be a .env file in the working directory.
    monkeypatch.chdir(tmp_path)

    def load(*arguments: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(["load", "c", "--no-wait", *map(str, arguments)])
        return int(caught.value.code or 0), *capsys.readouterr()

    return load


def corpora(connection: Connection) -> int:
    return int(scalar(connection, "select count(*) from pgclarify.corpus"))


def documents(connection: Connection) -> list[Any]:
    return connection.execute("select id, title, metadata from pgclarify.document order by id").fetchall()


def test_a_row_of_a_table_is_a_document(load: Load, connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "faq.csv").write_text("no,question,answer,year\n7,Hail?,Covered.,2024\n8,Flood?,No.,\n")
    columns = ("--field", "id=no", "--field", "content=answer", "--field", "title=question")
    assert load("faq.csv", *columns)[0] == 0
    assert documents(connection) == [("7", "Hail?", {"year": "2024"}), ("8", "Flood?", {})]


def test_files_without_a_reader_are_reported_on_one_line_and_are_no_failure(
    load: Load, connection: Connection, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.png", "c.png", "d.yaml"):
        (tmp_path / name).write_text("text")
    status, _, said = load(tmp_path)
    assert status == 0
    assert [line for line in said.splitlines() if "2 .png, 1 .yaml" in line]
    status, printed, _ = load(tmp_path, "--json")
    assert status == 0
    assert json.loads(printed)["skipped"] == {".png": 2, ".yaml": 1}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.png", b"x"),
        ("a.txt", b"\xff"),
        ("a.txt", b""),
        ("a.csv", b"key,body\n1,a\n"),
        ("a.docx", b"no such file"),
        # The file can be read, but the server refuses its document.
        ("a.jsonl", b'{"id": "%s", "text": "a"}\n' % (b"x" * 1001) * 3),
    ],
)
def test_a_load_of_nothing_fails_and_leaves_no_corpus(
    load: Load, connection: Connection, tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    assert load(tmp_path)[0] == 1
    assert corpora(connection) == 0


def test_a_refused_document_does_not_stop_the_next_ones(load: Load, connection: Connection, tmp_path: Path) -> None:
    rows = [("x" * 1001, "a"), ("1", "b"), ("y" * 1001, "c"), ("2", "d"), ("3", "e")]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in rows))
    status, printed, _ = load("a.jsonl", "--json")
    assert status == 1
    summary = json.loads(printed)
    assert (summary["created"], summary["changed"], len(summary["problems"])) == (True, 3, 2)
    assert [row[0] for row in documents(connection)] == ["1", "2", "3"]


def test_a_missing_reader_does_not_end_the_load_and_fails_it(
    load: Load, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_reader(*_: object) -> NoReturn:
        raise MissingReader("cannot read it", detail="Reading HTML needs a package.", hint="Install it.")

    monkeypatch.setattr(ParsingProcess, "parse", without_reader)
    for name in ("a.html", "b.txt", "c.html"):
        (tmp_path / name).write_text("text")
    status, printed, _ = load(tmp_path, "--json")
    assert status == 1
    assert json.loads(printed)["unread"] == {"Reading HTML needs a package. Install it.": ["cannot read it"] * 2}
    assert [row[0] for row in documents(connection)] == ["b.txt"]
    assert "Install it." in load(tmp_path)[2]


def test_a_row_knows_its_table_again_and_goes_with_it(load: Load, connection: Connection, tmp_path: Path) -> None:
    table = tmp_path / "a" / "faq.csv"
    table.parent.mkdir()
    table.write_text("id,text\n1,One.\n2,Two.\n")
    assert load("a")[0] == 0
    table.write_text("id,text\n1,One.\n")
    assert load("a/faq.csv", "--mirror", "--yes")[0] == 0
    assert [row[0] for row in documents(connection)] == ["1"]
    (tmp_path / "other.csv").write_text("id,text\n1,Other.\n")
    assert load("other.csv")[0] == 1
    assert load("other.csv", "--prefix", "other/")[0] == 0
    assert [row[0] for row in documents(connection)] == ["1", "other/1"]


@pytest.mark.parametrize(("name", "data"), [("b.docx", b"no such file"), ("b.txt", b"\xff"), ("b.csv", b"key,body\n")])
def test_a_mirror_removes_nothing_while_a_file_cannot_be_read(
    load: Load, connection: Connection, tmp_path: Path, name: str, data: bytes
) -> None:
    for good in ("x.md", "y.md"):
        (tmp_path / good).write_text("text")
    assert load(".")[0] == 0
    (tmp_path / "x.md").unlink()
    (tmp_path / name).write_bytes(data)
    (tmp_path / ".hidden.docx").write_bytes(b"no such file")
    assert load(".", "--mirror", "--yes")[0] == 1
    assert [row[0] for row in documents(connection)] == ["x.md", "y.md"]
    (tmp_path / name).unlink()
    assert load(".", "--mirror", "--yes")[0] == 0
    assert [row[0] for row in documents(connection)] == ["y.md"]
