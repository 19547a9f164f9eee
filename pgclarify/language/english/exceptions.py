"""Sentences with several amounts, each for a thing of its own: "Lunch costs 6.50 EUR, for guests 9 EUR."."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from pgclarify.language.english.amounts import PlacedAmount, find_amounts
from pgclarify.language.english.measures import UNIT, read_unit, write_spoken
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.support import topic_of

# Where the part with the next amount may begin. A comma within a number is none.
_BREAK: Final = re.compile(r"[,;:](?!\d)|\s(?:and|but|or|while)\s", re.IGNORECASE)
# A part with such a word has a verb of its own, and is not about the subject of the first part.
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|may|must|can|will|we|you|they|it|who|which|includ\w+|needs?|needed|pays?"
    r"|costs?|takes?|lasts?|arrives?|due|lowered|reduced|raised)\b",
    re.IGNORECASE,
)
# "For guests it costs 9 EUR": the subject is that of the first part.
_PRONOUN: Final = re.compile(r"\b(?:it|they)\b", re.IGNORECASE)
# "For guests 9 EUR, otherwise 6.50 EUR": here the exception comes first.
_CONDITION: Final = re.compile(
    r"\s*(?:for|on|in|at|with|without|if|until|from|by|when|during|after|before|under)\b", re.IGNORECASE
)
# "An hour" is left out, because in "$40 an hour" it is no amount.
_ONE: Final = re.compile(rf"\bone (?={UNIT}(?!\w))", re.IGNORECASE)
# Words of questions for an amount, as `topic_of` writes them.
_ASKING: Final = topic_of("long far heavy high much many day hour cost pay take need price fee")


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a sentence with one or more amounts.

    Attributes:
        values: Of its amounts, with their units, which are of one kind.
        own: Beginnings of its words.
        words: Those, and the words of the first part, whose subject and verb a later part may leave out.
        certain: Those of `words` that the part is about for certain: without the first part's if it has its own verb.
    """

    values: frozenset[tuple[str, str]]
    own: frozenset[str]
    words: frozenset[str]
    certain: frozenset[str]


def is_amount_of_another(asked: str, answer: str, sentence: str) -> bool:
    """Tell whether an answer is an amount that its sentence gives for something else than the question asks about.

    That is so if another part of the sentence, with another amount of the same kind (minutes, hours), has all the words
    of the question that the part of the answer has, and more. Or the same words, and the answer's part is an exception
    that was not asked for.

    Args:
        asked: An English question: "How much is lunch for guests?"
        answer: "6.50 EUR"
        sentence: "Lunch costs 6.50 EUR, for guests 9 EUR."
    """
    answer, sentence = write_amounts(answer), write_amounts(sentence)
    given = find_amounts(answer)
    if len(given) != 1 or not given[0].unit:
        return False
    amounts, value = find_amounts(sentence), (given[0].value, given[0].unit)
    wanted = topic_of(asked)
    parts = [*_parts(sentence, [amount for amount in amounts if _kind(amount.unit) == _kind(given[0].unit)])]
    answering = [part for part in parts if value in part.values]
    others = [part for part in parts if value not in part.values]
    if len(answering) != 1 or not others:
        return False
    (part,) = answering
    shared = part.words & wanted
    if any(shared < other.certain & wanted for other in others):
        return True
    in_amounts = topic_of(" ".join(sentence[amount.start : amount.end] for amount in amounts))
    exception = part.own - in_amounts - topic_of(answer)
    return (
        part is not parts[0]
        and bool(exception)
        and not exception & wanted
        and not _CONDITION.match(sentence)
        and wanted - parts[0].own <= _ASKING
        and shared == parts[0].certain & wanted
    )


def write_amounts(text: str) -> str:
    """Write the amounts of an English text in digits, also those in words: "two hours" becomes "2 hours"."""
    return " ".join(_ONE.sub("1 ", write_numbers(write_spoken(text))).split())


def _kind(unit: str) -> str:
    """Return the smallest unit of the same kind: "second" for hours; a currency is a kind of its own."""
    measure = read_unit(unit)
    return measure[1] if measure else unit


def _parts(sentence: str, amounts: list[PlacedAmount]) -> Iterator[_Part]:
    """Yield the parts of a sentence that have these amounts."""
    start, first = 0, frozenset[str]()
    values = set[tuple[str, str]]()
    for amount, following in zip_longest(amounts, amounts[1:]):
        values.add((amount.value, amount.unit))
        end = len(sentence)
        if following is not None:
            separator = _BREAK.search(sentence, amount.end, following.start)
            if separator is None:
                continue
            end = separator.start()
        text = sentence[start:end]
        own = topic_of(text)
        has_own_subject = _VERB.search(text) and not _PRONOUN.search(text)
        yield _Part(frozenset(values), own, own | first, own if has_own_subject else own | first)
        first = first or own
        start, values = end, set()
