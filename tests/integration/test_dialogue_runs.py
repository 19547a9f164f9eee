"""The hint for a run of another operation names the statement that reads its rows."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest

from tests.integration.explaining import Desk, desk

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]

OPERATIONS: dict[str, dict[str, Any]] = {
    "detect_ambiguity": {},
    "rewrite": {},
    "clarifying_questions": {"form": "respond", "count": 5, "check": "drop"},
    "reply": {"text": "yes"},
    "list_answers": {"method": "hybrid", "top_k": 20, "max_answers": 10},
}


def enter(desk: Desk, operation: str) -> int:
    corpus_id = 1 if operation in ("clarifying_questions", "list_answers") else None
    return desk.enter(operation, OPERATIONS[operation], question='["cars"]', corpus_id=corpus_id)


def over(desk: Desk, operation: str) -> int:
    """A run that succeeded, with a row in its result table."""
    run_id = desk.start(enter(desk, operation))
    kept: dict[str, tuple[str, Any]] = {
        "detections": (
            "detections",
            [
                {
                    "ordinal": 1, "question": "cars", "is_ambiguous": False, "probability": 0.25, "kind": None,
                    "reasons": [], "classifier_version": "1",
                }
            ],
        ),
        "rewriting": ("rewriting", {"rewritten": "cars?", "was_ambiguous": None, "reason": None}),
        "clarifying_questions": (
            "questions",
            [{"ordinal": 1, "proposed": {"clarifying_question": "Which?"}, "is_answerable": None, "citations": []}],
        ),
        "answers": ("answers", [{"ordinal": 1, "answer": "ten", "variants": ["ten"], "citations": []}]),
    }  # fmt: skip
    what = {
        "detect_ambiguity": "detections", "rewrite": "rewriting",
        "reply": "rewriting", "list_answers": "answers",
    }.get(operation, operation)  # fmt: skip
    name, value = kept[what]
    desk.worker.send(f"record_{what}", run_id=run_id, attempt=1, **{name: json.dumps(value)})
    desk.worker.finish(run_id)
    return run_id


def test_result_of_another_operation_names_the_statement_that_reads_its_rows(desk: Desk) -> None:
    for operation in OPERATIONS:
        run_id = over(desk, operation)

        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused:
            desk.user.execute(f"select pgclarify.result({run_id})".encode())
        reading = re.match(r"Read it with: (.*?)\.(?: [A-Z]|$)", refused.value.diag.message_hint or "")
        assert reading is not None
        assert len(desk.user.execute(reading[1].encode()).fetchall()) == 1
