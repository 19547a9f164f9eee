"""What a load would do: which ids come twice, and what --mirror covers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import typer

from pgclarify.cli.planning import Plan, check, origin_prefixes
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


class KnownCorpus:
    """A client of a corpus with documents: their ids by their origins."""

    corpus = "c"

    def __init__(self, **stored: str) -> None:
        self.stored = stored

    def corpus_status(self) -> None:
        """It exists."""

    def call(self, _name: str, *, document_ids: list[str], origins: list[str], **_: object) -> list[dict[str, object]]:
        origin_of = {document_id: origin for origin, document_id in self.stored.items()}
        return [
            {
                "ordinal": ordinal,
                "document_id": self.stored.get(origin, document_id),
                "is_taken": origin not in self.stored and document_id in origin_of,
                "taken_from": origin_of.get(document_id),
                "relation": None,
            }
            for ordinal, (document_id, origin) in enumerate(zip(document_ids, origins, strict=True))
        ]


def rows_of(*files: str, prefix: str = "") -> list[Name]:
    """Two rows of each of these files, with the ids 1 and 2."""
    return [Name(f"{prefix}{row}", f"host:/{file}#{row}") for file in files for row in (1, 2)]


def planned(names: list[Name], **stored: str) -> Plan:
    return check(cast("CommandClient", KnownCorpus(**stored)), names)


def test_rows_whose_ids_another_file_of_the_load_has_stop_no_others() -> None:
    names = [*rows_of("a.csv", "b.csv", "c.csv"), Name("d.md", "host:/d.md")]
    plan = check(cast("CommandClient", NewCorpus()), names)
    assert plan.found == {"1": "host:/a.csv#1", "2": "host:/a.csv#2", "d.md": "host:/d.md"}
    assert [*plan.refused] == ["host:/b.csv#1", "host:/b.csv#2", "host:/c.csv#1", "host:/c.csv#2"]


def test_the_reason_names_both_files_and_is_the_same_for_all_rows_of_a_file() -> None:
    plan = check(cast("CommandClient", NewCorpus()), rows_of("a.csv", "b.csv"))
    ((detail, hint),) = set(plan.refused.values())
    assert "/a.csv" in detail
    assert "/b.csv" in detail
    # People give the path to the next load.
    assert " /b.csv " in hint


@pytest.mark.parametrize("order", [("a.csv", "b.csv"), ("b.csv", "a.csv")])
def test_loading_again_leaves_out_the_same_rows(order: tuple[str, ...]) -> None:
    stored = {"host:/a.csv#1": "1", "host:/a.csv#2": "2"}
    assert [*planned(rows_of(*order), **stored).refused] == ["host:/b.csv#1", "host:/b.csv#2"]


@pytest.mark.parametrize("first_prefix", ["", "b.csv/", "new/"])
def test_the_prefix_in_the_hint_loads_each_file_that_was_left_out(first_prefix: str) -> None:
    files = ("a.csv", "b.csv", "x/b.csv", "y/b.csv")
    stored: dict[str, str] = {}
    plan = planned(rows_of(*files, prefix=first_prefix))
    stored.update({origin: document_id for document_id, origin in plan.found.items()})
    for place, prefix in plan.prefixes.items():
        alone = planned(rows_of(place.removeprefix("/"), prefix=prefix), **stored)
        assert not alone.refused
        stored.update({origin: document_id for document_id, origin in alone.found.items()})
    assert len(stored) == 2 * len(files)
    assert not planned(rows_of(*files), **stored).refused


def test_a_file_that_two_folders_have_gets_the_prefix_of_its_folder() -> None:
    names = [Name("docs/x.md", f"host:/{folder}/docs/x.md") for folder in ("a", "b", "c")]
    assert planned(names).prefixes == {"/b/docs": "b/docs/", "/c/docs": "c/docs/"}


def test_an_id_of_another_source_is_refused_with_a_prefix_that_is_free() -> None:
    for prefix in ("", "new/"):
        with pytest.raises(AlreadyExists) as refused:
            planned([Name(f"{prefix}1", "host:/b.csv#1")], **{"host:/a.csv#1": f"{prefix}1"})
        assert f"'{prefix}new/'" in str(refused.value.hint)
