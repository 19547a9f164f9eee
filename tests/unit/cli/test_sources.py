"""The input of load: files, patterns, standard input."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
import typer

from pgclarify.cli.sources import Format, Sources, expand
from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.files import SUPPORTED_SUFFIXES
from pgclarify.ingest.naming import Name, Naming


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


@pytest.mark.parametrize("pattern", ["*.md", "**/*.md", "lin*", "**/b.md"])
def test_patterns_do_not_lead_out_of_their_folder(tmp_path: Path, pattern: str) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    for place in ("folder/a.md", "elsewhere/b.md"):
        (tmp_path / place).write_text("text")
    (folder / "b.md").symlink_to("../elsewhere/b.md")
    (folder / "link").symlink_to("../elsewhere")
    links: list[Path] = []

    paths = expand([str(folder / pattern)], links.append)

    assert set(paths) <= {folder / "a.md"}
    assert links
    assert sorted(expand([str(folder / pattern)], None)) == sorted([*paths, *links])


@pytest.mark.parametrize("given", ["missing.md", "*.pdf", "nowhere/**"])
def test_a_path_that_matches_no_file_is_wrong_usage(folder: Path, given: str) -> None:
    with pytest.raises(typer.BadParameter):
        expand([str(folder / "a.md"), str(folder / given)])


def piped(data: bytes, *given: str, **options: object) -> list[Document | UnreadableFile]:
    sources = Sources(given or ["-"], stdin=BytesIO(data), **options)  # type: ignore[arg-type]
    names = [name for name in sources.names() if isinstance(name, Name)]
    found = list(sources.documents())
    assert {document.origin for document in found if isinstance(document, Document)} <= {name.origin for name in names}
    return found


def test_a_text_from_standard_input() -> None:
    assert piped(b"Hail is covered.", document_id="hail") == [Document("hail", "Hail is covered.", origin="-#hail")]
    assert piped(b"x", document_id="hail", title="Hail") == [Document("hail", "x", title="Hail", origin="-#hail")]


def test_markdown_and_html_from_standard_input_have_titles() -> None:
    (markdown,) = piped(b"# Hail\n\nCovered.", document_id="1", kind=Format.MARKDOWN)
    (html,) = piped(b"<title>Hail</title><p>Covered.", document_id="2", kind=Format.HTML)
    assert isinstance(markdown, Document) and isinstance(html, Document)
    assert (markdown.title, html.title, html.content) == ("Hail", "Hail", "Covered.")


def test_json_lines_from_standard_input_bring_their_ids_and_lose_no_line() -> None:
    first, problem, last = piped(
        b'{"id": 1, "text": "one"}\n{"id": 2,\n\n{"id": 3, "text": "three"}\n',
        kind=Format.JSONL,
        naming=Naming("faq", "f"),
    )
    assert [first, last] == [
        Document("f1", "one", origin="faq#1"),
        Document("f3", "three", origin="faq#3"),
    ]
    assert isinstance(problem, UnreadableFile)
    assert "line 2 of standard input" in problem.message


def test_a_table_from_standard_input_brings_its_ids() -> None:
    naming = Naming("faq")
    assert piped(b"id,text\n1,one\n", kind=Format.CSV, naming=naming) == [Document("1", "one", origin="faq#1")]
    (document,) = piped(b"id\ttext\n1\tone, two\n", kind=Format.TSV, naming=naming)
    assert document == Document("1", "one, two", origin="faq#1")


def test_a_skipped_file_is_counted_once(folder: Path) -> None:
    (folder / "a.png").write_bytes(b"x")
    (folder / "broken.txt").write_bytes(b"\xff")
    skipped: list[str] = []
    sources = Sources([str(folder), "-"], document_id="blank", stdin=BytesIO(b" "))
    assert len(list(sources.names())) == 7
    (problem,) = [one for one in sources.documents(skipped.append) if isinstance(one, UnreadableFile)]
    assert "broken.txt" in problem.message
    assert skipped == [".png", "empty file"]


def test_every_format_is_one_that_is_read() -> None:
    assert {kind.suffix for kind in Format} <= SUPPORTED_SUFFIXES


def test_standard_input_beside_files(folder: Path) -> None:
    found = piped(b"piped", str(folder / "c.txt"), "-", document_id="p")
    assert [document.document_id for document in found if isinstance(document, Document)] == ["c.txt", "p"]


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"nul \x00", b"%PDF-1.4"])
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
        (["-"], {"kind": Format.JSONL}),
        (["-"], {"kind": Format.JSONL, "document_id": "x"}),
        (["-"], {"kind": Format.JSONL, "title": "x"}),
        (["-"], {"kind": Format.CSV}),
        (["-"], {"kind": Format.TSV}),
        (["-"], {"kind": Format.CSV, "document_id": "x", "naming": Naming("faq")}),
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


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["."], ["docs/"]),
        ([".", "deep", "r.jsonl"], ["docs/"]),
        (["r.jsonl", "-"], ["docs#", "docs/r.jsonl#"]),
        (["t.csv", "t.tsv.gz"], ["docs/t.csv#", "docs/t.tsv.gz#"]),
    ],
)
def test_a_mirror_covers_all_that_its_sources_have_ever_had(
    folder: Path, given: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for name in ("r.jsonl", "t.csv", "t.tsv.gz"):
        (folder / name).write_text("")
    kind = Format.JSONL if "-" in given else None
    sources = Sources(given, kind=kind, stdin=BytesIO(), naming=Naming("docs"))
    assert sources.whole() == expected


def test_a_mirror_of_places_is_not_wider_than_its_folders(folder: Path) -> None:
    (whole,) = Sources([str(folder / "deep"), str(folder / "deep" / "er")]).whole()
    assert whole.endswith("/deep/")


@pytest.mark.parametrize("given", [["a.md"], ["*.md"], [".", "a.md"], [".", "-"]])
def test_remove_missing_needs_a_folder_or_a_file_of_many_documents(
    folder: Path, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    sources = Sources(given, document_id="x" if "-" in given else None, stdin=BytesIO(b"text"))
    with pytest.raises(typer.BadParameter):
        sources.whole()
