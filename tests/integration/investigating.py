"""Shared by tests of investigations: a corpus of two documents, and steps as a worker sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, HandWorker, Hire, MakeRole, rows_of, scalar

NOT_READY = "55000"
QUESTION = "Who made the bridge over the Ure?"
# The search covers titles, too.
DOCUMENTS = {
    "bridge": ("The bridge", "The bridge over the Ure was made by Nora Blum."),
    "Blum": ("Nora Blum", "Nora Blum was born in Ripon."),
}
OPTIONS = '{"method": "lexical"}'


def cite(rank: int, quote: str, start_char: int = 0) -> dict[str, Any]:
    """A citation as a worker sends it."""
    return {"candidate_rank": rank, "quote": quote, "start_char": start_char, "end_char": start_char + len(quote)}


def answered(ordinal: int, kind: str, answer: str, *citations: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """A step with an answer, as a worker sends it."""
    step = {"question": QUESTION, "confidence": 0.75, "reason": None, "semantic_sets": 2}
    return step | others | {
        "ordinal": ordinal, "kind": kind, "outcome": "answered", "answer": answer, "citations": citations
    }  # fmt: skip


def unanswered(ordinal: int, kind: str, outcome: str = "not_in_corpus", reason: str | None = "None.") -> dict[str, Any]:
    """A step without an answer."""
    nothing = dict.fromkeys(("answer", "confidence", "semantic_sets"))
    told = {"ordinal": ordinal, "kind": kind, "question": QUESTION, "outcome": outcome, "reason": reason}
    return nothing | told | {"citations": []}


def record(worker: HandWorker, run_id: int, step: Mapping[str, Any], attempt: int = 1) -> None:
    """Store a step."""
    worker.send("record_step", run_id=run_id, attempt=attempt, step=json.dumps(step))


def steps_for(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """A follow-up and a conclusion. ranks: ranks of the candidates, by document."""
    made, born = cite(ranks["bridge"], "made by Nora Blum", 28), cite(ranks["Blum"], "Nora Blum was born in Ripon.")
    return [
        answered(1, "follow_up", "Ripon", born, question="Where was Nora Blum born?", confidence=0.9),
        answered(2, "conclusion", "Nora Blum", made, born, reason="Both agree.", semantic_sets=None),
    ]


def carry_out(worker: HandWorker, run_id: int, steps: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Carry out a run from start to end. steps: None for the steps above."""
    run = worker.start(run_id)
    assert run is not None
    found = worker.retrieve(run_id, run["attempt"], "bridge Ure Nora Blum Ripon")
    ranks = {candidate["document_id"]: candidate["rank"] for candidate in found}
    for step in steps_for(ranks) if steps is None else steps:
        record(worker, run_id, step, run["attempt"])
    worker.finish(run_id, run["attempt"])


def submit(connection: Connection, question: str = QUESTION, options: str = OPTIONS) -> int:
    return int(scalar(connection, "select pgclarify.submit('investigate', %s, 'atlas', %s)", question, options))


def investigation(connection: Connection, run_id: int) -> dict[str, Any]:
    (row,) = rows(connection, rows_of("investigation"), run_id)
    return row


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker, and a searchable corpus."""
    connection.execute(MAKE_OPEN_CORPUS, ["atlas"])
    for document_id, (title, content) in DOCUMENTS.items():
        connection.execute(
            "select pgclarify.add_document('atlas', %s, %s, %s, %s)", [document_id, content, title, f"/{document_id}"]
        )
    hired = hire()
    hired.index_everything()
    return hired


@pytest.fixture
def alice(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user", name="alice"))


@pytest.fixture
def stranger(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user"))
