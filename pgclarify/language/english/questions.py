"""The words of questions."""

from __future__ import annotations

from typing import Final

from pgclarify.language.english.word_classes import AUXILIARIES, INTERROGATIVES
from pgclarify.language.english.words import content_stems

_ASKING: Final = AUXILIARIES | {*INTERROGATIVES}
# "In which year was" has four words that ask.
_MOST_ASKING: Final = 4


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


def without_asking(question: str) -> str:
    """Return a question without the words that ask: "Ida Holm born" for "When was Ida Holm born?"."""
    words = question.rstrip(" ?").split()
    asking = [place for place, word in enumerate(words[:_MOST_ASKING]) if word.lower() in _ASKING]
    return " ".join(words[asking[-1] + 1 :] if asking else words)
