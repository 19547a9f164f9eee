from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pgclarify.errors import ConfigurationError, UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.markup import read_html
from pgclarify.model import Document


def read_one(path: Path) -> Document:
    (document,) = read_documents([path])
    assert isinstance(document, Document), document
    return document


def problem_of(path: Path) -> UnreadableFile:
    (problem,) = read_documents([path])
    assert isinstance(problem, UnreadableFile), problem
    return problem


def test_folder_is_read_in_order_and_without_what_is_hidden(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.md", "a/.hidden.txt", ".git/c.txt", "picture.png", "B.TXT", "records.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"id": 7, "text": "line"}' if name.endswith("jsonl") else name)

    documents = [document for document in read_documents([tmp_path]) if isinstance(document, Document)]

    assert [document.document_id for document in documents] == ["B.TXT", "b.txt", "7", "a/z.md"]


def test_root_is_what_ids_are_relative_to(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / "b.txt"
    path.write_text("text")

    def ids(paths: list[Path], root: Path | None) -> list[str]:
        return [d.document_id for d in read_documents(paths, root=root) if isinstance(d, Document)]

    assert ids([path], None) == ["b.txt"]
    assert ids([path.parent], tmp_path) == ["a/b.txt"]
    assert ids([path], tmp_path / "elsewhere") == []


def test_two_files_of_one_id_are_a_problem_and_one_file_twice_is_not(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.txt").write_text(name)

    first, second = read_documents([tmp_path / "a", tmp_path / "b"])
    assert isinstance(first, Document) and first.content == "a"
    assert isinstance(second, UnreadableFile)
    assert all(isinstance(d, Document) for d in read_documents([tmp_path / "a", tmp_path / "a" / "same.txt"]))


def test_text_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes("\ufeff# no heading\r\n😀\r\n".encode())
    assert read_one(path) == Document("note.txt", "# no heading\r\n😀\r\n", title="note")


@pytest.mark.parametrize(
    ("content", "title"),
    [("intro\n\nThe *Title*\n===\n# Next", "The Title"), ("## Second level", "page"), ("text", "page")],
)
def test_title_of_markdown_is_its_first_heading_or_its_name(tmp_path: Path, content: str, title: str) -> None:
    path = tmp_path / "page.md"
    path.write_text(content)
    document = read_one(path)
    assert (document.title, document.content) == (title, content)


def test_html_becomes_markdown(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<html><head><title>The\n page</title><style>p {}</style></head><body><h1>Cars</h1><script>alert()</script>"
        "<p>A <b>bold</b> <a href='https://example.org/long'>link</a>, snake_case &amp; 2*3.</p>"
        "<h2>Prices</h2><table><tr><th>a</th></tr><tr><td>b</td></tr></table></body></html>"
    )
    document = read_one(path)
    assert document.title == "The page"
    assert document.content.startswith("# Cars\n\nA bold link, snake_case & 2*3.\n\n## Prices\n\n| a |")
    assert "alert" not in document.content
    assert "p {}" not in document.content


def test_html_without_title_takes_its_first_heading(tmp_path: Path) -> None:
    path = tmp_path / "page.htm"
    path.write_text("<?xml version='1.0'?><body><h1>Cars</h1></body>")
    assert read_one(path).title == "Cars"


def test_html_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "markdownify", None)
    with pytest.raises(ConfigurationError) as caught:
        read_html("<p>text</p>", "page.html")
    assert "pgclarify[files]" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("name", "data", "detail"),
    [
        ("latin.txt", b"caf\xe9", "byte 3 is 0xe9"),
        ("wide.txt", "wide".encode("utf-16"), "UTF-8"),
        ("binary.md", b"%PDF-1.7\n\x00\x01", "NUL character at offset 9"),
        ("page.html", b"<p>text\x00</p>", "NUL"),
        ("surrogate.txt", b"\xed\xa0\x80", "UTF-8"),
        ("deep.html", b"<div>" * 5000, "nested too deeply"),
        ("sheet.xlsx", b"PK", ".xlsx"),
        ("README", b"text", "extension"),
    ],
)
def test_what_cannot_be_read_is_a_problem_with_its_reason(tmp_path: Path, name: str, data: bytes, detail: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    problem = problem_of(path)
    assert name in problem.message
    assert detail in (problem.detail or "")


def test_missing_file_and_pipe_are_problems(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert problem_of(tmp_path / "missing.txt").detail == "No such file or directory."
    assert problem_of(tmp_path / "missing.jsonl").detail
    assert problem_of(tmp_path / "pipe.txt").detail == "It is no regular file."


def test_name_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text("text")
    str(problem_of(path)).encode("utf-8")


def test_one_bad_file_does_not_lose_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff")
    (tmp_path / "b.txt").write_text("fine")
    problem, document = read_documents([tmp_path])
    assert isinstance(problem, UnreadableFile)
    assert isinstance(document, Document)
