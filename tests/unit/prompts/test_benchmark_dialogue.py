"""The prompts of evaluations of dialogue, and which replies are accepted."""

import pytest

from benchmarks.prompts.dialogue import ambiguity, simulated_choice, simulated_reply
from pgclarify.data.dialogue import Turn
from pgclarify.errors import InvalidReply
from tests.unit.prompts.asking import asked, said

QUESTION = "harbor museum"
WANTED = "The opening hours on Sundays."
TURNS = [Turn(["Do you mean the castle?"], "no, the museum")]
HISTORY = ["Is there a museum in Lindvik?", "Yes, at the harbor."]
OFFERED = ["What does a ticket cost?", "When does the harbor museum open?"]


def test_whether_it_is_ambiguous() -> None:
    call = ambiguity("Which?", ["Were there guests?", "Yes."])
    assert asked(call) == ["Turn 1: Were there guests?", "Turn 2: Yes.", "Question: Which?"]
    assert call.temperature == 0
    assert [call.read(said({"ambiguous": truth})) for truth in (True, False)] == [True, False]
    for wrong in ("yes", {}, {"ambiguous": "true"}, {"ambiguous": 1}, {"ambiguous": True, "why": "so"}):
        with pytest.raises(InvalidReply):
            call.read(said(wrong))


def test_the_simulated_user_replies_in_one_line() -> None:
    call = simulated_reply(WANTED, QUESTION, TURNS, ["Do you want to visit it?"])
    assert asked(call) == [
        f"Wanted: {WANTED}",
        f"Question: {QUESTION}",
        "Asked back: Do you mean the castle?",
        "Reply: no, the museum",
        "Asked back: Do you want to visit it?",
    ]
    assert call.read(said({"reply": " yes,\n on a Sunday "})) == "yes, on a Sunday"
    for wrong in ("yes", {"reply": " "}, {"reply": None}, {"reply": "x" * 501}, {"reply": "x\0"}):
        with pytest.raises(InvalidReply):
            call.read(said(wrong))


def test_the_simulated_user_chooses_one_offer() -> None:
    call = simulated_choice(WANTED, QUESTION, TURNS, OFFERED)
    assert asked(call)[-2:] == [f"Offered {number}: {text}" for number, text in enumerate(OFFERED, start=1)]
    assert call.schema["properties"]["choice"]["enum"] == [1, 2]
    assert [call.read(said({"choice": number})) for number in (1, 2)] == [0, 1]
    for wrong in ({"choice": 0}, {"choice": 3}, {"choice": "1"}, {"choice": None}, "1"):
        with pytest.raises(InvalidReply):
            call.read(said(wrong))


@pytest.mark.parametrize("turns", [[], TURNS])
def test_the_user_knows_the_conversation_before_the_question(turns: list[Turn]) -> None:
    for call, alone in (
        (
            simulated_reply(WANTED, QUESTION, turns, OFFERED, history=HISTORY),
            simulated_reply(WANTED, QUESTION, turns, OFFERED),
        ),
        (
            simulated_choice(WANTED, QUESTION, turns, OFFERED, history=HISTORY),
            simulated_choice(WANTED, QUESTION, turns, OFFERED),
        ),
    ):
        wanted, *rest = asked(alone)
        assert asked(call) == [
            wanted,
            *(f"Turn {number}: {text}" for number, text in enumerate(HISTORY, start=1)),
            *rest,
        ]
        assert call.messages[0] == alone.messages[0]


def test_a_long_proposal_does_not_hide_those_after_it() -> None:
    long = "x" * 700
    cut = "x" * 600 + "…"
    turn = Turn([long, *OFFERED], OFFERED[0])
    shown = f"Asked back: {' / '.join((cut, *OFFERED))}"
    assert asked(simulated_reply(WANTED, QUESTION, [turn], [long, *OFFERED]))[2::2] == [shown, shown]
    chosen = asked(simulated_choice(WANTED, QUESTION, [turn], [long, *OFFERED]))
    assert chosen[2] == shown
    assert chosen[4:] == [f"Offered {number}: {text}" for number, text in enumerate((cut, *OFFERED), start=1)]


def test_an_intent_may_be_a_whole_passage_and_no_more() -> None:
    shown = asked(simulated_reply("x" * 9_000, QUESTION, [], ["Which?"]))[0]
    assert 1_900 < len(shown) < 2_100
