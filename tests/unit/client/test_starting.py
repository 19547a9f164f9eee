"""The statement that start sends, and the results that other methods read of started runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pgclarify.client import asking, conversing, detecting, estimating, listing
from pgclarify.client.scripts import Session
from pgclarify.client.starting import start
from pgclarify.errors import InputError
from tests.unit.client.playing import play

SESSION = Session("insurance")


def started(operation: str, *arguments: object, **named: object) -> dict[str, Any]:
    """The arguments that are sent."""
    played = play(start(SESSION, operation, *arguments, **named), [{"run_id": 7}])
    (sent,) = played.sent
    assert (played.returned, sent.name, sent.parameters["operation"]) == (7, "client_start", operation)
    arguments_sent: dict[str, Any] = json.loads(str(sent.parameters["arguments"]))
    return arguments_sent


def test_it_takes_what_the_method_takes_that_waits() -> None:
    assert started("clarify", "cars", top_k=5, search="dense") == {
        "question": "cars",
        "corpus": "insurance",
        "top_k": 5,
        "options": {"search": "dense"},
    }
    assert started("search", "cars", corpus="other", method="lexical") == {
        "question": "cars",
        "corpus": "other",
        "top_k": 10,
        "options": {"method": "lexical"},
    }
    assert started("rewrite", "How much is it?", ["A car?"]) == {
        "question": "How much is it?",
        "history": ["A car?"],
        "options": {},
    }
    assert started("reply", 3, "mine is broken") == {"run_id": 3, "reply": "mine is broken", "options": {}}


@pytest.mark.parametrize(
    "operation",
    ["investigate", "list_answers", "clarifying_questions", "detect_ambiguity"],
)
def test_each_operation_can_be_started(operation: str) -> None:
    assert started(operation, "cars")["question"] == "cars"


@pytest.mark.parametrize("operation", ["estimate", "detect_ambiguity_many"])
def test_several_questions_can_be_started(operation: str) -> None:
    assert started(operation, ["cars", "vans"])["questions"] == ["cars", "vans"]


def test_what_it_cannot_start() -> None:
    with pytest.raises(InputError, match="unknown operation"):
        play(start(SESSION, "clarfy", "cars"))
    with pytest.raises(InputError, match="no timeout"):
        play(start(SESSION, "clarify", "cars", timeout=5.0))
    with pytest.raises(TypeError):
        play(start(SESSION, "clarify"))


@pytest.mark.parametrize(
    ("script", "row"),
    [
        (
            asking.search_results,
            {"rank": 1, "passage_id": 2, "document_id": "3", "title": None, "heading": None, "content": "Cars."}
            | {"score": 0.5, "origin": "dense"},
        ),
        (
            detecting.question_ambiguities,
            {"question_ordinal": 1, "question": "How?", "run_id": 7, "is_ambiguous": True, "probability": 0.9}
            | {"kind": "pragmatic", "reasons": [], "status": "succeeded"},
        ),
        (
            conversing.proposed_questions,
            {"run_id": 7, "ordinal": 1, "ambiguity_type": None, "clarifying_question": "Which?", "reformulation": None}
            | {"document_ids": [], "reasoning": None, "is_answerable": None, "citations": []},
        ),
        (
            listing.answers,
            {"run_id": 7, "ordinal": 1, "answer": "Ann", "variants": ["Ann"], "document_ids": ["1"], "citations": []},
        ),
    ],
)
def test_several_rows_are_several_records(script: Callable[..., Any], row: dict[str, Any]) -> None:
    played = play(script(SESSION, 7), [row, row])

    assert len(played.returned) == 2
    assert played.sent[0].parameters == {"run_id": 7}


@pytest.mark.parametrize(
    ("script", "row"),
    [
        (
            detecting.ambiguity,
            {"run_id": 7, "is_ambiguous": False, "probability": 0.1, "kind": None, "reasons": []},
        ),
        (detecting.rewritten_question, {"run_id": 7, "rewritten": "How?", "was_ambiguous": False, "reason": None}),
        (
            estimating.estimation,
            dict.fromkeys(
                ("questions", "distinct_questions", "answered", "sampled", "calls", "calls_at_most", "reused_calls"), 1
            )
            | {"run_id": 7, "prompt_tokens": 1, "completion_tokens": 1, "cost_usd": None, "model": "m"},
        ),
    ],
)
def test_one_row_is_one_record(script: Callable[..., Any], row: dict[str, Any]) -> None:
    assert play(script(SESSION, 7), [row]).returned.run_id == 7
