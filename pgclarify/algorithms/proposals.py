"""Whether two clarifying questions, or two reformulations, would get the same reply."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.algorithms.quotation import fold

_WORD: Final = re.compile(r"\w+(?:['\u2019.-]\w+)*")
# What a clarifying question begins with, whatever it is about. Whole phrases only: to see a castle, to get to it, and
# what is for teachers mean something.
_KNOWING: Final = r"(?:(?:know|find out)(?: more)?(?: about)?|(?:learn|hear|read)(?: more)? about)"
_OPENINGS: Final = (
    r"(?:could|can|would|will) you(?: please)? (?:tell me|tell us|say|specify|clarify)(?: (?:if|whether))?",
    r"(?:(?:do|would) you|i)(?: would)? (?:want|like|wish|need) to know (?:if|whether)",
    rf"(?:(?:do|would) you|i)(?: would)? (?:want|like|wish|need) to {_KNOWING}",
    rf"(?:are you|i am)(?: (?:looking|trying|hoping|wanting))? to {_KNOWING}",
    r"(?:are you|i am) (?:looking|searching|asking) for",
    r"(?:are you|i am) (?:asking|inquiring|curious) about",
    r"(?:are you|i am) interested in(?: (?:knowing|finding out|(?:learning|hearing|reading)(?: more)? about))?",
    r"(?:do |did )?you mean",
)
_INFORMATION: Final = r"(?:(?:some|any|more|further) )?(?:information|info|details) (?:about|on)"
_OPENING: Final = re.compile(
    rf"(?:(?:{'|'.join(_OPENINGS)}) )*"
    rf"(?:(?:(?:(?:do|would) you|i)(?: would)? (?:want|like|wish|need) )?{_INFORMATION} )?"
)
_ARTICLES: Final = frozenset({"a", "an", "the"})
_ENDING: Final = re.compile(r"['\u2019]s$|(?<=\w{3})s$")


def proposes_same(first: str, second: str) -> bool:
    """Tell whether two proposals are one in other words of politeness.

    What remains after an opening ("Are you looking for information about", "Would you like to know if you mean") has to
    be the same, word by word, apart from articles and plurals. Similarity of
    embeddings does not decide: it is higher between what is above the ground and what is below than between most
    questions that mean the same, and to lose what somebody means is worse than to read it twice.

    Args:
        first: A clarifying question, a reformulation, or a question.
        second: Another.
    """
    return _matter(first) == _matter(second)


def _matter(text: str) -> list[str]:
    said = f"{' '.join(_WORD.findall(fold(text)))} "
    opening = _OPENING.match(said)
    # A question of nothing but an opening is about that.
    rest = said[opening.end() :].split() if opening is not None else []
    return [_ENDING.sub("", word) for word in rest or said.split() if word not in _ARTICLES]
