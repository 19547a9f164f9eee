"""The bounds of the probabilities that a sentence answers, and that of a span of the trained reader.

docs/methods/extractive.md describes the data of the fit and the quality of the model.
"""

from __future__ import annotations

import math

from pgclarify.data.verdicts import AnswerSpan

SPAN_BIAS = -1.85
ANSWERABLE = 0.43
LOG_PROBABILITY = 0.74
SPAN_SIMILARITY = 2.30

THRESHOLD = 0.25
"""A reading with a lower score is no answer."""

LEAST_OF_YES_NO = 0.5
"""A sentence with this probability answers a question for yes or no of which the rules find no answer."""

LEAST_OF_ROW = 0.3
"""The least probability of a row in which the rules read the answer to a few words."""


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
