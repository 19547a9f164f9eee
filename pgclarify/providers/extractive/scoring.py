"""The bounds of the probabilities that a sentence answers, and that of a span of the trained reader.

docs/methods/extractive.md describes the data of the fit and the quality of the model.
"""

from __future__ import annotations

import math

from pgclarify.data.verdicts import LEAST_SURE, AnswerSpan

SPAN_BIAS = -1.85
ANSWERABLE = 0.43
LOG_PROBABILITY = 0.74
SPAN_SIMILARITY = 2.30

THRESHOLD = LEAST_SURE
"""The least probability of a part of an answer, and the least score of a reading of the rules."""

LEAST_READ = 0.12
"""A reading with a lower score is no answer."""

LEAST_OF_ROW = 0.3
"""The least probability of a row in which the rules read the answer to a few words."""

_LEAST_PROBABILITY = 1e-6


def probability_of_span(span: AnswerSpan, similarity: float) -> float:
    """Return the probability, in (0, 1), that a span of the trained reader answers the question.

    Args:
        span: The span with the trained reader's scores.
        similarity: Cosine of the embeddings of the question and the sentence around the span.
    """
    logit = (
        SPAN_BIAS + ANSWERABLE * span.answerable + LOG_PROBABILITY * span.log_probability + SPAN_SIMILARITY * similarity
    )
    return 1.0 / (1.0 + math.exp(-logit))


def between(one: float, other: float) -> float:
    """Return the probability whose log-odds are the mean of those of two."""
    return 1.0 / (1.0 + math.exp(-(log_odds(one) + log_odds(other)) / 2.0))


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, which is kept from 0 and 1, where it has none."""
    kept = min(max(probability, _LEAST_PROBABILITY), 1.0 - _LEAST_PROBABILITY)
    return math.log(kept / (1.0 - kept))
