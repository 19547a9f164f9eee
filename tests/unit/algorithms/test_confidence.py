"""The probabilities that answers of the trained reader are right."""

from __future__ import annotations

import pytest

from pgclarify.algorithms.confidence import probability_of_reading


def test_support_makes_a_reading_more_probable_and_another_answer_less() -> None:
    # 1 / (1 + exp(-0.66)), as a score of one half and one document say nothing.
    assert probability_of_reading(0.5, 1, is_contested=False) == pytest.approx(0.659, abs=0.001)
    assert probability_of_reading(0.5, 2, is_contested=False) == pytest.approx(0.802, abs=0.001)
    assert probability_of_reading(0.5, 1, is_contested=True) == pytest.approx(0.389, abs=0.001)
    assert probability_of_reading(0.8, 1, is_contested=False) == pytest.approx(0.816, abs=0.001)
