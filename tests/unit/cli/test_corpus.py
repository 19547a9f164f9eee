"""How documents are put into batches, and the wait until they are searchable."""

from __future__ import annotations

import tracemalloc
from itertools import count
from typing import Any, cast

import pytest

from pgclarify.cli import connection
from pgclarify.cli.corpus import (
    BATCH_CHARS,
    BATCH_DOCUMENTS,
    LoadReport,
    add_documents,
    batches,
    progress_bar,
    wait_until_searchable,
)
from pgclarify.config import Settings
from pgclarify.errors import EmbeddingError, MissingReader, UnreadableFile
from pgclarify.vocabulary import Document


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


def test_nothing_makes_no_batch() -> None:
    assert list(batches([], LoadReport())) == []


def test_files_whose_reader_is_missing_are_put_together_by_what_to_install() -> None:
    report = LoadReport()
    missing = [MissingReader(f"cannot read {name}", detail="Why.", hint="Install it.") for name in ("a.pdf", "b.pdf")]
    (batch,) = batches([missing[0], Document("a", "1"), missing[1]], report)
    assert [document.document_id for document in batch] == ["a"]
    assert report.unread == {"Why. Install it.": ["cannot read a.pdf", "cannot read b.pdf"]}
    assert not report.problems


class Looks:
    """A database that answers with one state of the corpus after another; the last one stays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *states: dict[str, Any]) -> None:
        self.sent: list[str] = []
        self._states = list(states)
        monkeypatch.setattr(connection, "fetch", self._fetch)
        monkeypatch.setattr("time.sleep", lambda seconds: None)

    def wait(self) -> object:
        """Wait for the corpus. Half a minute passes between two readings of the clock."""
        clock = count(step=30).__next__
        with progress_bar() as progress:
            return wait_until_searchable(cast("connection.Database", None), "insurance", progress, clock)

    def _fetch(self, database: object, name: str, **parameters: object) -> list[dict[str, Any]]:
        self.sent.append(name)
        if name == "client_corpus_status":
            return [self._states.pop(0) if len(self._states) > 1 else self._states[0]]
        return [{"worker_id": 1}] if name == "client_list_workers" else [{"document_id": "a", "error": "why"}]


def state(pending: int, *, error: str | None = None, failed: int = 0) -> dict[str, Any]:
    counts = {"pending": pending, "pending_passages": pending, "failed": failed}
    return {**counts, "error": error, "next_embedding_model": None}


def test_a_load_waits_while_passages_are_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    states = [state(left, error="rate [limit]") for left in range(9, 0, -1)]
    assert Looks(monkeypatch, *states, state(0)).wait() == []


def test_a_load_ends_with_the_error_if_nothing_is_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EmbeddingError, match="rate"):
        Looks(monkeypatch, state(9, error="rate [limit]")).wait()


@pytest.mark.parametrize("failed", [0, 1])
def test_failed_documents_are_listed_only_if_there_are_any(monkeypatch: pytest.MonkeyPatch, failed: int) -> None:
    looks = Looks(monkeypatch, state(0, failed=failed))
    assert looks.wait() == [{"document_id": "a", "error": "why"}] * failed
    assert looks.sent.count("cli_list_failed_documents") == failed


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
