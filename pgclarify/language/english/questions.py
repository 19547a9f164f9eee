"""Compares questions by their words."""

from __future__ import annotations

from pgclarify.language.english.word_classes import INTERROGATIVES
from pgclarify.language.english.words import content_stems


def ask_for(answer: str, reading: str, question: str) -> str:
    """Return the question instead of a reading that is no question, but states the answer.

    "When was the church built?" for "The church was built in 1872.". A question of a few keywords says less than the
    statement, so it does not replace it.

    Args:
        answer: The answer: "in 1872".
        reading: What a model returned as the reading of the question.
        question: The question.
    """
    is_question = question.rstrip().endswith("?") or question.lower().startswith(INTERROGATIVES)
    told = content_stems(answer)
    is_told = bool(told) and told <= content_stems(reading) and not told <= content_stems(question)
    return question if is_question and is_told and not reading.rstrip().endswith("?") else reading
