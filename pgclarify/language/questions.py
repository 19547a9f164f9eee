"""Compares questions by their words: do two ask the same?"""

from __future__ import annotations

from typing import Final

from pgclarify.language.quotes import fold
from pgclarify.language.stems import root
from pgclarify.language.words import (
    ARTICLES,
    ASKING,
    WORD,
    content_stems,
    without_possessive,
)

# They hardly change what a question asks.
_SMALL: Final = ARTICLES | {"in", "on", "at", "of"}


def asks_same(first: str, second: str) -> bool:
    """Tell whether two questions ask the same.

    The words must be the same in the same order, except for a few small ones; "founded" and "founder" count as one
    word. Embeddings do not decide: they rate "Who hired Ada?" and "Who was hired by Ada?" at 0.99.
    """
    return _roots(first) == _roots(second)


def asks_same_words(first: str, second: str) -> bool:
    """Tell whether two questions are the same except for case, typography and the marks at their ends."""
    return fold(first).strip(" ?.!") == fold(second).strip(" ?.!")


def ask_for(answer: str, reading: str, question: str) -> str:
    """Return the question instead of a reading that is no question, but states the answer.

    "When was the church built?" for "The church was built in 1872.". A question of a few keywords says less than the
    statement, so it does not replace it.

    Args:
        answer: The answer: "in 1872".
        reading: What a model returned as the reading of the question.
        question: The question.
    """
    is_question = question.rstrip().endswith("?") or question.lower().startswith(ASKING)
    told = content_stems(answer)
    is_told = bool(told) and told <= content_stems(reading) and not told <= content_stems(question)
    return question if is_question and is_told and not reading.rstrip().endswith("?") else reading


def _roots(question: str) -> list[str]:
    return [root(without_possessive(word)) for word in WORD.findall(fold(question)) if word not in _SMALL]
