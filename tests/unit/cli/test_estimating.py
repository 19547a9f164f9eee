"""The output of the command estimate."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pgclarify.cli import estimate_rendering
from pgclarify.reports import formats
from tests.unit.cli.test_rendering import HOSTILE, shown

ROW: dict[str, Any] = {
    "run_id": 7,
    "questions": 1200,
    "distinct_questions": 1000,
    "answered": 250,
    "sampled": 200,
    "calls": 11550,
    "calls_at_most": 15750,
    "reused_calls": 4200,
    "prompt_tokens": 4_410_000,
    "completion_tokens": 315_000,
    "cost_usd": Decimal("12.346"),
    "model": "m-1",
}


def lines(**changes: Any) -> list[str]:
    printed = shown(estimate_rendering.estimate(ROW | changes))
    return [" ".join(line.split()) for line in printed.splitlines()]


def test_a_line_for_each_figure() -> None:
    assert lines() == [
        "1,200 questions, 1,000 of them different",
        "answered 250 served again, with no call",
        "looked at 200 of the 750 others, which they stand for",
        "calls 11,550 at most 15,750",
        "paid before 4,200 further calls, whose replies are kept",
        "tokens 4,410,000 in",
        "315,000 out",
        "cost $12.35 for m-1",
    ]


def test_an_exact_estimate_shows_no_bounds() -> None:
    exact = lines(questions=1, distinct_questions=1, answered=0, sampled=1, calls_at_most=11550, reused_calls=0)
    assert exact[0] == "1 question"
    assert "calls 11,550" in exact
    assert not [line for line in exact if line.startswith(("looked at", "paid before"))]


def test_without_a_price_it_says_where_to_put_one() -> None:
    printed = lines(cost_usd=None, model=f"m {HOSTILE}")
    assert not [line for line in printed if line.startswith("cost")]
    told = " ".join(printed)
    assert "no price for m " in told
    assert told.endswith("insert it into pgclarify.model_price")
    assert "\x1b" not in told


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        ("0", "$0.00"), ("0.0000", "$0.00"), ("12345.678", "$12,345.68"), ("1", "$1.00"), ("0.5", "$0.50"),
        ("0.0312", "$0.031"), ("0.0000456", "$0.000046"),
    ],
)  # fmt: skip
def test_small_amounts_are_told_apart(amount: str, told: str) -> None:
    assert formats.dollars(Decimal(amount)) == told
