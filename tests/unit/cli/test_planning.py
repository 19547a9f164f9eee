"""What a load with --mirror covers."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from pgclarify.cli.planning import origins
from pgclarify.ingest.naming import Naming


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    for name in ("a.md", "deep/er/d.md", "r.jsonl", "t.csv", "t.tsv.gz"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["."], ["docs/"]),
        ([".", "deep", "r.jsonl"], ["docs/"]),
        (["t.csv", "t.tsv.gz"], ["docs/t.csv#", "docs/t.tsv.gz#"]),
    ],
)
def test_a_mirror_covers_all_that_its_sources_have_ever_had(
    folder: Path, given: list[str], expected: list[str]
) -> None:
    assert origins([*map(Path, given)], Naming("docs")) == expected


def test_a_mirror_of_places_is_not_wider_than_its_folders(folder: Path) -> None:
    (prefix,) = origins([folder / "deep", folder / "deep" / "er"], Naming())
    assert prefix.endswith("/deep/")


@pytest.mark.parametrize("given", [["a.md"], [".", "a.md"]])
def test_a_mirror_needs_folders_or_files_of_many_documents(folder: Path, given: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        origins([*map(Path, given)], Naming())
