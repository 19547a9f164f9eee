"""Sentences with several amounts, each for a thing of its own: "Lunch costs 6.50 EUR, for guests 9 EUR."."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from pgclarify.language.amounts import find_amounts
from pgclarify.language.support import topic_of

# Where the part with the next amount may begin. A comma within a number is none.
_BREAK: Final = re.compile(r"[,;:](?!\d)|\s(?:and|but|or|while)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a sentence with one or more amounts.

    Attributes:
        values: Of its amounts, which have one unit.
        own: Beginnings of its words.
        words: Those, and the words of the first part, whose subject and verb a later part may leave out.
    """

    values: frozenset[str]
    own: frozenset[str]
    words: frozenset[str]


def is_amount_of_another(asked: str, answer: str, sentence: str) -> bool:
    """Tell whether an answer is an amount that its sentence gives for another thing than the question asks about.

    That is so if another part of the sentence, with another amount in the same unit, has all the words of the question
    that the part of the answer has, and more. Or the same words, and the answer's part is an exception that was not
    asked for.

    Args:
        asked: An English question: "How much is lunch for guests?"
        answer: "6.50 EUR"
        sentence: "Lunch costs 6.50 EUR, for guests 9 EUR."
    """
    given = find_amounts(answer)
    if len(given) != 1 or not given[0].unit:
        return False
    parts = [*_parts(sentence, given[0].unit)]
    answering = [part for part in parts if given[0].value in part.values]
    others = [part for part in parts if given[0].value not in part.values]
    if len(answering) != 1 or not others:
        return False
    (mine,) = answering
    wanted = topic_of(asked)
    qualifying = mine.own - topic_of(answer)
    is_unasked = mine is not parts[0] and bool(qualifying) and not qualifying & wanted
    return any(
        mine.words & wanted < other.words & wanted
        or (is_unasked and other is parts[0] and mine.words & wanted == other.words & wanted)
        for other in others
    )


def _parts(sentence: str, unit: str) -> Iterator[_Part]:
    """Yield the parts of a sentence that have amounts in a unit."""
    start, first = 0, frozenset[str]()
    values = set[str]()
    found = [amount for amount in find_amounts(sentence) if amount.unit == unit]
    for amount, following in zip_longest(found, found[1:]):
        values.add(amount.value)
        end = len(sentence)
        if following is not None:
            separator = _BREAK.search(sentence, amount.end, following.start)
            if separator is None:
                continue
            end = separator.start()
        own = topic_of(sentence[start:end])
        yield _Part(frozenset(values), own, own | first)
        first = first or own
        start, values = end, set()
