"""The script of estimate: the statement that it sends, and the record that it makes of the row."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from pgclarify.client.estimating import Estimate, estimate
from pgclarify.client.scripts import Session
from pgclarify.errors import InputError
from tests.unit.client.playing import play

ROW: dict[str, Any] = {
    "run_id": 7,
    "questions": 3,
    "distinct_questions": 2,
    "answered": 1,
    "sampled": 1,
    "calls": 21,
    "calls_at_most": 22,
    "reused_calls": 4,
    "prompt_tokens": 8000,
    "completion_tokens": 1200,
    "cost_usd": Decimal("0.0312"),
    "model": "m",
}


def test_it_is_one_record() -> None:
    played = play(estimate(Session("insurance"), ("a", "b", "a"), top_k=5, sample=9), [ROW | {"invented_later": 1}])

    assert played.returned == Estimate(**ROW)
    (sent,) = played.sent
    assert sent.name == "client_estimate"
    assert {name: sent.parameters[name] for name in ("questions", "corpus", "top_k")} == {
        "questions": ["a", "b", "a"], "corpus": "insurance", "top_k": 5,
    }  # fmt: skip
    assert json.loads(str(sent.parameters["options"])) == {"sample": 9, "timeout": "60.000000 seconds"}


def test_one_text_is_not_several() -> None:
    with pytest.raises(InputError):
        play(estimate(Session(), "cars"))
