"""What load reads: files, patterns, standard input."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
import typer

from pgclarify.cli.sources import Format, expand, read
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.records import FieldMapping
from pgclarify.model import Document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.md", "a.md", "c.txt", "deep/er/d.md", "what[1].md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["*.md"], ["a.md", "b.md", "what[1].md"]),
        (["[ab].md", "c.txt"], ["a.md", "b.md", "c.txt"]),
        (["**/*.md"], ["a.md", "b.md", "deep/er/d.md", "what[1].md"]),
        (["dee?"], ["deep"]),
        (["deep/**"], ["deep/er/d.md"]),
        (["what[1].md"], ["what[1].md"]),
    ],
)
def test_patterns_that_no_shell_has_expanded(folder: Path, given: list[str], expected: list[str]) -> None:
    assert expand([str(folder / argument) for argument in given]) == [folder / name for name in expected]


def test_patterns_below_the_working_directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert expand(["*.txt"]) == [Path("c.txt")]


@pytest.mark.parametrize("given", ["missing.md", "*.pdf", "nowhere/**"])
def test_what_is_not_there_is_wrong_usage(folder: Path, given: str) -> None:
    with pytest.raises(typer.BadParameter):
        expand([str(folder / "a.md"), str(folder / given)])


def piped(data: bytes, *given: str, **options: object) -> list[Document | UnreadableFile]:
    return [*read(given or ["-"], fields=FieldMapping(), stdin=BytesIO(data), **options)]  # type: ignore[arg-type]


def test_a_text_from_standard_input() -> None:
    assert piped(b"Hail is covered.", document_id="hail") == [Document("hail", "Hail is covered.")]
    assert piped(b"x", document_id="hail", title="Hail") == [Document("hail", "x", title="Hail")]


def test_markdown_and_html_from_standard_input_have_titles() -> None:
    (markdown,) = piped(b"# Hail\n\nCovered.", document_id="1", kind=Format.MARKDOWN)
    (html,) = piped(b"<title>Hail</title><p>Covered.", document_id="2", kind=Format.HTML)
    assert isinstance(markdown, Document) and isinstance(html, Document)
    assert (markdown.title, html.title, html.content) == ("Hail", "Hail", "Covered.")


def test_json_lines_from_standard_input_bring_their_ids_and_lose_no_line() -> None:
    first, problem, last = piped(
        b'{"id": 1, "text": "one"}\n{"id": 2,\n\n{"id": 3, "text": "three"}\n', kind=Format.JSONL
    )
    assert [first, last] == [Document("1", "one"), Document("3", "three")]
    assert isinstance(problem, UnreadableFile)
    assert "line 2 of standard input" in problem.message


def test_standard_input_beside_files(folder: Path) -> None:
    found = piped(b"piped", str(folder / "c.txt"), "-", document_id="p")
    assert [document.document_id for document in found if isinstance(document, Document)] == ["c.txt", "p"]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"nul \x00", b"%PDF-1.4"])
def test_standard_input_of_another_kind_is_a_problem(data: bytes) -> None:
    kind = Format.PDF if data.startswith(b"%PDF") else Format.TEXT
    (problem,) = piped(data, document_id="x", kind=kind)
    assert isinstance(problem, UnreadableFile)
    assert "standard input" in problem.message


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (["-"], {}),
        (["-"], {"kind": Format.MARKDOWN}),
        (["-"], {"kind": Format.JSONL, "document_id": "x"}),
        (["-"], {"kind": Format.JSONL, "title": "x"}),
        (["c.txt"], {"document_id": "x"}),
        (["c.txt"], {"kind": Format.JSONL}),
    ],
)
def test_options_that_do_not_fit(
    folder: Path, given: list[str], options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(typer.BadParameter):
        piped(b"text", *given, **options)
