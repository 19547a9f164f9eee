"""Which documents are stored, and the wait until they are searchable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import pytest

from pgclarify.cli.adding import LoadReport, storable, wait_until_searchable
from pgclarify.cli.planning import Plan
from pgclarify.cli.progress import bars
from pgclarify.client.records import CorpusStatus
from pgclarify.data.vocabulary import Document
from pgclarify.errors import MissingReader, UnreadableFile

if TYPE_CHECKING:
    from pgclarify.cli.client import CommandClient


def test_an_unreadable_file_is_reported_and_the_other_files_are_loaded() -> None:
    report = LoadReport()
    problem = UnreadableFile("cannot read b.md", detail="It is not UTF-8 text.", hint="Convert it.")
    found = storable([Document("a", "1"), problem, Document("c", "3")], Plan(), report)
    assert [document.document_id for document in found] == ["a", "c"]
    assert report.problems == {"It is not UTF-8 text. Convert it.": ["cannot read b.md"]}


def test_what_cannot_be_loaded_is_put_together_by_its_reason() -> None:
    report = LoadReport()
    missing = [MissingReader(f"cannot read {name}", detail="Why.", hint="Install it.") for name in ("a.pdf", "b.pdf")]
    found = storable([missing[0], Document("a", "1"), missing[1]], Plan(), report)
    assert [document.document_id for document in found] == ["a"]
    assert report.problems == {"Why. Install it.": ["cannot read a.pdf", "cannot read b.pdf"]}


class Indexing:
    """A client whose corpus has one state after another."""

    corpus = "c"

    def __init__(self, *states: CorpusStatus) -> None:
        self._states = states
        self.listed = 0

    def wait_until_searchable(self, *, on_progress: Callable[[CorpusStatus], object]) -> CorpusStatus:
        for state in self._states:
            on_progress(state)
        return self._states[-1]

    def rows(self, statement: str, *, corpus: str, has_failed: bool, most: int) -> list[dict[str, str]]:
        assert (statement, corpus, has_failed) == ("client_list_documents", "c", True)
        self.listed += 1
        return [{"document_id": "a", "error": "why"}]


def state(pending: int, *, error: str | None = None, failed: int = 0) -> CorpusStatus:
    return CorpusStatus("c", 9, 9, pending, 0, 0, failed, None, None, "m", error, pending_passages=pending)


def test_a_load_shows_how_many_passages_are_indexed_and_why_they_wait() -> None:
    with bars() as progress:
        client = Indexing(state(9), state(4, error="rate [limit]"))
        assert wait_until_searchable(cast("CommandClient", client), progress) == []
        (task,) = progress.tasks
    assert (task.completed, task.total) == (5, 9)
    assert task.description == r"Indexing passages (rate \[limit])"


@pytest.mark.parametrize("failed", [0, 1])
def test_failed_documents_are_listed_only_if_there_are_any(failed: int) -> None:
    client = Indexing(state(0, failed=failed))
    with bars() as progress:
        found = wait_until_searchable(cast("CommandClient", client), progress)
    assert found == [{"document_id": "a", "error": "why"}] * failed
    assert client.listed == failed
