"""A role that guesses a hidden text, and asks about its guess, pays the full price.

Otherwise it could write the guess into a document of its own, and its cost would confirm the guess.
"""

from __future__ import annotations

import json

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.spending import enter, store
from tests.sessions import Connection, MakeRole

pytestmark = pytest.mark.rolled_back

ASKED = "the question, and the text"


def is_paid(worker: ManualWorker, run_id: int, *documents: str) -> bool:
    """Ask in a run, pay if the ledger has no reply, and return whether that was so."""
    (row,) = worker.claim_calls(run_id, [ASKED], document_ids=list(documents))
    if row["is_ours"]:
        store(worker, [row["completion_id"]], run_id=run_id)
    assert row["is_ours"] or row["reply"] is not None
    return bool(row["is_ours"])


def add(connection: Connection, corpus: str, document_id: str, readers: list[str] | None = None) -> None:
    connection.execute(
        "select pgclarify.add_document(%s, %s, 'the text', readers => %s)", [corpus, document_id, readers]
    )


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker, and two corpora."""
    for corpus in ("theirs", "mine"):
        connection.execute(MAKE_OPEN_CORPUS, [corpus])
    return make_worker()


def test_a_guess_in_another_corpus_is_paid_for(connection: Connection, worker: ManualWorker) -> None:
    add(connection, "theirs", "secret")
    add(connection, "mine", "guess")
    assert is_paid(worker, enter(connection, corpus="theirs"), "secret")

    assert is_paid(worker, enter(connection, corpus="mine"), "guess")
    # A question alone is guessed in the same way.
    assert is_paid(worker, enter(connection, corpus="theirs"))
    assert is_paid(worker, enter(connection, corpus="mine"))


def test_a_guess_among_documents_with_other_readers_is_paid_for(
    connection: Connection, worker: ManualWorker, make_role: MakeRole
) -> None:
    board, guesser = make_role(), make_role()
    add(connection, "theirs", "secret", [board])
    add(connection, "theirs", "guess", [guesser])
    add(connection, "theirs", "open")
    assert is_paid(worker, enter(connection, corpus="theirs"), "secret")

    assert is_paid(worker, enter(connection, corpus="theirs"), "guess")
    assert is_paid(worker, enter(connection, corpus="theirs"), "open")
    assert is_paid(worker, enter(connection, corpus="theirs"), "open", "guess")


def test_a_guess_without_a_corpus_is_paid_for(
    connection: Connection, worker: ManualWorker, make_role: MakeRole
) -> None:
    asker, guesser = make_role(), make_role()
    assert is_paid(worker, enter(connection, asker))

    assert is_paid(worker, enter(connection, guesser))
    assert not is_paid(worker, enter(connection, asker))


def test_an_equal_text_with_equal_readers_is_paid_for_once(
    connection: Connection, worker: ManualWorker, make_role: MakeRole
) -> None:
    board = make_role()
    for document_id, readers in {"a": None, "b": None, "c": [board], "d": [board]}.items():
        add(connection, "theirs", document_id, readers)

    first, second = (enter(connection, corpus="theirs") for _ in range(2))

    assert [is_paid(worker, first, "a"), is_paid(worker, second, "b")] == [True, False]
    assert [is_paid(worker, first, "c"), is_paid(worker, second, "d")] == [True, False]
    assert [is_paid(worker, first, "a", "c"), is_paid(worker, second, "b", "a", "d")] == [True, False]


def test_an_estimate_confirms_no_guess(connection: Connection, worker: ManualWorker) -> None:
    add(connection, "theirs", "secret")
    add(connection, "mine", "guess")
    assert is_paid(worker, enter(connection, corpus="theirs"), "secret")
    expected = {"theirs": 1, "mine": 0}

    for corpus, document_id in (("theirs", "secret"), ("mine", "guess")):
        run_id = enter(connection, corpus=corpus)
        run = worker.start(run_id)
        assert run is not None
        call = worker.call(ASKED, document_ids=[document_id])
        found = worker.send("known_completions", run_id=run_id, attempt=run["attempt"], calls=json.dumps([call]))
        assert len(found) == expected[corpus]
