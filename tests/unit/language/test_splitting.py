"""Which words split readings best."""

from __future__ import annotations

import pytest

from pgclarify.language.english.splitting import split
from pgclarify.language.relations import Side

FEE = "What is the daily fee for a rental car?"
HAIL = "Who pays the deductible for hail damage to a rental car?"
THEFT = "Who pays the deductible for theft of a rental car?"
REPAIR = "Who pays for a rental car during a repair?"


@pytest.mark.parametrize(
    ("readings", "weights", "expected", "bits"),
    [
        ([FEE, HAIL], [1, 1], (Side("daily fee", (0,)), Side("pays the deductible for hail damage", (1,))), 1.0),
        # Two of four are more even than one of four.
        ([FEE, HAIL, THEFT, REPAIR], [1, 1, 1, 1], (Side("deductible", (1, 2)), Side(None, (0, 3))), 1.0),
        # A reading with as many documents as the others together is split off.
        ([FEE, HAIL, THEFT, REPAIR], [1, 1, 1, 3], (Side("repair", (3,)), Side(None, (0, 1, 2))), 1.0),
        (
            [HAIL, FEE, FEE],
            [1, 2, 1],
            (Side("pays the deductible for hail damage", (0,)), Side("daily fee", (1, 2))),
            0.811,
        ),
        # Both sides tell as much, but for the rounding of 6/7.
        (
            [FEE, HAIL],
            [1, 6],
            (Side("daily fee", (0,)), Side("pays the deductible for hail damage", (1,))),
            0.592,
        ),
    ],
)
def test_readings_are_split_where_a_reply_tells_most(
    readings: list[str], weights: list[float], expected: tuple[Side, Side], bits: float
) -> None:
    found = split(readings, weights)
    assert found is not None
    assert found[:2] == expected
    assert found[2] == pytest.approx(bits, abs=1e-3)


@pytest.mark.parametrize("readings", [[], [FEE], [FEE, FEE], [FEE, "What is the fee for a daily rental car?"]])
def test_readings_in_the_same_words_cannot_be_split(readings: list[str]) -> None:
    assert split(readings, [1.0] * len(readings)) is None
