"""The input of load: files and patterns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import typer

from pgclarify.cli.sources import Sources, expand
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.naming import Naming


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
    assert expand([str(folder / argument) for argument in given], Counter()) == [folder / name for name in expected]


def test_patterns_below_the_working_directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert expand(["*.txt"], Counter()) == [Path("c.txt")]


@pytest.mark.parametrize("pattern", ["*.md", "**/*.md", "lin*", "**/b.md"])
def test_patterns_do_not_lead_out_of_their_folder(tmp_path: Path, pattern: str) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    for place in ("folder/a.md", "elsewhere/b.md"):
        (tmp_path / place).write_text("text")
    (folder / "b.md").symlink_to("../elsewhere/b.md")
    (folder / "link").symlink_to("../elsewhere")
    skipped: Counter[str] = Counter()

    paths = expand([str(folder / pattern)], skipped)

    assert set(paths) <= {folder / "a.md"}
    assert skipped.total() > 0
    assert len(expand([str(folder / pattern)], Counter(), follows_links=True)) == len(paths) + skipped.total()


@pytest.mark.parametrize("given", ["missing.md", "*.pdf", "nowhere/**"])
def test_a_path_that_matches_no_file_is_wrong_usage(folder: Path, given: str) -> None:
    with pytest.raises(typer.BadParameter):
        expand([str(folder / "a.md"), str(folder / given)], Counter())


def test_a_skipped_file_is_counted_once(folder: Path) -> None:
    (folder / "a.png").write_bytes(b"x")
    (folder / "broken.txt").write_bytes(b"\xff")
    sources = Sources([str(folder)])
    assert len(list(sources.names())) == 6
    (problem,) = [one for one in sources.documents() if isinstance(one, UnreadableFile)]
    assert "broken.txt" in problem.message
    assert sources.skipped == {".png": 1}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["."], ["docs/"]),
        ([".", "deep", "r.jsonl"], ["docs/"]),
        (["t.csv", "t.tsv.gz"], ["docs/t.csv#", "docs/t.tsv.gz#"]),
    ],
)
def test_a_mirror_covers_all_that_its_sources_have_ever_had(
    folder: Path, given: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for name in ("r.jsonl", "t.csv", "t.tsv.gz"):
        (folder / name).write_text("")
    assert Sources(given, naming=Naming("docs")).whole() == expected


def test_a_mirror_of_places_is_not_wider_than_its_folders(folder: Path) -> None:
    (whole,) = Sources([str(folder / "deep"), str(folder / "deep" / "er")]).whole()
    assert whole.endswith("/deep/")


@pytest.mark.parametrize("given", [["a.md"], ["*.md"], [".", "a.md"]])
def test_remove_missing_needs_a_folder_or_a_file_of_many_documents(
    folder: Path, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    sources = Sources(given)
    with pytest.raises(typer.BadParameter):
        sources.whole()
