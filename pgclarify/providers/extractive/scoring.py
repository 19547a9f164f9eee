"""The probability that a sentence answers a question: two logistic models, with the fitted numbers below.

docs/methods/extractive.md describes the data of the fit and the quality of the models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgclarify.data.verdicts import AnswerSpan
from pgclarify.language.stems import stem
from pgclarify.language.words import STOP_WORDS, coverage, words

BIAS = -3.37
SIMILARITY = 3.10
COVERAGE = 1.35
ANSWER_OF_KIND = 0.44
MISSING_NAMES = -0.80
MISSING_NUMBER = -1.35

SPAN_BIAS = -2.11
ANSWERABLE = 0.53
LOG_PROBABILITY = 0.25
SPAN_SIMILARITY = 2.99

THRESHOLD = 0.30
"""A sentence with a lower probability is no answer."""


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The words of a question, computed once for all sentences of a passage.

    Attributes:
        text: The question, with each run of white space as one space.
        stems: Stems of its words that carry meaning.
        names: Stems of the names in it: capitalized words other than the first.
        numbers: Numbers in it, as written.
    """

    text: str
    stems: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]

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
        names = {word.stem for word in found[1:] if word.is_capitalized and word.lower not in STOP_WORDS}
        return cls(
            text,
            frozenset(word.stem for word in content or found),
            # If all words of a question have capitals, capitals do not mark names.
            frozenset(names) if len(names) < len(content) - 1 else frozenset(),
            frozenset(word.lower for word in found if word.text[0].isdigit()),
        )


@dataclass(frozen=True, slots=True)
class Features:
    """The inputs of the logistic models.

    Attributes:
        similarity: Cosine of the embeddings of question and sentence, in [-1, 1].
        coverage: Share of the question's stems in the sentence, title and headings, in [0, 1].
        has_answer: Whether the sentence has an answer with a shape: a sum, a date, a name, a list.
        missing_names: Share of the question's names that sentence, title and headings lack, in [0, 1].
        is_number_missing: Whether the question has a number that sentence, title and headings lack.
    """

    similarity: float
    coverage: float
    has_answer: bool
    missing_names: float
    is_number_missing: bool


def features(query: QuestionTerms, sentence: str, context: str, similarity: float, has_answer: bool) -> Features:
    """Measure one sentence, with its title and headings as context, against a question."""
    present = frozenset(stem(word.lower) for word in words(f"{context}\n{sentence}"))
    return Features(
        similarity=similarity,
        coverage=coverage(query.stems, present),
        has_answer=has_answer,
        missing_names=1.0 - coverage(query.names, present),
        is_number_missing=not query.numbers <= present,
    )


def probability(measured: Features) -> float:
    """Return the probability, in (0, 1), that a sentence with a reading by rules answers the question."""
    return _logistic(
        BIAS
        + SIMILARITY * measured.similarity
        + COVERAGE * measured.coverage
        + ANSWER_OF_KIND * measured.has_answer
        + MISSING_NAMES * measured.missing_names
        + MISSING_NUMBER * measured.is_number_missing
    )


def probability_of_span(span: AnswerSpan, measured: Features) -> float:
    """Return the probability, in (0, 1), that a span of the trained reader answers the question.

    Args:
        span: The span with the trained reader's scores.
        measured: The features of the sentence around it.
    """
    return _logistic(
        SPAN_BIAS
        + ANSWERABLE * span.answerable
        + LOG_PROBABILITY * span.log_probability
        + SPAN_SIMILARITY * measured.similarity
        + MISSING_NAMES * measured.missing_names
        + MISSING_NUMBER * measured.is_number_missing
    )


def _logistic(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))
