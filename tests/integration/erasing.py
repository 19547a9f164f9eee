"""Shared by tests of erasing: a word of only one document, the places that have it, and a run that read it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from psycopg import sql

from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar

CANARY = "Wyvernquartz"
CORPUS = "insurance"
SECRET, OPEN = "secret", "open"
TEXTS = {SECRET: f"# {CANARY} cars\n\nCars of {CANARY} cost 12 dollars.", OPEN: "Cars cost 9 dollars."}
LEXICAL = json.dumps({"method": "lexical"})
# Each column of each table, with partitions one by one, and without the filters of views.
_COLUMNS = """
    select n.nspname, c.relname, a.attname
    from pg_class as c
    inner join pg_namespace as n on n.oid = c.relnamespace
    inner join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind in ('r', 'm') and n.nspname like 'pgclarify%'
    order by 1, 2, a.attnum
"""


def places(superuser: Connection, word: str = CANARY) -> set[str]:
    """Tables and columns with a word, in any case, also as bytes. Partitions lose their number."""
    found = set()
    for schema, table, column in superuser.execute(_COLUMNS).fetchall():
        row = superuser.execute(
            sql.SQL("select exists (select from {} where {}::text ilike any(%s))").format(
                sql.Identifier(schema, table), sql.Identifier(column)
            ),
            [[f"%{word}%", f"%{word.encode().hex()}%", f"%{word.lower().encode().hex()}%"]],
        ).fetchone()
        assert row is not None
        if row[0]:
            found.add(f"{table.rstrip('0123456789').rstrip('_')}.{column}")
    return found


@pytest.fixture
def alice(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    """The owner of the corpus, in autocommit. Both documents are pending."""
    alice = connect(make_role("pgclarify_user"))
    alice.execute("select pgclarify.create_corpus(%s)", [CORPUS])
    for document_id, content in TEXTS.items():
        alice.execute(
            "select pgclarify.add_document(%s, %s, %s, %s)", [CORPUS, document_id, content, f"On {document_id}"]
        )
    return alice


@pytest.fixture
def worker(alice: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker that has indexed both documents."""
    worker = make_worker()
    worker.open_spaces()
    worker.index_everything()
    worker.send("apply_term_changes")
    return worker


def erase(connection: Connection, document_id: str = SECRET) -> bool:
    return bool(scalar(connection, "select pgclarify.erase_document(%s, %s)", CORPUS, document_id))


def claim(
    worker: ManualWorker, run_id: int | None, shown: Sequence[str], attempt: int | None = 1, text: str = ""
) -> list[dict[str, Any]]:
    """Claim a call for each of these documents."""
    return worker.claim_calls(
        run_id,
        [f"{document_id} {text}" for document_id in shown],
        *({"document_ids": [document_id]} for document_id in shown),
        attempt=None if run_id is None else attempt,
        # There is no other corpus.
        corpus_id=1 if run_id is None else None,
    )


def store(worker: ManualWorker, run_id: int | None, claims: Sequence[dict[str, Any]], said: str = CANARY) -> None:
    ids = [claimed["completion_id"] for claimed in claims]
    count = len(ids)
    worker.store_replies(run_id, ids, replies=[said] * count, tokens=[(10, 2)] * count, latencies_ms=[5.0] * count)


def submit(session: Connection, question: str) -> int:
    """Submit a run of the corpus that searches by words."""
    options = LEXICAL.replace("{", '{"top_k": 5, ')
    return int(scalar(session, "select pgclarify.submit('clarify', %s, %s, %s)", question, CORPUS, options))


def begin(alice: Connection, worker: ManualWorker, question: str = "cars") -> tuple[int, dict[str, int]]:
    """Start a run that finds both documents; return their ranks."""
    run_id = submit(alice, question)
    assert worker.start(run_id) is not None
    found = worker.retrieve(run_id, question="cars")
    ranks = {row["document_id"]: row["rank"] for row in found}
    assert set(ranks) == {SECRET, OPEN}
    return run_id, ranks


def decide(worker: ManualWorker, run_id: int, ranks: dict[str, int], attempt: int = 1) -> None:
    """Record a verdict on each passage."""
    order = sorted(ranks, key=ranks.__getitem__)
    words = {SECRET: f"What does {CANARY} cost?", OPEN: "What do cars cost?"}
    quotes = {SECRET: f"Cars of {CANARY} cost 12 dollars.", OPEN: "Cars cost 9 dollars."}
    worker.record_verdicts(
        run_id,
        *(
            {
                "rank": ranks[name], "outcome": "grounded", "interpretation": words[name],
                "answer": f"{CANARY} 12" if name == SECRET else "9", "quote": quotes[name], "start_char": 0,
                "end_char": 5, "vector": "[1,0,0,0]",
            }
            for name in order
        ),
        attempt=attempt,
    )  # fmt: skip


def cite(rank: int, quote: str, *, is_medoid: bool) -> dict[str, Any]:
    return {"candidate_rank": rank, "is_medoid": is_medoid, "quote": quote, "start_char": 0, "end_char": 5}


def reading(text: str, answer: str, *citations: dict[str, Any]) -> dict[str, Any]:
    return {
        "interpretation": text, "answer": answer, "support": len(citations), "cohesion": 1.0,
        "is_contested": False, "citations": citations
    }  # fmt: skip


def carry_out(alice: Connection, worker: ManualWorker) -> int:
    """A run with a reading of both documents, represented by the secret one, and a reading of the secret one alone."""
    run_id, ranks = begin(alice, worker)
    store(worker, run_id, claim(worker, run_id, [SECRET]))
    store(worker, run_id, claim(worker, run_id, [OPEN]), "open")
    decide(worker, run_id, ranks)
    quote = f"Cars of {CANARY} cost 12 dollars."
    worker.finish(
        run_id,
        interpretations=[
            reading(
                f"What does {CANARY} cost?", f"{CANARY} 12",
                cite(ranks[SECRET], quote, is_medoid=True), cite(ranks[OPEN], "Cars cost 9 dollars.", is_medoid=False),
            ),
            reading(f"And {CANARY}?", f"{CANARY} 12", cite(ranks[SECRET], quote, is_medoid=True)),
        ],
        stages=[
            {"name": "judgement", "started_at": "2026-01-01T00:00:00Z", "duration_ms": 5, "calls": 2, "reused_calls": 0,
             "prompt_tokens": 20, "completion_tokens": 4, "note": f"of {CANARY}"}
        ],
    )  # fmt: skip
    return run_id
