"""Detects which kind of answer a question asks for."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from pgclarify.language.english.reading.grammar import form_of
from pgclarify.language.english.stems import stem
from pgclarify.language.english.word_classes import (
    AUXILIARIES,
    FINITE_BE,
    INTERROGATIVES,
    PREPOSITIONS,
    SUBORDINATORS,
    UNITS_OF_TIME,
)
from pgclarify.language.english.words import Word, words
from pgclarify.language.words import word_set


class AnswerType(StrEnum):
    """Kinds of answers."""

    AMOUNT = "amount"
    PERCENTAGE = "percentage"
    DURATION = "duration"
    FREQUENCY = "frequency"
    DATE = "date"
    COUNT = "count"
    PERSON = "person"
    PLACE = "place"
    ORGANIZATION = "organization"
    NAME = "name"
    DEFINITION = "definition"
    STEPS = "steps"
    YES_NO = "yes/no"
    LIST = "list"
    REASON = "reason"
    CLAUSE = "clause"


TYPED = frozenset(
    [
        AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.DURATION, AnswerType.FREQUENCY, AnswerType.DATE,
        AnswerType.COUNT, AnswerType.PERSON, AnswerType.PLACE, AnswerType.ORGANIZATION,
    ]
)  # fmt: skip
"""Kinds whose answers have a shape. A sentence without a span of that shape is no answer."""

_YES_NO_WORDS = (AUXILIARIES - word_set("be been might")) | word_set("isn't aren't can't")

# These stand directly before the wh-word of a question: "in what year", "for whom", "at which stadium".
_LEADING = PREPOSITIONS | {"upon"}

_NOUN_TYPES = {
    AnswerType.AMOUNT: "amount cost price fee premium deductible salary sum budget limit excess penalty charge fine",
    AnswerType.PERCENTAGE: "percent percentage share proportion rate fraction discount",
    AnswerType.DURATION: "duration period",
    AnswerType.FREQUENCY: "frequency interval",
    AnswerType.DATE: "year date day month decade century time deadline season weekday",
    AnswerType.COUNT: "number count quantity population age size temperature distance dose total height weight speed",
    AnswerType.PERSON: """person man woman king queen emperor president minister actor actress author writer singer
    artist director scientist philosopher architect bishop pope general leader chairman founder inventor composer""",
    AnswerType.PLACE: """city country state place location town region continent village island county province
    nation river lake ocean sea street building stadium address area mountain district""",
    AnswerType.ORGANIZATION: """company organization organisation church party agency university team band
    corporation government school college bank institution firm department club league group network studio""",
    AnswerType.REASON: "reason cause purpose",
    AnswerType.LIST: "documents items kinds types ways countries cities things requirements conditions exclusions",
    AnswerType.NAME: "name title nickname term word language nationality religion profession occupation color",
}
_TYPE_OF_NOUN = {
    stem(noun): kind for kind, nouns in _NOUN_TYPES.items() if kind is not AnswerType.LIST for noun in nouns.split()
}
_TYPE_OF_PLURAL = dict.fromkeys(_NOUN_TYPES[AnswerType.LIST].split(), AnswerType.LIST)

_PLAIN = (
    "amount cost price year date day time city country place located artist author creator name term profession person"
)
_LITTLE = "people take make give hold occur happen exist belong associate refer use say"
_PLAIN_KINDS = frozenset(map(stem, f"{_PLAIN} {_LITTLE}".split()))

_AFTER_HOW = {
    "often": AnswerType.FREQUENCY,
    "frequently": AnswerType.FREQUENCY,
    "many": AnswerType.COUNT,
    "much": AnswerType.AMOUNT,
    "soon": AnswerType.DURATION,
    "quickly": AnswerType.DURATION,
    "old": AnswerType.COUNT,
    "far": AnswerType.COUNT,
    "large": AnswerType.COUNT,
    "big": AnswerType.COUNT,
    "tall": AnswerType.COUNT,
    "high": AnswerType.COUNT,
    "deep": AnswerType.COUNT,
    "wide": AnswerType.COUNT,
    "fast": AnswerType.COUNT,
}
_PAYING = frozenset(["cost", "pay", "charge", "earn"])
_TIME_NOUNS = frozenset(map(stem, UNITS_OF_TIME))
_MOST_WORDS_BEFORE_NOUN = 4
# A sum answers "How much money?", and need not have the word "money".
_NEVER_REPEATED = frozenset(["money", "time"])


def is_question(text: str) -> bool:
    """Return whether a text is a question: it begins with a wh-word or auxiliary, or has a wh-word and a "?"."""
    found = words(text)
    if not found:
        return False
    if _wh_index(found) is not None and (text.rstrip().endswith("?") or _wh_index(found) in (0, 1)):
        return True
    return len(found) > 2 and found[0].lower in _YES_NO_WORDS


def expected_type(question: str) -> AnswerType:
    """Return the kind of answer that a question asks for; clause if no word shows it."""
    found = words(question)
    index = _wh_index(found)
    if index is None:
        return AnswerType.YES_NO if found and found[0].lower in _YES_NO_WORDS else AnswerType.CLAUSE
    wh, rest = found[index].lower, found[index + 1 :]
    if wh in ("who", "whom", "whose"):
        return AnswerType.PERSON
    if wh in ("when", "where", "why"):
        return {"when": AnswerType.DATE, "where": AnswerType.PLACE, "why": AnswerType.REASON}[wh]
    return _type_after_how(rest) if wh == "how" else _type_after_what(rest)


def asked_word(question: str) -> Word | None:
    """Find the word that says what an answer is or does.

    Returns:
        The noun after "which", "what", "how many" or "how much", or the first content word after "who". None if there
        is none, or if the noun names a kind of answer, such as "year", because an answer need not repeat it.
    """
    found = words(question)
    index = _wh_index(found)
    if index is None:
        return None
    wh, rest = found[index].lower, found[index + 1 :]
    if wh in ("who", "whom", "whose"):
        content = [word for word in rest if word.is_content]
        # "Who is the ticket assigned to?"
        is_last = bool(content) and rest[0].lower in AUXILIARIES and rest[-1].lower in PREPOSITIONS
        return content[-1 if is_last else 0] if content else None
    is_counted = wh == "how" and bool(rest) and rest[0].lower in ("many", "much")
    if not is_counted and wh not in ("what", "which"):
        return None
    # "What is the capacity of the hall?"
    is_of = not is_counted and [word.lower for word in rest[:2]] in (["is", "the"], ["was", "the"])
    rest = rest[2 if is_of else is_counted :]
    stop = next(
        (i for i, word in enumerate(rest) if not word.is_content or form_of(word.lower) == "did"),
        len(rest),
    )
    phrase = rest[:stop]
    if (
        not phrase
        or phrase[0].lower in _NEVER_REPEATED
        or (not is_counted and any(word.stem in _TYPE_OF_NOUN for word in phrase))
    ):
        return None
    # "How much disk space does …" ends with its noun, "which command flushes the …" begins with it.
    is_noun = stop < len(rest) and rest[stop].lower in AUXILIARIES | PREPOSITIONS
    return phrase[-1] if is_noun else phrase[0]


def kind_of_noun(word: Word) -> AnswerType | None:
    """Return the kind of answer that a noun names, such as a count for "temperature"; None for other words."""
    return _TYPE_OF_NOUN.get(word.stem)


def plain_kinds(question: str) -> frozenset[str]:
    """Return the stems of words that an answer need not repeat: "cost", "city", "take place"."""
    return frozenset(word.stem for word in words(question) if word.stem in _PLAIN_KINDS)


def _wh_index(found: Sequence[Word]) -> int | None:
    """Return the position of the wh-word: the first one at the start or after a preposition, else the last one."""
    positions = [index for index, word in enumerate(found) if word.lower.removesuffix("'s") in INTERROGATIVES]
    for position in positions:
        if position == 0 or (position == 1 and found[0].lower in _LEADING):
            return position
    return positions[-1] if positions else None


def _type_after_how(rest: Sequence[Word]) -> AnswerType:
    if not rest:
        return AnswerType.STEPS
    first = rest[0].lower
    if first == "long":
        return AnswerType.DURATION
    if first == "many" and len(rest) > 1 and rest[1].stem in _TIME_NOUNS:
        return AnswerType.DURATION
    if first in _AFTER_HOW:
        return _AFTER_HOW[first]
    return AnswerType.STEPS


def _type_after_what(rest: Sequence[Word]) -> AnswerType:
    """Return the kind of the noun after "what" or "which" ("what year") or after "be" ("what is the price of")."""
    if rest and rest[0].lower in FINITE_BE:
        after = [word for word in rest[1:] if word.lower not in ("a", "an", "the", "my", "your", "our")]
        # "What is a deductible" asks what the word means; "what is the deductible" asks for a sum.
        if len(after) <= 3 and len(rest) > 1 and (rest[1].lower in ("a", "an") or len(after) == len(rest) - 1):
            return AnswerType.DEFINITION
        head = next((i for i, word in enumerate(after) if word.lower in ("of", "for", "in", "on", "to", "that")), None)
        return _noun_type(after[:head] if head is not None else after[:_MOST_WORDS_BEFORE_NOUN])
    stop = next((i for i, word in enumerate(rest) if word.lower in _YES_NO_WORDS), len(rest))
    if not stop and _asks_for_sum(rest):
        return AnswerType.AMOUNT
    return _noun_type(rest[: min(stop, _MOST_WORDS_BEFORE_NOUN)])


def _asks_for_sum(rest: Sequence[Word]) -> bool:
    """Return whether "what" asks for money: "does it cost", "does the policy pay if …", but not "does it pay for"."""
    said = [word.lower for word in rest]
    verb = next((index for index, word in enumerate(said) if word in _PAYING), None)
    if verb is None:
        return False
    after, *thing = [*said[verb + 1 : verb + 3], ""]
    return after != "for" or thing[0] not in SUBORDINATORS | {""}


def _noun_type(phrase: Sequence[Word]) -> AnswerType:
    """Return the kind that the last noun with a kind names in a phrase."""
    for word in reversed(phrase):
        if word.lower in _TYPE_OF_PLURAL:
            return AnswerType.LIST
        if word.stem in _TYPE_OF_NOUN:
            return _TYPE_OF_NOUN[word.stem]
    return AnswerType.CLAUSE
