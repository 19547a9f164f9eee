"""Names in English text: which words are part of one, initials and titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pgclarify.language.english.word_classes import COMMON, FORMS_OF_DO, INTERROGATIVES
from pgclarify.language.english.words import without_possessive
from pgclarify.language.words import WORD, folded_words

_DOTTED_INITIALS: Final = re.compile(r"\b([^\W\d_])\.(?:\s(?=[^\W\d_]\.))?(?=[^\W\d_]\b|\W|$)")
# Words that do not change what a question asks, in any spelling.
_NOT_CONTENT: Final = COMMON | FORMS_OF_DO | {*INTERROGATIVES, "i"}
# Mrs. John Smith is not John Smith.
TITLES: Final = frozenset({"dr", "mr", "ms", "sir"})


def names(text: str) -> frozenset[str]:
    """List the words of names, and the numbers, in a text, folded.

    A word is part of a name if it is capitalized and not the first one, or if it has a digit.
    """
    return frozenset(part for _, word, is_name in content_words(text) if is_name for part in folded_words(word))


def content_words(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the words that are neither asking nor common: place, bare form, and whether they are part of a name."""
    for place, match in enumerate(WORD.finditer(text)):
        word = match[0]
        if word.lower() not in _NOT_CONTENT:
            # The first word is always capitalized.
            is_name = any(map(str.isdigit, word)) or (place > 0 and word[0].isupper())
            yield place, without_possessive(word.lower()), is_name


def join_initials(text: str) -> str:
    """Write initials without dots: "APJ Kalam" for "A. P. J. Kalam"."""
    return _DOTTED_INITIALS.sub(r"\1", text)
