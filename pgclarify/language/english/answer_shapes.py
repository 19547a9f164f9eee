"""Checks whether an answer has the shape that its question asks for: a number for "how many", a time for "when"."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.language.english.numbers import find_quantities
from pgclarify.language.words import PIECE, word_set

# A question is read from its first wh-word: "In which year", "The Church of England uses what term".
_ASKING: Final = re.compile(r"\b(?:who|whom|whose|where|when|what|which|how|why)\b.*", re.IGNORECASE | re.DOTALL)
_NUMBER: Final = re.compile(
    r"how (?:many|much|old|tall|high|far|large|big|fast|deep|wide)\b"
    r"|(?:what|which) (?:percent(?:age)?|proportion|number|amount|fraction)\b",
    re.IGNORECASE,
)
_TIME: Final = re.compile(r"when\b|(?:what|which) (?:years?|dates?|months?|decade|century|day|time)\b", re.IGNORECASE)
_PERSON_OR_PLACE: Final = re.compile(r"(?:who(?:m|se)?|where)\b", re.IGNORECASE)

_VAGUE_NUMBERS: Final = word_set("none no several many few most all half double twice both some majority every")
_TIMES: Final = word_set(
    "after before during until since end beginning start season century centuries annually yearly age ages period era"
    " war revolution monday tuesday wednesday thursday friday saturday sunday morning evening night noon midnight"
    " summer winter spring autumn day days week weeks month months year years decade decades later today now"
)
_BESIDE_NUMBERS: Final = _TIMES | word_set(
    "on in the of a an from to at by about around approximately over nearly almost more less than and late early mid"
    " bc ad bce ce"
)


def has_asked_shape(question: str, answer: str) -> bool:
    """Return whether an answer can answer a question, by its shape alone.

    Args:
        question: An English question.
        answer: The supposed answer, other than yes or no.

    Returns:
        False if the question asks for a number and the answer has none. False if it asks for a time and the answer has
        neither a number nor a word of time. False if it asks for a person or place and the answer is a number or a
        time. True otherwise.
    """
    asking = _ASKING.search(question)
    asked = asking[0] if asking else ""
    words = frozenset(PIECE.findall(answer.lower()))
    if _NUMBER.match(asked):
        return _has_number(answer) or not words.isdisjoint(_VAGUE_NUMBERS)
    if _TIME.match(asked):
        return _has_number(answer) or not words.isdisjoint(_TIMES)
    return not (_PERSON_OR_PLACE.match(asked) and _is_number_or_time(answer))


def _has_number(answer: str) -> bool:
    return any(map(str.isdigit, answer)) or bool(find_quantities(answer, is_question=False)[0])


def _is_number_or_time(answer: str) -> bool:
    quantities, rest = find_quantities(answer, is_question=False)
    return bool(quantities) and _BESIDE_NUMBERS.issuperset(PIECE.findall(rest.lower()))
