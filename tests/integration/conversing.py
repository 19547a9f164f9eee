"""Shared by tests of conversations: runs that asked back, as a worker stores them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, HandWorker, Hire, MakeRole, scalar

UNDEFINED_OBJECT = "42704"
NOT_READY = "55000"
WRONG = "22023"
QUESTION = "lindvik harbor"
PROPOSED = ("What does a berth in Lindvik harbor cost?", "Who wrote the novel Lindvik Harbor?")
DOCUMENTS = {"berth": "A berth in the harbor costs forty crowns.", "novel": "The novel was written by Ida Holm."}


def enter(
    connection: Connection,
    role: str,
    question: str = QUESTION,
    *,
    operation: str = "clarifying_questions",
    has_corpus: bool = True,
    **settings: object,
) -> int:
    """Enter a run as a call of a role does, without waiting; as the owner."""
    corpus_id = scalar(connection, "select corpus_id from pgclarify.corpus") if has_corpus else None
    given = {"form": "select", "count": 5, "check": "drop", "method": "lexical", "top_k": 4}
    (run_id,) = scalar(
        connection,
        "select pgclarify_private.enter_runs(%s, pgclarify_private.roles_of(%s), %s, %s, array[%s], %s, null, null)",
        role,
        role,
        operation,
        corpus_id,
        question,
        json.dumps(given | settings),
    )
    return int(run_id)


def entry(
    ordinal: int,
    reformulation: str | None,
    asked: str | None = None,
    citations: Sequence[Mapping[str, Any]] = (),
    *,
    is_answerable: bool | None = True,
) -> dict[str, Any]:
    """A question as a worker sends it."""
    proposed = {
        "ambiguity_type": "specify",
        "reasoning": "It is short.",
        "clarifying_question": asked,
        "reformulation": reformulation,
    }
    return {"ordinal": ordinal, "proposed": proposed, "is_answerable": is_answerable, "citations": list(citations)}


def carry_out(
    worker: HandWorker, run_id: int, entries: Sequence[Mapping[str, Any]] | None = None, status: str = "succeeded"
) -> int:
    """Carry a run out; entries: None for the reformulations above."""
    run = worker.start(run_id)
    assert run is not None
    if entries is None:
        entries = [entry(ordinal, text) for ordinal, text in enumerate(PROPOSED, start=1)]
    worker.send(
        "record_clarifying_questions", run_id=run_id, attempt=run["attempt"], questions=json.dumps(list(entries))
    )
    worker.finish(run_id, run["attempt"], status)
    return run_id


def choose(connection: Connection, run_id: int, ordinal: int | None = 1) -> dict[str, Any]:
    (row,) = rows(connection, "select * from pgclarify.reply(%s, ordinal => %s)", run_id, ordinal)
    return row


def next_run(connection: Connection, worker: HandWorker, role: str, turn: Mapping[str, Any], **settings: object) -> int:
    """A run that asked back in the next turn of a conversation."""
    given = {"conversation": turn["conversation_id"], "turn": turn["turn"] + 1} | settings
    return carry_out(worker, enter(connection, role, turn["question"], **given))


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker, and a searchable corpus with an analyst."""
    connection.execute(MAKE_OPEN_CORPUS, ["atlas"])
    connection.execute("select pgclarify.grant_access('atlas', 'pg_monitor', 'analyst')")
    for document_id, content in DOCUMENTS.items():
        connection.execute("select pgclarify.add_document('atlas', %s, %s)", [document_id, content])
    hired = hire()
    hired.index_everything()
    return hired


@pytest.fixture
def alice(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user"))


@pytest.fixture
def stranger(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user"))
