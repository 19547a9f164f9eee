"""Words, stems and which of them carry meaning. English, with no dictionary beyond what is here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

# Every quantifier is followed by a character outside its own class, so matching is linear in the text.
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


def word_set(listed: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(listed.split())


STOP_WORDS = word_set(
    """a about above after again against all also am among an and another any are aren't around as at be
    because been before being below between both but by can can't cannot could couldn't did didn't do does
    doesn't doing don't down during each either else ever every few for from further get gets getting give
    given gives got had hadn't has hasn't have haven't having he her here hers herself him himself his how i
    if in into is isn't it it's its itself just let many may me might mine more most much must my myself
    neither no nor not of off on once one ones only onto or other others ought our ours ourselves out over own
    per please same shall she should shouldn't since so some such than that that's the their theirs them
    themselves then there there's these they this those through thus to too toward towards under until up upon
    us very via was wasn't we were weren't what what's whatever when where whether which while who who's whom
    whose why will with within without won't would wouldn't yet you your yours yourself"""
)

# Forms that no suffix rule reaches, with what they are forms of.
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
    "payment": "pay", "payments": "pay", "died": "die", "death": "die", "ties": "tie",
}  # fmt: skip

# Longest first. A suffix is cut only where at least four letters remain.
_SUFFIXES = ("ization", "isation", "ations", "ation", "ments", "ment", "ings", "ions", "ion", "ers", "er")
_MIN_STEM = 4


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text.

    Attributes:
        text: As written.
        lower: In lower case, with straight apostrophes and without a possessive ending.
        start: Offset of its first character.
        end: Offset after its last character.
    """

    text: str
    lower: str
    start: int
    end: int

    @property
    def stem(self) -> str:
        """What the word has in common with its other forms."""
        return stem(self.lower)

    @property
    def is_content(self) -> bool:
        """False for words that carry grammar and no meaning."""
        return self.lower not in STOP_WORDS

    @property
    def is_capitalized(self) -> bool:
        """True if its first letter is a capital."""
        return self.text[0].isupper()


def words(text: str) -> list[Word]:
    """Split a text into words; punctuation belongs to none."""
    found = []
    for match in _WORD.finditer(text):
        lower = match[0].lower().replace("\u2019", "'")
        found.append(Word(match[0], lower.removesuffix("'s"), match.start(), match.end()))
    return found


@lru_cache(maxsize=20_000)
def stem(lower: str) -> str:
    """Cut the ending off a lower-case word: "cancellations", "cancelled" and "cancel" are one."""
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if len(lower) <= 3 or not lower.isascii() or not lower.isalpha():
        return lower
    if lower.endswith(("ies", "ied")) and len(lower) > 4:
        return lower[:-3] + "y"
    for suffix in _SUFFIXES:
        if lower.endswith(suffix) and len(lower) - len(suffix) >= _MIN_STEM:
            return _trim(lower.removesuffix(suffix))
    for suffix in ("ing", "ed"):
        root = lower.removesuffix(suffix)
        if root != lower and len(root) >= 3 and any(letter in "aeiouy" for letter in root):
            return _trim(root)
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is")):
        return stem(lower[:-1])
    return _trim(lower)


def _trim(base: str) -> str:
    """Drop a final e, and one of two equal consonants at the end ("cancell")."""
    if base.endswith("e") and len(base) > 3:
        base = base[:-1]
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiou":
        base = base[:-1]
    return base


def content_stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning; of all words if none does."""
    found = words(text)
    return frozenset(word.stem for word in found if word.is_content) or frozenset(word.stem for word in found)


def coverage(wanted: Iterable[str], have: frozenset[str]) -> float:
    """Share of the wanted stems that are there, in [0, 1]; 1 if nothing is wanted."""
    wanted = list(wanted)
    return sum(one in have for one in wanted) / len(wanted) if wanted else 1.0
