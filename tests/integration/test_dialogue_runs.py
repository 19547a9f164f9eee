"""Runs of a dialogue work like all other runs: reading them, waiting, cancelling and following them."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import scalar
from tests.integration.explaining import Desk, desk

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]

WRONG_STATE = "55000"
OPERATIONS: dict[str, dict[str, Any]] = {
    "detect_ambiguity": {},
    "rewrite": {},
    "clarifying_questions": {"scheme": "at_cot", "form": "respond", "count": 5, "check": "drop"},
    "reply": {"text": "yes"},
    "list_answers": {"search": "hybrid", "top_k": 20, "evidence_tokens": 3000, "max_answers": 10},
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
        "answer": ("answer", {"ordinal": 1, "answer": "ten", "variants": ["ten"], "citations": []}),
    }  # fmt: skip
    what = {
        "detect_ambiguity": "detections", "rewrite": "rewriting",
        "reply": "rewriting", "list_answers": "answer",
    }.get(operation, operation)  # fmt: skip
    name, value = kept[what]
    desk.worker.send(f"record_{what}", run_id=run_id, attempt=1, **{name: json.dumps(value)})
    desk.worker.finish(run_id)
    return run_id


def refused(desk: Desk, statement: str) -> psycopg.errors.Diagnostic:
    with pytest.raises(psycopg.Error) as error:
        desk.user.execute(statement.encode())
    return error.value.diag


def test_result_of_another_operation_says_what_shows_its_rows(desk: Desk) -> None:
    for operation in OPERATIONS:
        run_id = over(desk, operation)

        told = refused(desk, f"select pgclarify.result({run_id})")
        assert told.sqlstate == WRONG_STATE
        assert told.message_primary == f"run {run_id} has no rows of type clarification"
        assert told.message_detail == f"Its operation is {operation}."
        reading = re.match(r"Read it with: (.*?)\.(?: [A-Z]|$)", told.message_hint or "")
        assert reading is not None
        assert len(desk.user.execute(reading[1].encode()).fetchall()) == 1


def test_there_are_no_verdicts_to_consolidate(desk: Desk) -> None:
    for operation in OPERATIONS:
        run_id = over(desk, operation)

        told = refused(desk, f"select pgclarify.consolidate({run_id})")
        assert told.sqlstate == WRONG_STATE
        assert told.message_primary == f"run {run_id} has no verdicts to consolidate"
        assert told.message_detail == f"Its operation is {operation}, and its status succeeded."
        assert told.message_hint == "Pass a clarify run that succeeded."


def test_they_are_waited_for(desk: Desk) -> None:
    for operation in OPERATIONS:
        run_ids = [over(desk, operation), *(desk.start(enter(desk, operation)) for _ in range(2))]
        desk.worker.finish(run_ids[1], status="partial", stop_reason="the model failed")
        desk.worker.finish(run_ids[2], status="failed", error="the model could not be reached")

        rows = desk.user.execute(
            "select run_id, status, error, interpretations from pgclarify.wait(%s)", [run_ids]
        ).fetchall()
        assert rows == [
            (run_ids[0], "succeeded", None, None),
            (run_ids[1], "partial", None, None),
            (run_ids[2], "failed", "the model could not be reached", None),
        ]


@pytest.mark.committed
def test_waiting_that_ends_earlier_says_so(desk: Desk) -> None:
    run_ids = [enter(desk, operation) for operation in OPERATIONS]

    rows = desk.user.execute(
        "select run_id, status, error, interpretations from pgclarify.wait(%s, '10ms')", [run_ids]
    ).fetchall()
    assert rows == [(run_id, "queued", None, None) for run_id in run_ids]


@pytest.mark.parametrize("is_running", [False, True])
def test_they_are_cancelled(desk: Desk, is_running: bool) -> None:
    for operation in OPERATIONS:
        run_id = enter(desk, operation)
        if is_running:
            desk.start(run_id)

        assert scalar(desk.user, "select pgclarify.cancel(array[%s]::bigint[])", run_id) == 1
        assert scalar(desk.user, "select pgclarify.cancel(array[%s]::bigint[])", run_id) == 0
        assert desk.worker.start(run_id) is None, "no worker executes it any more"
        status = "select status, interpretations, question from pgclarify.run where run_id = %s"
        assert desk.user.execute(status.encode(), [run_id]).fetchall() == [("cancelled", None, '["cars"]')]


def test_they_are_counted_in_the_queue(desk: Desk) -> None:
    for operation in OPERATIONS:
        enter(desk, operation)
        desk.start(enter(desk, operation))

    counts = desk.user.execute("select queued, running from pgclarify.queue_status").fetchall()
    assert counts == [(len(OPERATIONS), len(OPERATIONS))]
