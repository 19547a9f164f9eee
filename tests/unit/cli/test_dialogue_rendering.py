"""The output of the commands of a dialogue, from rows."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import RenderableType

from pgclarify.cli import rendering
from tests.unit.cli.test_rendering import HOSTILE, citation, shown


def reason(**changes: Any) -> dict[str, Any]:
    return {"source": "feature", "name": "referential_words", "text": 'it says "she"'} | changes


def ambiguity(**changes: Any) -> dict[str, Any]:
    return {
        "run_id": 1,
        "is_ambiguous": True,
        "probability": 0.934,
        "kind": "pragmatic",
        "reasons": [reason()],
    } | changes


def clear(**changes: Any) -> dict[str, Any]:
    return ambiguity(is_ambiguous=False, probability=0.1, kind=None) | changes


def proposal(**changes: Any) -> dict[str, Any]:
    return {
        "run_id": 1,
        "ordinal": 1,
        "ambiguity_type": "specify",
        "clarifying_question": None,
        "reformulation": "For how long may I rent a car?",
        "document_ids": ["a.md", "b.md"],
        "reasoning": "Cars are rented for many reasons.",
        "is_answerable": True,
        "citations": [],
    } | changes


def listed(**changes: Any) -> dict[str, Any]:
    return {
        "run_id": 1,
        "ordinal": 1,
        "answer": "Vishwaroopam",
        "variants": ["Vishwaroopam", "Vishwaroop"],
        "document_ids": ["rental-reimbursement.md"],
        "citations": [citation()],
    } | changes


def every_rendering(text: str) -> list[RenderableType]:
    reasons = [reason(source="rule", text=text), reason(source=text, text=text)]
    cited = citation(document_id=text, title=text, heading=text, quote=text, is_current=False)
    return [
        rendering.ambiguity(text, [ambiguity(reasons=reasons)]),
        rendering.rewritten("q", [{"rewritten": text, "was_ambiguous": True, "reason": text}]),
        rendering.why_rewritten("q", [{"rewritten": text, "was_ambiguous": True, "reason": text}]),
        rendering.proposals(text, [proposal(clarifying_question=text, reformulation=text, document_ids=[text])]),
        rendering.answers(text, [listed(answer=text, variants=[text, text], citations=[cited])]),
    ]


@given(st.text())
def test_no_rendering_lets_control_characters_through(text: str) -> None:
    for renderable in every_rendering(text):
        output = shown(renderable)
        assert not [c for c in output if c != "\n" and unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"}]


@pytest.mark.parametrize("renderable", every_rendering(HOSTILE))
def test_hostile_text_is_shown_as_text_even_on_a_terminal(renderable: RenderableType) -> None:
    output = shown(renderable, is_terminal=True, width=300)
    for sequence in ("\x1b[2J", "\x1b]", "\x07", "\u202e"):
        assert sequence not in output
    assert "[bold red]loud[/bold red]" in output


def test_an_ambiguous_question_says_why() -> None:
    rule = reason(source="rule", name="7", text='"they" needs a name')
    lines = shown(rendering.ambiguity("q", [ambiguity(reasons=[reason(), rule])])).splitlines()
    assert lines == [
        "Ambiguous, pragmatic: what it refers to is missing  (probability 0.93)",
        '  - it says "she"',
        '  - rule: "they" needs a name',
    ]


def test_reformulations_to_choose_from() -> None:
    rows = [proposal(), proposal(ordinal=2, is_answerable=False, document_ids=[])]
    assert shown(rendering.proposals("rental cars", rows), width=200).splitlines() == [
        'What do you mean by "rental cars"?',
        "",
        "1. For how long may I rent a car?",
        "   answered by a.md, b.md",
        "",
        "2. For how long may I rent a car?",
        "   no document answers it",
        "",
        'Reply: psql "$(pgclarify dsn)" -c "select * from pgclarify.reply(1, ordinal => 1)"',
    ]


def test_questions_to_answer_say_what_they_aim_at() -> None:
    many = [f"{number}.md" for number in range(7)]
    asked = proposal(clarifying_question="Which period?", document_ids=many)
    output = shown(rendering.proposals("cars", [asked]), width=200)
    assert output.startswith(
        'What do you mean by "cars"?\n\n- Which period?\n  such as: For how long may I rent a car?\n'
    )
    assert "pgclarify.reply(1, '...')" in output
    assert "answered by 0.md, 1.md, 2.md, 3.md, 4.md and 2 more" in output
    unchecked = proposal(is_answerable=None, document_ids=[])
    assert "1. For how long may I rent a car?\n\n" in shown(rendering.proposals("cars", [unchecked]))


def test_a_question_in_another_language_has_no_probability() -> None:
    unread = clear(probability=None, reasons=[reason(name="language", text="it is not in English")])
    assert shown(rendering.ambiguity("q", [unread])) == "Not judged\n  - it is not in English\n"


def test_answers_number_their_citations_through() -> None:
    rows = [listed(citations=[citation(), citation()]), listed(ordinal=2, answer="Mumbai", variants=["Mumbai"])]
    output = shown(rendering.answers("Which?", rows))
    assert output.startswith(
        '2 answers to "Which?", each with its proof\n\n1. Vishwaroopam\n   also: Vishwaroop\n   [1]'
    )
    assert "\n2. Mumbai\n   [3] rental-reimbursement.md" in output
