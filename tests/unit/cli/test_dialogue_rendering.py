"""The output of the commands of a dialogue, from rows."""

from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.console import RenderableType

from pgclarify.cli import rendering
from tests.unit.cli.test_rendering import citation, shown


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
