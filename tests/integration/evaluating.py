"""Shared by tests of evaluations: pools of a role, a plan, a case, and a run that was carried out by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from psycopg.conninfo import make_conninfo

from pgclarify.database.evaluations import EvaluationTables
from pgclarify.database.pool import open_pool
from pgclarify.evaluated import (
    Case,
    CitedPassage,
    EvaluationPlan,
    GoldInterpretation,
    Output,
    PredictedInterpretation,
    Usage,
)
from pgclarify.model import Passage
from tests.integration.by_hand import MODEL, PROMPTS, Connection, HandWorker, scalar

LEXICAL = '{"search": "lexical"}'
QUESTION = "cars"
DOCUMENTS = {"1": "Cars are insured.", "2": "Cars are rented.", "3": "Cars are red."}

CASE = Case(
    "first",
    QUESTION,
    interpretations=(GoldInterpretation("Who insures cars?", ("We", "We do"), ("1",)),),
    answer_sets=((("We", "We do"),),),
    document_ids=("1", "2"),
    is_ambiguous=True,
    rewrites=("Who insures our cars?",),
    clarifying_questions=("Which cars?",),
    intent="The insurer.",
)
OUTPUT = Output(
    interpretations=(
        PredictedInterpretation(
            "What is insured?", "Cars", (CitedPassage(Passage("1", 7, "Cars are insured.", "Policy"), "Cars"),), 1
        ),
        PredictedInterpretation("What is lost?", None),
    ),
    retrieved=(Passage("1", 7, "Cars are insured."), Passage("2", 8, "Cars are rented.")),
    usage=Usage(3, 1, 300, 30, 1.5),
    seconds=2.5,
    probability=0.75,
    questions=("Who insures cars?",),
    notes={"relaxed_question": "cars?"},
)


@asynccontextmanager
async def tables_of(database: str, role: str | None = None, options: str = "") -> AsyncIterator[EvaluationTables]:
    """Tables as a role or a superuser sees them. options: options of libpq."""
    dsn = make_conninfo(database, **({"user": role} if role else {}), **({"options": options} if options else {}))
    async with open_pool(dsn) as pool:
        yield EvaluationTables(pool)


def plan(**changes: Any) -> EvaluationPlan:
    """An evaluation of one case, on the first corpus."""
    given: dict[str, Any] = {
        "name": "night",
        "data_set": "questions",
        "data_set_hash": bytes(32),
        "corpus_id": 1,
        "corpus_name": "insurance",
        "corpus_revision": 3,
        "embedding_model": "m",
        "method": "clarify",
        "settings": {"top_k": 5, "options": {"search": "lexical"}},
        "provider": "openai",
        "model": MODEL,
        "prompt_version": PROMPTS,
        "judge": "lexical",
        "judge_version": "1",
        "version": "0.7",
        "planned_cases": 1,
    }
    return EvaluationPlan(**(given | changes))


def pay(
    worker: HandWorker,
    run_id: int | None,
    purpose: str,
    inputs: Sequence[str],
    tokens: tuple[int, int],
    *,
    prompt_version: str = PROMPTS,
) -> list[int]:
    """Call a model for each input, with replies of these input and output tokens; return keys of the ledger."""
    count = len(inputs)
    claims = worker.send(
        "claim_completions",
        worker_id=worker.worker_id,
        run_id=run_id,
        lease=timedelta(minutes=1),
        purposes=[purpose] * count,
        models=[MODEL] * count,
        parameters=["{}"] * count,
        prompt_versions=[prompt_version] * count,
        input_hashes=[text.encode().ljust(32) for text in inputs],
        samples=[0] * count,
        input_bytes=[1] * count,
        max_output_tokens=[1] * count,
    )
    ids = [claim["completion_id"] for claim in sorted(claims, key=lambda claim: claim["ordinal"])]
    worker.store_replies(run_id, ids, replies=["secret"] * count, tokens=[tokens] * count, latencies_ms=[10.0] * count)
    return ids


def carry_out(user: Connection, worker: HandWorker, corpus: str = "insurance", question: str = QUESTION) -> int:
    """A run of three candidates: one verdict grounded, one abstained, and one that failed without any reply."""
    run_id = int(
        scalar(
            user,
            "select pgclarify.submit('clarify', %s, %s, jsonb_build_object('top_k', 3) || %s::jsonb)",
            question,
            corpus,
            LEXICAL,
        )
    )
    worker.index_everything()
    run = worker.start(run_id)
    assert run is not None
    assert len(worker.retrieve(run_id, question="cars")) == len(DOCUMENTS)
    worker.send("record_relaxation", run_id=run_id, attempt=1, relaxed_question="cars?")
    completion_ids = pay(worker, run_id, "verdict", [f"{question} 1", f"{question} 2"], (100, 10))
    worker.send(
        "record_verdicts",
        run_ids=[run_id] * 3, attempts=[1] * 3, ranks=[1, 2, 3], outcomes=["grounded", "abstained", "failed"],
        interpretations=["What?", None, None], answers=["Cars", None, None], quotes=["Cars", None, None],
        start_chars=[0, None, None], end_chars=[4, None, None], vectors=["[1,0,0,0]", None, None],
        completion_ids=[*completion_ids, None], are_reused=[False] * 3, reasons=[None] * 3,
        errors=[None, None, "the endpoint is gone"],
    )  # fmt: skip
    stage = {"started_at": "2026-01-01T00:00:00Z", "duration_ms": 5, "note": None}
    worker.finish(
        run_id,
        status="partial",
        stages=[
            stage | {"name": "relaxation", "calls": 0, "reused_calls": 1, "prompt_tokens": 0, "completion_tokens": 0,
                     "reused_prompt_tokens": 40, "reused_completion_tokens": 4, "model_ms": 500},
            stage | {"name": "judgement", "calls": 2, "reused_calls": 0, "prompt_tokens": 200, "completion_tokens": 20,
                     "reused_prompt_tokens": 0, "reused_completion_tokens": 0, "model_ms": 1500},
        ],
    )  # fmt: skip
    return run_id


def load(connection: Connection, corpus: str = "insurance", **options: str) -> None:
    """Create a corpus of three pending documents, as the role of the connection. By default, all may search it."""
    connection.execute(
        "select pgclarify.create_corpus(%s, 'm', %s)", [corpus, json.dumps({"reader": "pgclarify_reader"} | options)]
    )
    for document_id, content in DOCUMENTS.items():
        connection.execute("select pgclarify.add_document(%s, %s, %s, 'Policy')", [corpus, document_id, content])
