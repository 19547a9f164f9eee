"""Whether two clarifying questions, or two reformulations, would get the same reply."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.algorithms.quotation import fold

_WORD: Final = re.compile(r"\w+(?:['\u2019.-]\w+)*")
# What a clarifying question begins with, whatever it is about: "Are you looking for information about", "Would you like
# to know".
_OPENING: Final = frozenset(
    str.split(
        "do does are is would could can may you your i me want wanting like wish need looking look searching interested"
        " trying hoping asking inquiring curious know learn see hear find get mean tell more some any information info"
        " details about for in on of to if whether"
    )
)
_ARTICLES: Final = frozenset({"a", "an", "the"})
_ENDING: Final = re.compile(r"['\u2019]s$|(?<=\w{3})s$")


def proposes_same(first: str, second: str) -> bool:
    """Tell whether two proposals are one in other words of politeness.

    What remains after the opening has to be the same, word by word, apart from articles and plurals. Similarity of
    embeddings does not decide: it is higher between what is above the ground and what is below than between most
    questions that mean the same, and to lose what somebody means is worse than to read it twice.

    Args:
        first: A clarifying question, a reformulation, or a question.
        second: Another.
    """
    return _matter(first) == _matter(second)


def _matter(text: str) -> list[str]:
    words = _WORD.findall(fold(text))
    # A question of nothing but opening words is about these.
    start = next((place for place, word in enumerate(words) if word not in _OPENING), 0)
    return [_ENDING.sub("", word) for word in words[start:] if word not in _ARTICLES]
