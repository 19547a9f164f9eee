"""Evaluations and their cases as the tables return them, for tests of code that uses them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pgclarify.evaluated import EvaluatedCase, Evaluation, EvaluationPlan, Usage
from pgclarify.vocabulary import RunStatus

PLAN = EvaluationPlan(
    name="clarify",
    data_set="rental.jsonl",
    data_set_hash=hashlib.sha256(b"rental").digest(),
    corpus_id=7,
    corpus_name="insurance",
    corpus_revision=12,
    embedding_model="all-MiniLM-L6-v2",
    method="clarify",
    settings={"top_k": 20},
    provider="openai",
    model="small",
    prompt_version="clarify-1",
    judge="lexical",
    judge_version="lexical-1",
    version="0.1.0",
    planned_cases=2,
)


def evaluation(eval_run_id: int = 1, *, is_finished: bool = True, done: int = 2, **plan: Any) -> Evaluation:
    """An evaluation. The named parts of its plan are as given."""
    at = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    return Evaluation(eval_run_id, replace(PLAN, **plan), "alice", at, at if is_finished else None, done)


def reading(
    interpretation: str, answer: str | None, *, document: str = "d1", quote: str | None = None, **more: Any
) -> dict[str, Any]:
    """A reading as in column eval_case.output, with one citation."""
    citation = {"document_id": document, "passage_id": 1, "title": "Title", "quote": quote or answer}
    return {"interpretation": interpretation, "answer": answer, "support": 1, "citations": [citation], **more}


def evaluated_case(
    case_id: str,
    readings: Sequence[Mapping[str, Any]] = (),
    *,
    known: Sequence[Sequence[str]] = (),
    gold: Mapping[str, Any] | None = None,
    error: str | None = None,
    usage: Usage | None = None,
    question: str | None = None,
    **values: float,
) -> EvaluatedCase:
    """A case. values: its metrics, with _at_ for @."""
    return EvaluatedCase(
        ordinal=1,
        case_id=case_id,
        question=question or f"What is {case_id}?",
        gold=gold or {"interpretations": [], "answer_sets": [known] if known else [], "document_ids": []},
        output={"interpretations": list(readings), "retrieved": [{"document_id": "d1", "passage_id": 1}], "notes": {}},
        run_id=None,
        status=RunStatus.SUCCEEDED if error is None else RunStatus.FAILED,
        error=error,
        usage=usage or Usage(calls=3),
        seconds=1.0,
        values={name.replace("_at_", "@"): value for name, value in values.items()},
    )
