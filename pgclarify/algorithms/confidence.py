"""How probably a reading is right, after consolidation."""

from __future__ import annotations

import math
from typing import Final

# The fit of `python -m benchmarks.quality.confidence`.
_BIAS: Final = 0.66
_SCORE: Final = 0.60
_SUPPORT: Final = 1.07
_CONTESTED: Final = -1.11


def probability_of_reading(score: float, support: int, *, is_contested: bool) -> float:
    """Return the calibrated probability, in (0, 1), that a reading after consolidation is right.

    Args:
        score: The highest result of `probability_of_span` for its answers.
        support: How many documents support it.
        is_contested: Whether another reading may mean the same and has another answer.
    """
    evidence = _SCORE * math.log(score / (1.0 - score)) + _SUPPORT * math.log(support)
    return 1.0 / (1.0 + math.exp(-(_BIAS + evidence + _CONTESTED * is_contested)))
