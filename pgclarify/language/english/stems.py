"""Cuts English words to the part that their forms share, in two ways.

`root` is for comparing questions of few words, where "founder" and "founded" should be equal. `stem` is for finding
answers among many words, where "interest" and "internet" should differ.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

# How many letters the forms of one word share, for most words.
_ROOT: Final = 5
# Forms that no suffix rule covers, with their base forms.
_IRREGULAR = {
    "began": "begin", "begun": "begin", "bought": "buy", "brought": "bring", "built": "build", "chose": "choose",
    "chosen": "choose", "children": "child", "cost": "cost", "fell": "fall", "fallen": "fall", "felt": "feel",
    "feet": "foot", "fought": "fight", "found": "find", "gave": "give", "given": "give", "grew": "grow",
    "grown": "grow", "held": "hold", "kept": "keep", "knew": "know", "known": "know", "led": "lead", "left": "leave",
    "lost": "lose", "made": "make", "meant": "mean", "men": "man", "met": "meet", "paid": "pay", "ran": "run",
    "rose": "rise", "risen": "rise", "said": "say", "saw": "see", "seen": "see", "sent": "send", "shown": "show",
    "sold": "sell", "spent": "spend", "spoke": "speak", "spoken": "speak", "stood": "stand", "taken": "take",
    "took": "take", "taught": "teach", "thought": "think", "told": "tell", "went": "go", "gone": "go", "won": "win",
    "women": "woman", "wore": "wear", "worn": "wear", "written": "write", "wrote": "write", "became": "become",
    "birth": "born", "director": "direct", "payment": "pay", "payments": "pay", "died": "die", "death": "die",
    "ties": "tie",
}  # fmt: skip

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
