"""Words that a reading has from other texts than its own, which may tell what those say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from pgclarify.language.checks import AskedReading
from pgclarify.language.english.opposites import spell_negations
from pgclarify.language.english.word_classes import EXCLUSIONS, NEARLY_NEGATIONS, NEGATIONS
from pgclarify.language.english.words import all_stems, content_stems
from pgclarify.language.words import unspaced_pairs

_TURNING: Final = NEGATIONS | NEARLY_NEGATIONS | EXCLUSIONS


def find_lenders(reading: AskedReading, own: str, others: Sequence[str]) -> list[int]:
    """Find texts with words of a reading that neither its own text nor the question has.

    Args:
        reading: The reading, with its answer and the question.
        own: The text that proves it.
        others: Other texts.

    Returns:
        Places of texts: for each such word that of the first text that has it.
    """
    known = _stems(own)
    # A "not" may turn an answer around. Other words without meaning, as "if" and "it", tell nothing about their origin.
    asked = content_stems(reading.interpretation) | unspaced_pairs(reading.interpretation)
    turning = _stems(reading.answer) & _TURNING
    answered = content_stems(reading.answer) | unspaced_pairs(reading.answer) | turning
    missing = (asked | answered) - _stems(reading.question) - known
    if not _TURNING.isdisjoint(known):
        # An answer that begins with "no" is of a passage that says "not".
        missing -= _TURNING
    lenders = []
    for place, other in enumerate(others):
        lent = missing & _stems(other)
        if lent:
            lenders.append(place)
            missing -= lent
    return lenders


# Each reading is compared with all passages of its call.
@lru_cache(maxsize=256)
def _stems(text: str) -> frozenset[str]:
    return all_stems(spell_negations(text)) | unspaced_pairs(text)
