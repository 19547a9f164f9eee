"""Explanations of runs of a dialogue, in each state, and the route of a question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.explaining import Desk, desk, reading, stage
from tests.integration.explaining_dialogue import ASKED_BACK, LISTED

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]


def detection(ordinal: int, question: str, probability: float, kind: str | None) -> dict[str, Any]:
    return {
        "ordinal": ordinal, "question": question, "is_ambiguous": kind is not None, "probability": probability,
        "kind": kind, "reasons": [], "classifier_version": "1",
    }  # fmt: skip


def body(text: str) -> list[str]:
    """The lines of the tree."""
    return [line for line in text.splitlines() if line.startswith("  ->") or line.startswith("   ")]


def test_a_detection_shows_its_note_and_where_its_reasons_are(desk: Desk) -> None:
    history = ["Who painted the altar?", "Ida Holm"]
    settings = {"threshold": 0.25, "history": history}
    run_id = desk.start(desk.enter("detect_ambiguity", settings, question="Where was she born?", corpus_id=None))
    desk.worker.record_results(run_id, "detection", detection(1, "Where was she born?", 0.8312, "pragmatic"))
    note = "ambiguous (pragmatic), probability 0.83"
    desk.worker.finish(run_id, stages=[stage("detection", "00.000", 8.25, rows=1, note=note)])
    desk.date(run_id)

    assert desk.told(run_id).splitlines() == [
        'detect_ambiguity: "Where was she born?"  (run 1, succeeded, time=1,000 ms)',
        '  Said before: 1 more, and then "Ida Holm"',
        "  Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker",
        "  Model a-model, prompts v1, worker 1 (extractive on here)",
        "  Settings: threshold=0.25",
        "  ->  detection  (time=0.0..8.2 ms, 1%, rows=1)",
        f"        Note: {note}",
        "  Outside of stages: 992 ms, 99%, for starting, embedding and storing",
        "  Total: calls=0, reused=0, cost=$0",
        "  Result: select * from pgclarify.detection where run_id = 1",
    ]


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        (json.dumps(['a "quoted" \\ one', "[", "x" * 9000]), "3 questions"),
        (json.dumps(["]", "\u00fc\n"] * 250), "500 questions"),
        (json.dumps(['a"\\", "', "\\", '\\\\"', '"', ""], ensure_ascii=False), "5 questions"),
        ("[", "0 questions"),
    ],
)
def test_many_questions_are_shown_by_their_number(desk: Desk, question: str, shown: str) -> None:
    """Also for an invalid question: each run is shown."""
    run_id = desk.enter("detect_ambiguity", {"questions": 0}, question=question, corpus_id=None)

    assert desk.told(run_id).startswith(f"detect_ambiguity: {shown}  (run 1, queued)")
    summary = "select question, corpus, interpretations from pgclarify.run"
    assert desk.user.execute(summary).fetchall() == [(shown, None, None)]


def test_a_reply_is_told_with_what_it_replies_to(desk: Desk) -> None:
    asked_back = desk.enter("clarifying_questions", ASKED_BACK, question="harbor museum")
    settings = {"text": "yes,\nwith my dog", "ordinal": 3}
    run_id = desk.start(desk.enter("reply", settings, asked_back, question="harbor museum"))
    question = "Can one visit the harbor museum with a dog?"
    desk.worker.finish(run_id, stages=[stage("rewriting", "00.000", 100, note=question)])
    desk.date(run_id)

    assert desk.told(run_id).splitlines() == [
        'reply to what run 1 asked back in insurance: "harbor museum"  (run 2, succeeded, time=1,000 ms)',
        '  Reply: "yes, with my dog"',
        "  Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker",
        "  Model a-model, prompts v1, worker 1 (extractive on here)",
        "  Settings: ordinal=3",
        "  ->  rewriting  (time=0.0..100 ms, 10%)",
        f"        Note: {question}",
        "  Outside of stages: 900 ms, 90%, for starting, embedding and storing",
        "  Total: calls=0, reused=0, cost=$0",
        "  Result: select * from pgclarify.rewriting where run_id = 2",
    ]


class TestRoute:
    """The explanation of a question's route, with ask_back when_vague."""

    def told(self, desk: Desk, kind: str | None, route: str | None) -> str:
        run_id = desk.start(desk.submit(ask_back="when_vague"))
        found = detection(1, "rental cars", 0.25 if kind is None else 0.75, kind)
        desk.worker.record_results(run_id, "detection", found)
        if route is not None:
            desk.worker.send("record_route", run_id=run_id, attempt=1, route=route)
        desk.choose(run_id, ("101", 0.5, "dense", None, 1))
        desk.decide(run_id, 1, "grounded", interpretation="rental cars", answer="thirty days")
        detected = stage("detection", "00.000", 10, rows=1, note="ambiguous (syntactic), probability 0.75: it is short")
        desk.worker.finish(
            run_id,
            interpretations=[reading("rental cars", "thirty days", 1, 1)],
            stages=[
                detected,
                stage("retrieval", "00.010", 10, rows=1),
                stage("answering", "00.020", 100, rows=1, note="thirty days"),
                stage("consolidation", "00.120", 1, rows=1),
            ],
        )
        return desk.told(run_id)

    @pytest.mark.parametrize(
        ("kind", "route", "expected"),
        [
            (None, "answered", "answered in one pass, since the question is clear"),
            ("syntactic", "clarified", "clarified, since the question is ambiguous (syntactic)"),
            (None, "clarified", "clarified, since the question is clear, but one pass found no proof of an answer"),
        ],
    )
    def test_is_told_with_why(self, desk: Desk, kind: str | None, route: str, expected: str) -> None:
        told = self.told(desk, kind, route).splitlines()
        assert [line for line in told if "Route" in line] == [f"  Route: {expected}"]
        assert told[4] == f"  Route: {expected}"

    def test_is_forgotten_when_the_run_is_started_again(self, desk: Desk) -> None:
        run_id = desk.start(desk.submit(ask_back="when_vague"))
        desk.worker.send("record_route", run_id=run_id, attempt=1, route="answered")
        desk.start(run_id)
        assert "Route" not in desk.told(run_id)


