"""Scripts about corpora and documents: batches, waiting, and documents that cannot be stored."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import count
from typing import Any

import pytest

from pgclarify.client import documents
from pgclarify.client.scripts import Call, Session
from pgclarify.data.vocabulary import Document
from pgclarify.database.arrays import array_text
from pgclarify.declared.documents import FIELDS
from pgclarify.errors import EmbeddingError, InputError, NotFound, NotReady, NoWorker
from tests.unit.client.playing import play

SESSION = Session("insurance")


def status(pending: int = 0, corpus: str = "insurance", error: str | None = None) -> dict[str, Any]:
    counts = dict.fromkeys(("documents", "passages", "embedded", "linked", "failed", "revision"), 0)
    return counts | {
        "corpus": corpus,
        "pending": pending,
        "lag": timedelta(seconds=1) if pending else None,
        "embedding_model": "model",
        "error": error,
        "next_embedding_model": None,
        "next_embedded": None,
        "pending_passages": pending,
    }


def batches_of(given: Sequence[Document]) -> list[Call]:
    """Calls that add documents. The server says that each document has changed."""
    script = documents.add_documents(SESSION, given)
    sent: list[Call] = []
    try:
        step = next(script)
        while True:
            assert isinstance(step, Call)
            sent.append(step)
            step = script.send([{"changed": len(step.arguments["document_ids"])}])  # type: ignore[arg-type]
    except StopIteration as end:
        assert end.value == len(given)
        return sent


def test_documents_go_in_batches() -> None:
    sent = batches_of([Document(f"{number:04}", "text") for number in range(1001)])
    assert [len(call.arguments["document_ids"]) for call in sent] == [500, 500, 1]  # type: ignore[arg-type]


def test_long_documents_go_in_smaller_ones() -> None:
    sent = batches_of([Document(str(number), "x" * 3_000_000) for number in range(3)])
    assert [len(call.arguments["document_ids"]) for call in sent] == [2, 1]  # type: ignore[arg-type]


def test_a_batch_is_in_order_of_ids_and_the_last_of_equal_ones_wins() -> None:
    given = [Document("b", "first"), Document("a", "other"), Document("b", "last")]
    (call,) = batches_of(given)
    assert call.arguments["document_ids"] == ["a", "b", "b"]
    assert call.arguments["contents"] == ["other", "first", "last"]


def test_all_fields_of_a_document_are_sent() -> None:
    given = Document(
        "1", "text", "Title", "https://example.org", {"year": 2026}, ("alice", "bob"), dated=date(2026, 3, 1)
    )
    (call,) = batches_of([given])
    assert call.arguments == {
        "corpus": "insurance",
        "document_ids": ["1"],
        "contents": ["text"],
        "fields": array_text(
            [
                json.dumps(
                    {
                        "title": "Title",
                        "uri": "https://example.org",
                        "metadata": {"year": 2026},
                        "readers": ["alice", "bob"],
                        "dated": "2026-03-01T00:00:00+00:00",
                        "author": None,
                    }
                )
            ]
        ),
        "origins": [None],
        "files": "{NULL}",
    }


def test_a_document_has_the_fields_that_are_declared() -> None:
    parts = {"document_id", "content", "origin", "places", "unread", "found_in"}
    assert {field.name for field in dataclasses.fields(Document)} - parts == {field.name for field in FIELDS}


def test_what_a_file_has_is_sent_with_its_document() -> None:
    place = {"start_char": 0, "kind": "page", "name": "page 1"}
    (call,) = batches_of([Document("1", "text", places=[place], unread={"picture": 2})])
    assert call.arguments["files"] == (
        r'{"{\"places\": [{\"start_char\": 0, \"kind\": \"page\", \"name\": \"page 1\"}], '
        r'\"unread\": {\"picture\": 2}}"}'
    )


@pytest.mark.parametrize(
    "document",
    [
        Document("bad\x00", "text"),
        Document("bad", "te\x00xt"),
        Document("bad", "text", title="\ud800"),
        Document("bad", "text", uri="\udc80"),
        Document("x" * 1001, "text"),
        Document("あ" * 900, "text"),
        Document("bad", "text", readers=("alice",) * 1001),
        Document("bad", "text", readers="alice"),  # type: ignore[arg-type]
        Document("bad", "text", dated="2026-03-01"),  # type: ignore[arg-type]
        Document("bad", "text", dated=date.max),
        Document("bad", "text", title=7),  # type: ignore[arg-type]
        Document("bad", b"text"),  # type: ignore[arg-type]
        Document("bad", None),  # type: ignore[arg-type]
        # Keys of tables are numbers.
        Document(17, "text"),  # type: ignore[arg-type]
        Document(None, "text"),  # type: ignore[arg-type]
    ],
)
def test_the_document_that_cannot_be_stored_is_named(document: Document) -> None:
    script = documents.add_documents(SESSION, [Document("good", "text")] * 500 + [document])
    assert isinstance(next(script), Call)
    with pytest.raises(InputError) as caught:
        script.send([{"changed": 500}])
    assert repr(str(document.document_id)[:200]) in caught.value.message


@pytest.mark.parametrize("given", [None, 5, "text", Document("17", "text"), [None], [("17", "text")]])
def test_only_documents_are_added(given: Any) -> None:
    with pytest.raises(InputError):
        next(documents.add_documents(SESSION, given))


def test_the_status_of_a_corpus() -> None:
    found = play(documents.corpus_status(SESSION), [status(pending=2)]).returned
    assert (found.corpus, found.pending, found.lag) == ("insurance", 2, timedelta(seconds=1))
    with pytest.raises(NotFound):
        play(documents.corpus_status(SESSION, "no such"), [])
    with pytest.raises(NotFound):
        play(documents.corpus_status(Session()), [])
    with pytest.raises(InputError) as caught:
        play(documents.corpus_status(Session()), [status(), status(corpus="wiki")])
    assert "insurance, wiki" in str(caught.value)


def test_waiting_until_nothing_is_pending() -> None:
    worker = [{"worker_id": 1}]
    replies = [[status(pending=2)], worker, [status(pending=1)], worker, [status()]]
    played = play(documents.wait_until_searchable(SESSION), *replies)
    assert played.returned.pending == 0
    assert len(played.pauses) == 2


def test_an_error_with_which_nothing_is_indexed_ends_the_wait() -> None:
    looks = [[status(pending=1, error="no such file")], [{"worker_id": 1}]] * 2
    # Half a minute passes between two readings of this clock.
    session = Session("insurance", clock=count(step=30).__next__)
    with pytest.raises(EmbeddingError, match="no such file"):
        play(documents.wait_until_searchable(session), *looks)


def test_the_wait_has_an_end() -> None:
    with pytest.raises(NotReady):
        play(documents.wait_until_searchable(SESSION, timeout=1e-6), [status(pending=1)], [{"worker_id": 1}])


def test_without_a_worker_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_WORKERLESS_SECONDS", 0.0)
    with pytest.raises(NoWorker):
        play(documents.wait_until_searchable(SESSION), [status(pending=1)], [])
