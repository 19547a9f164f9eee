"""What a load would do: which ids come twice, and what --mirror covers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import typer

from pgclarify.cli.planning import check, origin_prefixes
from pgclarify.errors import AlreadyExists, NotFound
from pgclarify.ingest.naming import Name, Naming

if TYPE_CHECKING:
    from pgclarify.cli.client import CommandClient


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
    assert origin_prefixes([*map(Path, given)], Naming("docs")) == expected


def test_a_mirror_of_places_is_not_wider_than_its_folders(folder: Path) -> None:
    (prefix,) = origin_prefixes([folder / "deep", folder / "deep" / "er"], Naming())
    assert prefix.endswith("/deep/")


@pytest.mark.parametrize("given", [["a.md"], [".", "a.md"]])
def test_a_mirror_needs_folders_or_files_of_many_documents(folder: Path, given: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        origin_prefixes([*map(Path, given)], Naming())


class NewCorpus:
    """A client whose corpus does not exist."""

    corpus = "c"

    def corpus_status(self) -> None:
        raise NotFound("there is none")


def test_an_id_that_comes_twice_in_a_source_is_reported() -> None:
    names = [Name(document_id, f"host:/faq.csv#{document_id}") for document_id in ("a", "b", "a")]
    assert check(cast("CommandClient", NewCorpus()), names).repeated == ["a"]


def test_an_id_of_two_sources_is_refused_with_the_place_of_the_second() -> None:
    names = [Name("1", "host:/faq.csv#1"), Name("1", "host:/prices.csv#1")]
    with pytest.raises(AlreadyExists) as refused:
        check(cast("CommandClient", NewCorpus()), names)
    assert "host:/prices.csv#1" in str(refused.value.detail)
