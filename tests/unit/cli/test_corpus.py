"""How documents are put into batches, and the wait until they are searchable."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import pytest

from pgclarify.cli.corpus import (
    BATCH_CHARS,
    BATCH_DOCUMENTS,
    LoadReport,
    add_documents,
    batches,
    progress_bar,
    wait_until_searchable,
)
from pgclarify.client.records import CorpusStatus
from pgclarify.config import Settings
from pgclarify.data.vocabulary import Document
from pgclarify.errors import MissingReader, UnreadableFile

if TYPE_CHECKING:
    from pgclarify.cli import connection
    from pgclarify.cli.client import CommandClient


def test_batches_are_bounded_and_complete() -> None:
    documents = [Document(str(number), "text") for number in range(2 * BATCH_DOCUMENTS + 1)]
    found = list(batches(documents, LoadReport()))
    assert [len(batch) for batch in found] == [BATCH_DOCUMENTS, BATCH_DOCUMENTS, 1]
    assert [document for batch in found for document in batch] == documents


def test_long_documents_make_short_batches() -> None:
    documents = [Document(str(number), "x" * (BATCH_CHARS // 2)) for number in range(5)]
    assert [len(batch) for batch in batches(documents, LoadReport())] == [2, 2, 1]


def test_the_last_document_of_an_id_counts_and_repeats_are_reported() -> None:
    report = LoadReport()
    (batch,) = batches([Document("a", "old"), Document("b", "other"), Document("a", "new")], report)
    assert {document.document_id: document.content for document in batch} == {"a": "new", "b": "other"}
    assert report.repeated == ["a"]


def test_an_unreadable_file_is_reported_and_the_other_files_are_loaded() -> None:
    report = LoadReport()
    problem = UnreadableFile("cannot read b.md", detail="It is not UTF-8 text.", hint="Convert it.")
    (batch,) = batches([Document("a", "1"), problem, Document("c", "3")], report)
    assert [document.document_id for document in batch] == ["a", "c"]
    assert report.problems == ["cannot read b.md: It is not UTF-8 text. Convert it."]


def test_files_whose_reader_is_missing_are_put_together_by_what_to_install() -> None:
    report = LoadReport()
    missing = [MissingReader(f"cannot read {name}", detail="Why.", hint="Install it.") for name in ("a.pdf", "b.pdf")]
    (batch,) = batches([missing[0], Document("a", "1"), missing[1]], report)
    assert [document.document_id for document in batch] == ["a"]
    assert report.unread == {"Why. Install it.": ["cannot read a.pdf", "cannot read b.pdf"]}
    assert not report.problems


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
    with progress_bar() as progress:
        client = Indexing(state(9), state(4, error="rate [limit]"))
        assert wait_until_searchable(cast("CommandClient", client), progress) == []
        (task,) = progress.tasks
    assert (task.completed, task.total) == (5, 9)
    assert task.description == r"Indexing passages (rate \[limit])"


@pytest.mark.parametrize("failed", [0, 1])
def test_failed_documents_are_listed_only_if_there_are_any(failed: int) -> None:
    client = Indexing(state(0, failed=failed))
    with progress_bar() as progress:
        found = wait_until_searchable(cast("CommandClient", client), progress)
    assert found == [{"document_id": "a", "error": "why"}] * failed
    assert client.listed == failed


def test_a_load_remembers_few_bytes_of_each_document(monkeypatch: pytest.MonkeyPatch) -> None:
    many = 20_000
    report = LoadReport(changed=1)
    monkeypatch.setattr("pgclarify.cli.corpus.LoadReport", lambda: report)
    monkeypatch.setattr("pgclarify.cli.corpus._add_batch", lambda *given: None)
    documents = (Document(f"{number:020}", "text", origin=f"host:/folder/{number:020}") for number in range(many))
    kept: list[int] = []
    tracemalloc.start()
    try:
        add_documents(
            cast("connection.Database", None),
            "insurance",
            documents,
            Settings(),
            lambda report: kept.append(tracemalloc.get_traced_memory()[0]),
        )
    finally:
        tracemalloc.stop()
    # The first batch is in memory, as the last one is.
    assert (kept[-1] - kept[0]) / many < 150
    assert not report.repeated
