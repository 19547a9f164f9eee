"""What a question asks for, in words, and how probably a span of the trained reader answers it.

docs/methods/extractive.md describes the data of the fit and the quality of the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgclarify.data.verdicts import AnswerSpan
from pgclarify.language.stems import stem
from pgclarify.language.words import words

SPAN_BIAS = -1.85
ANSWERABLE = 0.43
LOG_PROBABILITY = 0.74
SPAN_SIMILARITY = 2.30

THRESHOLD = 0.25
"""A reading with a lower score is no answer."""

# What was founded in 1912 was established then.
_SYNONYMS = tuple(
    frozenset(map(stem, group.split()))
    for group in (
        "establish founded create form open launch start begin organize introduce inaugurate",
        "build construct erect complete", "buy purchase acquire", "publish release issue", "praise commend",
        "allow permit grant authorize", "announce reveal unveil", "play portray", "population inhabitants",
    )
)  # fmt: skip


def with_synonyms(stems: frozenset[str]) -> frozenset[str]:
    """Return stems, and those of the words that mean the same."""
    return stems.union(*(group for group in _SYNONYMS if not group.isdisjoint(stems)))


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The words of a question, computed once for all sentences of a passage.

    Attributes:
        text: The question, with each run of white space as one space.
        stems: Stems of its words that carry meaning.
    """

    text: str
    stems: frozenset[str]

    @classmethod
    def read(cls, question: str) -> QuestionTerms:
        """Read a question."""
        text = " ".join(question.split())
        found = words(text)
        # "Long" in "how long" is part of the answer's kind, and no topic.
        content = [
            word
            for before, word in zip([None, *found], found, strict=False)
            if word.is_content and not (before and before.lower == "how")
        ]
        return cls(text, frozenset(word.stem for word in content or found))


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
