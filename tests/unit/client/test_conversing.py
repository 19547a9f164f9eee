"""Scripts of a dialogue: the statements that they send, and the records that they make of the rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pgclarify.client import conversing, detecting, listing
from pgclarify.client.dialogue_records import (
    Ambiguity,
    AmbiguityReason,
    EvidenceCitation,
    ListedAnswer,
    ProposedQuestion,
    ReformulatedQuestion,
    RewrittenQuestion,
    Route,
)
from pgclarify.client.scripts import Session
from pgclarify.errors import InputError, NotFound
from pgclarify.vocabulary import AmbiguityType
from tests.unit.client.playing import play

SESSION = Session()
# Rows as the server sends them: with columns that the record has from elsewhere, or that the client does not know yet.
NEWER: dict[str, Any] = {"invented_later": 1}
REASON: dict[str, Any] = {"source": "feature", "name": "length", "text": "it has two words"}
AMBIGUITY: dict[str, Any] = NEWER | {
    "run_id": 3,
    "is_ambiguous": True,
    "probability": 0.75,
    "kind": "syntactic",
    "reasons": [REASON | NEWER],
}
CITATION: dict[str, Any] = {
    "rank": 1,
    "document_id": "17",
    "title": "Coverage",
    "uri": None,
    "passage_id": 5,
    "heading": None,
    "quote": "thirty days",
    "start_char": 10,
    "end_char": 21,
    "is_current": True,
}
PROPOSED: dict[str, Any] = NEWER | {
    "run_id": 3,
    "ordinal": 1,
    "ambiguity_type": "specify",
    "clarifying_question": None,
    "reformulation": "For how long?",
    "document_ids": ["17"],
    "reasoning": "Cars are rented for many reasons.",
    "is_answerable": True,
    "citations": [CITATION | {"run_id": 3, "ordinal": 1}],
}
ANSWER: dict[str, Any] = NEWER | {
    "run_id": 3,
    "ordinal": 1,
    "answer": "Vishwaroopam",
    "variants": ["Vishwaroopam", "Vishwaroop"],
    "document_ids": ["17"],
    "citations": [CITATION | {"run_id": 3, "ordinal": 1}],
}
TURN: dict[str, Any] = {"conversation_id": 5, "turn": 1, "question": "For how long?", "turns_left": 2}


def sent_options(script: Any) -> Any:
    """The options in the first statement of a script."""
    return json.loads(next(script).parameters["options"])


class TestDetecting:
    def test_one_question(self) -> None:
        played = play(detecting.detect_ambiguity(SESSION, "And she?", ["Who?", "Ann."], threshold=0.5), [AMBIGUITY])

        assert played.returned == Ambiguity(3, True, 0.75, "syntactic", (AmbiguityReason(**REASON),))
        assert hash(played.returned)
        (statement,) = played.sent
        assert statement.name == "client_detect_ambiguity"
        assert (statement.parameters["question"], statement.parameters["history"]) == ("And she?", ["Who?", "Ann."])
        assert json.loads(str(statement.parameters["options"])) == {"threshold": 0.5, "timeout": "60.000000 seconds"}

    def test_a_clear_one(self) -> None:
        clear = AMBIGUITY | {"is_ambiguous": False, "probability": 0.1, "kind": None, "reasons": []}
        found = play(detecting.detect_ambiguity(SESSION, "Who wrote Emma?"), [clear]).returned
        assert (found.is_ambiguous, found.kind, found.reasons) == (False, None, ())

    def test_the_corpus_is_asked_only_if_it_is_named(self) -> None:
        session = Session("insurance")
        assert "corpus" not in sent_options(detecting.detect_ambiguity(session, "q"))
        assert sent_options(detecting.detect_ambiguity(session, "q", corpus="wiki"))["corpus"] == "wiki"

    def test_rewriting(self) -> None:
        row = NEWER | {"run_id": 3, "rewritten": " q ", "was_ambiguous": False, "reason": None}
        played = play(detecting.rewrite(SESSION, " q ", ["Who?"], timeout=None), [row])

        assert played.returned == RewrittenQuestion(3, " q ", False, None)
        assert played.sent[0].parameters["question"] == " q "
        assert played.sent[0].parameters["history"] == ["Who?"]


class TestRoute:
    def test_through_the_gate(self) -> None:
        row = AMBIGUITY | {"route": "clarified", "saved_completions": 0}
        found = play(detecting.route(SESSION, 3), [row]).returned
        ambiguity = Ambiguity(3, True, 0.75, "syntactic", (AmbiguityReason(**REASON),))
        assert found == Route(3, "clarified", 0, ambiguity)

    def test_without_a_gate(self) -> None:
        row = dict.fromkeys([*AMBIGUITY, "route", "saved_completions"]) | {"run_id": 3}
        assert play(detecting.route(SESSION, 3), [row]).returned == Route(3, None, None, None)

    def test_of_no_run(self) -> None:
        with pytest.raises(NotFound):
            play(detecting.route(SESSION, 3), [])


class TestConversing:
    def test_what_to_ask_back(self) -> None:
        played = play(conversing.clarifying_questions(SESSION, "rental cars", form="select"), [PROPOSED])

        specify = AmbiguityType.SPECIFY
        reason, proof = "Cars are rented for many reasons.", (EvidenceCitation(**CITATION),)
        expected = ProposedQuestion(3, 1, specify, None, "For how long?", ("17",), reason, True, proof)
        assert played.returned == [expected]
        assert hash(expected)
        assert sent_options(iter(played.sent)) == {"form": "select", "timeout": "300.000000 seconds"}

    def test_of_a_scheme_that_names_no_types_and_unchecked(self) -> None:
        plain: dict[str, Any] = {
            "ambiguity_type": None,
            "reasoning": None,
            "is_answerable": None,
            "document_ids": [],
            "citations": [],
        }
        (found,) = play(conversing.clarifying_questions(SESSION, "q"), [PROPOSED | plain]).returned
        assert (found.ambiguity_type, found.is_answerable, found.document_ids) == (None, None, ())

    def test_nothing(self) -> None:
        assert play(conversing.clarifying_questions(SESSION, "q"), []).returned == []

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({}, "insurance"),
            ({"check": "mark"}, "insurance"),
            ({"conversation": None}, "insurance"),
            ({"check": "none"}, None),
            ({"conversation": 5}, None),
            ({"conversation": 5, "corpus": "wiki"}, "wiki"),
            ({"check": "none", "corpus": "wiki"}, "wiki"),
        ],
    )
    def test_the_client_names_the_corpus_where_one_is_needed(self, given: dict[str, Any], expected: str | None) -> None:
        script = conversing.clarifying_questions(Session("insurance"), "q", **given)
        assert next(script).parameters["corpus"] == expected  # type: ignore[union-attr]

    def test_a_turn(self) -> None:
        chosen = play(conversing.reply(SESSION, 3, ordinal=2), [TURN | NEWER])
        assert chosen.returned == ReformulatedQuestion(5, 1, "For how long?", 2)
        assert (chosen.sent[0].parameters["ordinal"], chosen.sent[0].parameters["reply"]) == (2, None)
        replied = play(conversing.reply(SESSION, 3, "the red one"), [TURN])
        assert replied.returned == chosen.returned
        assert replied.sent[0].parameters["reply"] == "the red one"


def test_listing() -> None:
    played = play(listing.list_answers(Session("films"), "Who?", max_answers=3), [ANSWER])

    assert played.returned == [
        ListedAnswer(3, 1, "Vishwaroopam", ("Vishwaroopam", "Vishwaroop"), ("17",), (EvidenceCitation(**CITATION),))
    ]
    assert hash(played.returned[0])
    assert played.sent[0].parameters["corpus"] == "films"
    assert sent_options(iter(played.sent))["max_answers"] == 3
    assert play(listing.list_answers(SESSION, "Who?"), []).returned == []


@pytest.mark.parametrize(
    "script",
    [
        lambda: detecting.detect_ambiguity(SESSION, "q", "Who?"),
        lambda: detecting.rewrite(SESSION, "q", "Who?"),
        lambda: conversing.clarifying_questions(SESSION, "q", "Who?"),
        lambda: detecting.rewrite(SESSION, "q", timeout=float("nan")),
        lambda: conversing.reply(SESSION, 3, "yes", timeout=float("nan")),
        lambda: conversing.clarifying_questions(SESSION, "q", count=object()),
        lambda: listing.list_answers(SESSION, "q", top_k={1}),
    ],
)
def test_what_cannot_be_sent(script: Callable[[], Any]) -> None:
    with pytest.raises(InputError):
        play(script())