OPERATIONS: dict[str, tuple[dict[str, Any], int | None]] = {
    "detect_ambiguity": ({}, None),
    "rewrite": ({}, None),
    "clarifying_questions": (ASKED_BACK, 1),
    "reply": ({"text": "yes"}, None),
    "list_answers": (LISTED, 1),
}


class TestStates:
    def enter(self, desk: Desk, operation: str) -> int:
        settings, corpus_id = OPERATIONS[operation]
        return desk.enter(operation, settings, question='["cars"]', corpus_id=corpus_id)

    def test_a_run_that_came_to_nothing_is_told(self, desk: Desk) -> None:
        for operation in OPERATIONS:
            run_id = desk.start(self.enter(desk, operation))
            desk.worker.finish(run_id, stop_reason="nothing was found")

            for detail in ("passages", "stages"):
                told = desk.told(run_id, detail)
                assert "  Stopped: nothing was found" in told.splitlines()
                assert body(told) == []


def test_foreign_text_is_sanitized_in_explanations(desk: Desk) -> None:
    """Text of a user, a document or a model stays on its line."""
    evil = "one\ntwo\x1b[2J\u202e" + "x" * 1000
    asked_back = desk.start(desk.enter("clarifying_questions", ASKED_BACK | {"history": [evil]}, question=evil))
    replied = desk.start(desk.enter("reply", {"text": evil}, question=evil, corpus_id=None))
    desk.worker.finish(replied, stages=[stage("rewriting", "00.000", 100, note=evil)])

    for run_id in (asked_back, replied):
        lines = desk.told(run_id).split("\n")
        assert any("one two\\u001b[2J\\u202e" in line for line in lines)
        assert not any(letter in line for line in lines for letter in "\x1b\u202e\r")
        assert max(map(len, lines)) < 500
        assert not any(line.startswith("two") for line in lines)
