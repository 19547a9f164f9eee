"""How text of any language is split into words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from pgclarify.language.quotes import fold
from pgclarify.language.whole_words import UNSPACED

# Each repeated part is followed by a character outside its class, so that matching takes linear time. Hyphens, dots and
# apostrophes inside a word are part of it: "Jean-Luc", "U.S", "Ada's". The ambiguity classifier was trained on these
# words, so another pattern requires training it again.
WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
# Apostrophes separate words, too, where only the letters matter.
PIECE: Final = re.compile(r"\w+")
# Splits runs of word characters into letters of scripts without blanks between words, and all others.
_SCRIPT: Final = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_UNSPACED: Final = re.compile(rf"[{UNSPACED}]")


def word_set(listed: str) -> frozenset[str]:
    """Return the set of words in a text."""
    return frozenset(listed.split())


YES_OR_NO: Final = word_set("yes no ja nein oui non si sí no tak nie はい いい いえ")
"""Yes and no in several languages."""


def folded_words(text: str) -> list[str]:
    """List the pieces of a folded text; "Ada's" has two.

    In a script without blanks between words, each pair of letters is a piece: a clause contains a word of an answer if
    it contains its pairs.
    """
    folded = fold(text)
    if folded.isascii():
        return PIECE.findall(folded)
    # Composed, because a decomposed accent is not a word character.
    pieces = PIECE.findall(unicodedata.normalize("NFC", folded))
    return [part for piece in pieces for part in _pairs(piece)] if _UNSPACED.search(folded) else pieces


def unspaced_pairs(text: str) -> frozenset[str]:
    """Return the pairs of letters of a text in scripts without blanks between words; none in another script."""
    return (
        frozenset(part for part in folded_words(text) if _UNSPACED.match(part))
        if _UNSPACED.search(text)
        else frozenset()
    )


def _pairs(piece: str) -> Iterator[str]:
    for part in _SCRIPT.findall(piece):
        if _UNSPACED.match(part) and len(part) > 1:
            yield from (part[start : start + 2] for start in range(len(part) - 1))
        else:
            yield part


def distinct_words(*texts: str) -> frozenset[str]:
    """Return the distinct pieces of some folded texts."""
    return frozenset(word for text in texts for word in folded_words(text))


def asks_same_words(first: str, second: str) -> bool:
    """Tell whether two questions are the same except for case, typography and the marks at their ends."""
    return fold(first).strip(" ?.!") == fold(second).strip(" ?.!")
