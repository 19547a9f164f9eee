"""Cuts English words to the part that their forms share, in two ways.

`root` is for comparing questions of few words, where "founder" and "founded" should be equal. `stem` is for finding
answers among many words, where "interest" and "internet" should differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pgclarify.language.english.word_classes import EVENTS, IRREGULAR_PLURALS, IRREGULAR_VERBS
from pgclarify.language.words import word_set

# How many letters the forms of one word share, for most words.
_ROOT: Final = 5
# Verbs whose forms the suffix rules leave as they are: "came" and "come" stay two words.
_BY_SUFFIXES: Final = word_set("come cut drive get set sit")
# Derived words that the suffix rules do not reach, because too few letters would remain, or that they would spoil.
_DERIVED: Final = {
    "director": "direct",
    "payment": "pay",
    "payments": "pay",
    "died": "die",
    "ties": "tie",
}
# Forms that no suffix rule covers, with their base forms.
_IRREGULAR: Final[Mapping[str, str]] = {
    **{form: verb for verb, forms in IRREGULAR_VERBS.items() if verb not in _BY_SUFFIXES for form in forms},
    **IRREGULAR_PLURALS,
    **EVENTS,
    **_DERIVED,
}

# Longest first. A suffix is cut only if at least four letters remain.
_SUFFIXES = ("ization", "isation", "ations", "ation", "ments", "ment", "ings", "ions", "ion", "ers", "er")
_MIN_STEM = 4


def singular(word: str) -> str:
    """Cut the ending of a regular plural off a lower-case word."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def root(word: str) -> str:
    """Cut a lower-case word to its first letters, so that "founded" and "founder" are equal. Numbers are kept."""
    return word if word.isdigit() else singular(word)[:_ROOT]


@lru_cache(maxsize=20_000)
def stem(lower: str) -> str:
    """Cut the ending off a lower-case word: "cancellations", "cancelled" and "cancel" become equal."""
    if lower in _IRREGULAR:
        return _trim(_IRREGULAR[lower])
    if len(lower) <= 3 or not lower.isascii() or not lower.isalpha():
        return lower
    if lower.endswith(("ies", "ied")) and len(lower) > 4:
        return lower[:-3] + "y"
    if lower.endswith(_SUFFIXES):
        for suffix in _SUFFIXES:
            if lower.endswith(suffix) and len(lower) - len(suffix) >= _MIN_STEM:
                return _trim(lower.removesuffix(suffix))
    for suffix in ("ing", "ed"):
        root = lower.removesuffix(suffix)
        if root != lower and len(root) >= 3 and any(letter in "aeiouy" for letter in root):
            return _trim(root)
    # "Analysis" loses its s too, because "taxis" has to.
    if lower.endswith("s") and not lower.endswith(("ss", "us")):
        return stem(lower[:-1])
    return _trim(lower)


def _trim(base: str) -> str:
    """Remove a final e, and one of two equal final consonants ("cancell")."""
    if base.endswith("e") and len(base) > 3:
        base = base[:-1]
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiou":
        base = base[:-1]
    return base
