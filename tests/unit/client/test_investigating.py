"""Scripts about investigations: the statements that they send, and the records that they make of the rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgclarify.client import investigating
from pgclarify.client.records import Investigation, StepCitation, read_step
from pgclarify.client.scripts import Session
from pgclarify.errors import InputError
from pgclarify.vocabulary import RunStatus, StepOutcome
from tests.unit.client.playing import play

SESSION = Session()
CITATION: dict[str, Any] = {
    "step_ordinal": 1,
    "rank": 1,
    "document_id": "17",
    "title": "Coverage",
    "uri": None,
    "passage_id": 5,
    "heading": None,
    "quote": "insured by Acme",
    "start_char": 10,
    "end_char": 25,
    "is_current": True,
}
# Rows as the server sends them: with columns that the record has from elsewhere, or that the client does not know yet.
STEP: dict[str, Any] = {
    "run_id": 3,
    "ordinal": 1,
    "kind": "follow_up",
    "question": "Who insures them?",
    "answer": "Acme",
    "outcome": "answered",
    "confidence": 0.75,
    "reason": None,
    "semantic_sets": 2,
    "abstention_code": None,
    "created_at": "2026-01-01T00:00:00+00:00",
    "citations": [CITATION | {"run_id": 3, "question": "Who insures them?", "answer": "Acme"}],
}
ROW: dict[str, Any] = {
    "run_id": 3,
    "status": "succeeded",
    "outcome": "answered",
    "answer": "Nora Blum",
    "confidence": 0.5,
    "steps": [STEP],
    "document_ids": ["17"],
    "citations": [CITATION],
    "invented_later": 1,
}
RECORD = Investigation(
    3,
    RunStatus.SUCCEEDED,
    StepOutcome.ANSWERED,
    "Nora Blum",
    0.5,
    (read_step(STEP),),
    ("17",),
    (StepCitation(**CITATION),),
)


def test_investigate_reads_an_investigation() -> None:
    played = play(investigating.investigate(SESSION, "who owns it", timeout=1.5, max_steps=2, penalty=False), [ROW])

    assert played.returned == RECORD
    assert hash(played.returned)
    (statement,) = played.sent
    assert (statement.name, statement.parameters["question"]) == ("client_investigate", "who owns it")
    assert json.loads(str(statement.parameters["options"])) == {
        "max_steps": 2,
        "penalty": False,
        "timeout": "1.500000 seconds",
    }


@pytest.mark.parametrize("outcome", [*(outcome for outcome in StepOutcome if outcome != "answered"), None])
def test_without_an_answer(outcome: StepOutcome | None) -> None:
    nothing: dict[str, Any] = {"outcome": outcome, "answer": None, "confidence": None}
    nothing |= {"document_ids": [], "citations": []}
    found = play(investigating.investigate(SESSION, "q"), [ROW | nothing]).returned

    assert (found.outcome, found.answer, found.confidence) == (outcome, None, None)
    assert (found.document_ids, found.citations) == ((), ())


def test_a_call_that_names_no_corpus_means_that_of_the_client() -> None:
    session = Session("insurance")
    script = investigating.investigate
    assert next(script(session, "q")).parameters["corpus"] == "insurance"  # type: ignore[union-attr]
    assert next(script(session, "q", corpus="wiki")).parameters["corpus"] == "wiki"  # type: ignore[union-attr]


@pytest.mark.parametrize("options", [{"timeout": float("nan")}, {"max_steps": object()}])
def test_what_cannot_be_sent(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        play(investigating.investigate(SESSION, "q", **options), [])
