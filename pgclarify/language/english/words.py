"""How English text is split into words with stems."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pgclarify.language.english.stems import stem
from pgclarify.language.english.word_classes import STOP_WORDS

# A hyphen separates words that are compared one by one: "30-day" contains a unit.
_PART: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_INNER_DOT: Final = re.compile(r"(?<=[^\W_])\.(?=[^\W_])")
_POSSESSIVE: Final = ("'s", "\u2019s")


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
        """The part that the word shares with its other forms."""
        return stem(self.lower)

    @property
    def is_content(self) -> bool:
        """False for words with grammatical function and no meaning."""
        return self.lower not in STOP_WORDS

    @property
    def is_capitalized(self) -> bool:
        """True if its first letter is a capital."""
        return self.text[0].isupper()


# One check of a verdict looks at its question, answer and quote again and again.
@lru_cache(maxsize=16)
def words(text: str) -> tuple[Word, ...]:
    """Split a text into words, without punctuation."""
    found = []
    for match in _PART.finditer(text):
        lower = match[0].lower().replace("\u2019", "'")
        found.append(Word(match[0], lower.removesuffix("'s"), match.start(), match.end()))
    return tuple(found)


def lower_words(text: str) -> list[str]:
    """List the words of a text in lower case."""
    return [word.lower for word in words(text)]


def all_stems(text: str) -> frozenset[str]:
    """Return the stems of all words of a text."""
    return frozenset(word.stem for word in words(text))


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words with meaning; of all words if none has."""
    found = frozenset(word.stem for word in words(text) if word.is_content)
    return found or all_stems(text)


def coverage(wanted: Iterable[str], have: frozenset[str]) -> float:
    """Return the share of the wanted stems that are present, in [0, 1]; 1 if none is wanted."""
    wanted = list(wanted)
    return sum(one in have for one in wanted) / len(wanted) if wanted else 1.0


def plain_words(text: str) -> list[str]:
    """List the words of a text as written, without inner dots ("US" for "U.S.") and possessive endings."""
    return [without_possessive(word) for word in _PART.findall(_INNER_DOT.sub("", text))]


def without_possessive(word: str) -> str:
    """Cut off a possessive ending."""
    return word[:-2] if word.endswith(_POSSESSIVE) else word
