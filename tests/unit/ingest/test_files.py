from __future__ import annotations

import errno
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pgclarify.data.vocabulary import Document
from pgclarify.errors import InputError, MissingReader, UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.apart import ParsingProcess
from pgclarify.ingest.files import find_names
from pgclarify.ingest.folders import LINK_OUT
from pgclarify.ingest.naming import Name, Naming


def read_one(path: Path) -> Document:
    (document,) = read_documents([path])
    assert isinstance(document, Document), document
    return replace(document, origin=None)


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


def test_a_file_is_the_same_however_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a" / "sub" / "x.txt"
    path.parent.mkdir(parents=True)
    path.write_text("text")
    (tmp_path / "link").symlink_to("a")
    monkeypatch.chdir(tmp_path / "a")
    named = [".", "sub", "sub/x.txt", "../a", "../link", "../link/sub/x.txt", str(tmp_path)]

    found = [document for name in named for document in read_documents([Path(name)])]

    assert len({document.origin for document in found if isinstance(document, Document)}) == 1
    assert [document.document_id for document in found if isinstance(document, Document)] == [
        "sub/x.txt", "x.txt", "x.txt", "sub/x.txt", "sub/x.txt", "x.txt", "a/sub/x.txt",
    ]  # fmt: skip


def test_a_file_of_two_folders_that_overlap_is_read_once(tmp_path: Path) -> None:
    for name in ("x.txt", "sub/x.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)

    found = read_documents([tmp_path, tmp_path / "sub", tmp_path / "sub" / "x.txt"])

    assert [document.document_id for document in found if isinstance(document, Document)] == ["x.txt", "sub/x.txt"]


def test_names_are_those_of_the_documents(tmp_path: Path) -> None:
    (tmp_path / "x#1%.txt").write_text("text")
    (tmp_path / "r.jsonl").write_text('{"id": 7, "text": "line"}\n{"id": 8, "text": "line"}\nnothing\n')
    naming = Naming(source="docs", prefix="p/")

    documents = list(read_documents([tmp_path], naming=naming))
    names = list(find_names([tmp_path], naming=naming))

    assert [name.given_to(document) for name, document in zip(names, documents, strict=True)
            if isinstance(name, Name) and isinstance(document, Document)] == documents[:2] + documents[3:]  # fmt: skip
    assert [(name.document_id, name.origin) for name in names if isinstance(name, Name)] == [
        ("p/7", "docs/r.jsonl#7"),
        ("p/8", "docs/r.jsonl#8"),
        ("p/x#1%.txt", "docs/x%231%25.txt"),
    ]
    assert isinstance(documents[2], UnreadableFile) and isinstance(names[2], UnreadableFile)


def test_the_longest_names_have_an_origin_that_an_index_holds(tmp_path: Path) -> None:
    lines = [json.dumps({"id": "ä" * 999 + end, "text": "line"}) for end in "ab"]
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    origins = {name.origin for name in find_names([tmp_path]) if isinstance(name, Name)}
    assert len(origins) == 2
    assert max(len(origin.encode()) for origin in origins) <= 2600


@pytest.mark.parametrize("name", ["", "/", "a#b", "a\n", "x" * 501, "\udcff"])
def test_a_source_has_a_name_that_is_no_part_of_an_origin(name: str) -> None:
    with pytest.raises(InputError):
        Naming(source=name)


@pytest.mark.parametrize(
    ("content", "title"),
    [("intro\n\nThe *Title*\n===\n# Next", "The Title"), ("## Second level", "page"), ("text", "page")],
)
def test_title_of_markdown_is_its_first_heading_or_its_name(tmp_path: Path, content: str, title: str) -> None:
    path = tmp_path / "page.md"
    path.write_text(content)
    assert read_one(path).title == title


def test_html_becomes_markdown(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<html><head><title>The\n page</title><style>p {}</style></head><body><nav>Home</nav><h1>Cars</h1>"
        "<script>alert()</script>"
        "<p>A <b>bold</b> <a href='https://example.org/long'>link</a>, snake_case &amp; 2*3.</p>"
        "<h2>Prices</h2><table><tr><th>a</th><th>c</th></tr><tr><td>b</td><td>d</td></tr></table></body></html>"
    )
    document = read_one(path)
    assert document.title == "The page"
    assert document.content.startswith("# Cars\n\nA bold link, snake_case & 2*3.\n\n## Prices\n\na: b; c: d")
    assert "alert" not in document.content
    assert "p {}" not in document.content


@pytest.mark.parametrize(
    ("name", "data", "detail"),
    [
        ("other.txt", b"z\x81\x8d", "byte 1 is 0x81"),
        ("wide.txt", "wide".encode("utf-16")[:-1], "UTF-16"),
        ("binary.md", b"%PDF-1.7\n\x00\x01", "NUL character at offset 9"),
        ("deep.html", b"<div>" * 5000, "nested too deeply"),
        ("sheet.xlsx", b"PK", "no XLSX file"),
        ("sheet.numbers", b"PK", ".numbers"),
    ],
)
def test_an_unreadable_file_is_a_problem_with_its_reason(tmp_path: Path, name: str, data: bytes, detail: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    problem = problem_of(path)
    assert name in problem.message
    assert detail in (problem.detail or "")


def test_missing_file_and_pipe_are_problems(tmp_path: Path) -> None:
    for name in ("pipe.txt", "pipe.csv", "pipe.jsonl.gz"):
        os.mkfifo(tmp_path / name)
        assert problem_of(tmp_path / name).detail == "It is no regular file."
    assert problem_of(tmp_path / "missing.txt").detail == "No such file or directory."
    assert problem_of(tmp_path / "missing.jsonl").detail


def read_and_skip(*paths: Path) -> tuple[list[Document | UnreadableFile], Counter[str]]:
    skipped: list[str] = []
    return list(read_documents(paths, on_skip=skipped.append)), Counter(skipped)


def test_files_without_a_reader_are_counted_by_kind(tmp_path: Path) -> None:
    for name in ("a.png", "b.PNG", "c.yaml", "LICENSE", "d.js.gz", ".hidden.png", ".git/e.png", "f/g.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    (tmp_path / "empty.md").write_text("")
    (tmp_path / "blank.html").write_text("<html><body> </body></html>")
    (tmp_path / "note.md").write_text("text")
    documents, skipped = read_and_skip(tmp_path)
    assert [document.document_id for document in documents if isinstance(document, Document)] == ["note.md"]
    assert len(documents) == 1
    assert skipped == {".png": 3, ".yaml": 1, "file without an extension": 1, ".js.gz": 1, "empty file": 2}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.jsonl"])
def test_encodings_that_a_byte_order_mark_names(tmp_path: Path, encoding: str, name: str) -> None:
    text = '{"id": "a", "text": "Größe 😀"}\n' if name == "a.jsonl" else "Größe 😀"
    (tmp_path / name).write_bytes(text.encode(encoding))
    assert read_one(tmp_path / name).content == "Größe 😀"


def folder_with_links(tmp_path: Path) -> Path:
    """A folder with links to a file in it, to a file beside it, to nothing, to itself, and to the folder above."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "inside.txt").write_text("text")
    (tmp_path / "outside.txt").write_text("secret")
    (tmp_path / "folder-2.txt").write_text("secret")
    (folder / "a.txt").symlink_to("inside.txt")
    (folder / "b.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "c.txt").symlink_to("../folder-2.txt")
    (folder / "d.txt").symlink_to("b.txt")
    (folder / "e.txt").symlink_to("/nowhere/at/all.txt")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / "up").symlink_to(tmp_path)
    return folder


def test_links_in_a_folder_do_not_lead_out_of_it(tmp_path: Path) -> None:
    folder = folder_with_links(tmp_path)
    skipped: list[str] = []

    *documents, problem = read_documents([folder], on_skip=skipped.append)

    contents = {document.document_id: document.content for document in documents if isinstance(document, Document)}
    assert contents == {"a.txt": "text", "inside.txt": "text"}
    assert isinstance(problem, UnreadableFile) and "loop.txt" in problem.message
    assert Counter(skipped) == {"link to a folder": 1, LINK_OUT: 4}
    names = [name.document_id for name in find_names([folder]) if isinstance(name, Name)]
    assert sorted(names) == ["a.txt", "inside.txt"]


def test_links_to_files_are_followed_if_that_is_asked_for(tmp_path: Path) -> None:
    found = list(read_documents([folder_with_links(tmp_path)], follows_links=True))
    contents = {document.document_id: document.content for document in found if isinstance(document, Document)}
    assert contents == {"a.txt": "text", "b.txt": "secret", "c.txt": "secret", "d.txt": "secret", "inside.txt": "text"}


def test_a_folder_that_cannot_be_opened_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "b.txt").write_text("text")
    scan = os.scandir

    def scan_as_another_user(path: str) -> Any:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scan_as_another_user)
    (document, problem), _ = read_and_skip(tmp_path)
    assert isinstance(document, Document)
    assert isinstance(problem, UnreadableFile) and "closed" in problem.message


def test_a_file_whose_reader_is_missing_does_not_lose_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_reader(*_: object) -> NoReturn:
        raise MissingReader("cannot read a.html")

    (tmp_path / "a.html").write_text("<p>text</p>")
    (tmp_path / "b.txt").write_text("fine")
    monkeypatch.setattr(ParsingProcess, "parse", without_reader)
    problem, document = read_documents([tmp_path])
    assert isinstance(problem, MissingReader)
    assert isinstance(document, Document)


def test_a_file_that_becomes_a_link_while_it_is_checked_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("Cars.")

    real_path = os.path.realpath

    def changes_meanwhile(path: Any, **options: Any) -> str:
        if Path(path).name == "a.txt":
            raise OSError(errno.EINVAL, "Invalid argument", str(path))
        return str(real_path(path, **options))

    monkeypatch.setattr(os.path, "realpath", changes_meanwhile)

    skipped: list[str] = []
    assert list(read_documents([tmp_path], on_skip=skipped.append)) == []
    assert skipped == [LINK_OUT]


def test_name_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text("text")
    str(problem_of(path)).encode("utf-8")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", "---\nauthor: Ada\n---\nHail."),
        ("a.md", "---\nauthors: [Ada]\n---\nHail."),
        ("a.rst", ":Author: Bo\n:author: Ada\n\nHail."),
        ("a.html", '<meta name="author" content="Ada"><p>Hail.</p>'),
        ("a.adoc", ":author: Ada\n\nHail."),
        ("a.jsonl", '{"id": 1, "text": "Hail.", "author": "Ada"}'),
        ("a.csv", "id,text,author\n1,Hail.,Ada"),
        ("a.eml", "From: Ada\n\nHail."),
    ],
)
def test_a_document_has_the_author_that_its_file_names(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    (document,) = read_documents([tmp_path])
    assert isinstance(document, Document)
    assert document.author == "Ada"


def test_files_below_an_address_have_one(tmp_path: Path) -> None:
    (tmp_path / "fees").mkdir()
    (tmp_path / "fees" / "a b.md").write_text("Hail.")
    (tmp_path / "c.jsonl").write_text('{"id": "1", "text": "Hail.", "uri": "own"}\n')
    naming = Naming(base_url="https://example.org/rules/")
    uris = {one.document_id: one.uri for one in read_documents([tmp_path], naming=naming) if isinstance(one, Document)}
    assert uris == {"fees/a b.md": "https://example.org/rules/fees/a%20b.md", "1": "own"}
