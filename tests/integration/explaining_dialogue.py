"""Shared by tests of explain on dialogues: the statements of a worker, and the tree of the explanation."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.explaining import Desk

ASKED_BACK = {
    "form": "respond", "count": 1,
    "check": "drop", "method": "hybrid", "top_k": 4,
}  # fmt: skip
LISTED = {"method": "hybrid", "top_k": 20, "max_answers": 10}


def detection(ordinal: int, question: str, probability: float, kind: str | None, *reasons: Any) -> dict[str, Any]:
    return {
        "ordinal": ordinal, "question": question, "is_ambiguous": kind is not None, "probability": probability,
        "kind": kind, "reasons": list(reasons), "classifier_version": "1",
    }  # fmt: skip


def because(source: str, text: str) -> dict[str, str]:
    return {"source": source, "name": "a name", "text": text}


def record(desk: Desk, run_id: int, what: str, value: object) -> None:
    desk.worker.send(f"record_{what}", run_id=run_id, attempt=1, **{what: json.dumps(value)})


def quoted(*ranks: int) -> list[dict[str, Any]]:
    return [{"candidate_rank": rank, "quote": "a quote", "start_char": 0, "end_char": 7} for rank in ranks]


def body(text: str) -> list[str]:
    """The lines of the tree."""
    return [line for line in text.splitlines() if line.startswith("  ->") or line.startswith("   ")]


def question(ordinal: int, asked: str | None, reformulation: str | None, **others: Any) -> dict[str, Any]:
    proposed = {
        "ambiguity_type": others.get("ambiguity_type"), "reasoning": others.get("reasoning"),
        "clarifying_question": asked, "reformulation": reformulation,
    }  # fmt: skip
    checked = {"is_answerable": others.get("is_answerable"), "citations": others.get("citations", [])}
    return {"ordinal": ordinal, "proposed": proposed} | checked
