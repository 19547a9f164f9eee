"""The output of the commands of a dialogue, from rows."""

from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.console import RenderableType

from pgclarify.cli import result_rendering
from tests.unit.cli.test_rendering import citation, shown


def every_rendering(text: str) -> list[RenderableType]:
    row: dict[str, Any] = {"run_id": 1, "ordinal": 1, "document_ids": [text], "citations": []}
    reasons = [{"source": source, "name": "referential_words", "text": text} for source in ("rule", text)]
    judged = row | {"is_ambiguous": True, "probability": 0.934, "kind": "pragmatic", "reasons": reasons}
    rewritten = {"rewritten": text, "was_ambiguous": True, "reason": text}
    proposed = row | {"ambiguity_type": "specify", "reasoning": text, "is_answerable": True}
    proposed |= {"clarifying_question": text, "reformulation": text}
    cited = citation(document_id=text, title=text, heading=text, quote=text, is_current=False)
    return [
        result_rendering.ambiguity(text, [judged]),
        result_rendering.ambiguity(text, [judged | {"is_ambiguous": False}]),
        result_rendering.ambiguity(text, [judged | {"probability": None}]),
        result_rendering.rewritten("q", [rewritten]),
        result_rendering.why_rewritten("q", [rewritten]),
        result_rendering.proposals(text, [proposed]),
        result_rendering.answers(text, [row | {"answer": text, "variants": [text, text], "citations": [cited]}]),
    ]


def test_a_question_is_ambiguous_clear_or_not_judged() -> None:
    judged: dict[str, Any] = {"is_ambiguous": False, "probability": 0.2, "kind": None, "reasons": []}
    assert shown(result_rendering.ambiguity("q", [judged])).strip() == "Clear  (probability 0.20)"
    assert shown(result_rendering.ambiguity("q", [judged | {"probability": None}])).strip() == "Not judged"


@given(st.text())
def test_no_rendering_lets_control_characters_through(text: str) -> None:
    for renderable in every_rendering(text):
        output = shown(renderable)
        assert not [c for c in output if c != "\n" and unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"}]
