"""Tells from its words whether a sentence is about another thing than the one that a question names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pgclarify.language.words import NO_NOUNS, Word, word_set, words

# Letters, then digits, without a blank: "INV-1042", "Falcon901".
_CODE: Final = re.compile(r"\b([^\W\d_]+)[-_./#]?(\d+)(?![^\W_])")
# "Model A", "Plan B". "I" is a pronoun, and a letter with a dot an initial.
_LETTERED: Final = re.compile(r"\b([^\W\d_]{3,}) ([A-HJ-Z])(?![\w.'\u2019&-])")
# "Mid-1990" is a time.
_OF_TIMES: Final = word_set("mid pre post early late since circa")
_YEAR: Final = re.compile(r"(?<![\w,./#-])(1[0-9]{3}|20[0-9]{2})(?!\w|[,.]\d)")
# Forms of words that cannot both be meant: what opens at nine does not close at nine.
_OPPOSITES: Final = (
    ("open", "opens", "opened", "opening"), ("close", "closed", "closes", "closing"),
    ("start", "starts", "started", "begin", "begins", "began"), ("end", "ends", "ended"),
    ("arrive", "arrives", "arrived", "arrival"), ("leave", "leaves", "left", "depart", "departs", "departure"),
    ("buy", "buys", "bought"), ("sell", "sells", "sold"),
    ("minimum", "least"), ("maximum", "most"),
    ("highest", "largest", "longest", "oldest"), ("lowest", "smallest", "shortest", "youngest"),
    ("adult", "adults"), ("child", "children"),
)  # fmt: skip
_REVERSED: Final = {word: frozenset(_OPPOSITES[place ^ 1]) for place, forms in enumerate(_OPPOSITES) for word in forms}
_ALIKE: Final = {word: frozenset(forms) for forms in _OPPOSITES for word in forms}


def codes(text: str) -> frozenset[tuple[str, str]]:
    """List the identifiers of a text: letters and digits that belong together, in lower case ("inv", "1042")."""
    found = ((match[1].lower(), match[2]) for match in _CODE.finditer(text))
    return frozenset(one for one in found if one[0] not in _OF_TIMES)


def _lettered(text: str) -> frozenset[tuple[str, str]]:
    """List the nouns with a letter behind them: ("model", "A")."""
    found = ((match[1].lower(), match[2]) for match in _LETTERED.finditer(text))
    return frozenset(one for one in found if one[0] not in NO_NOUNS)


def names_rival(question: str, support: str) -> bool:
    """Tell whether a support names another thing than a question, and not the one that the question names.

    It does if it has another identifier with the same letters ("INV-1043" for "INV-1042", "Model B" for "Model A"),
    another year, another noun
    behind the same name ("the Alpina chair" for "the Alpina desk"), or another name before the same noun ("the Berlin
    office" for "the Hamburg office").

    Args:
        question: An English question.
        support: The sentences that give the answer, with the title and the headings above them.
    """
    return (
        _names_other_code(question, support)
        or _names_other_year(question, support)
        or _pairs_otherwise(question, support)
    )


def says_opposite(question: str, sentence: str, answer: str) -> bool:
    """Tell whether a sentence has the opposite of a word of a question, neither the word nor this in the answer.

    "It is closed on Sundays" does not say when it is open, except with the answer "closed on Sundays".
    """
    asked, said, told = (frozenset(word.lower for word in words(text)) for text in (question, sentence, answer))
    return any(
        said.isdisjoint(_ALIKE[word])
        and asked.isdisjoint(reverse)
        and not said.isdisjoint(reverse)
        and told.isdisjoint(reverse)
        for word in asked
        if (reverse := _REVERSED.get(word))
    )


def _names_other_code(question: str, support: str) -> bool:
    there = codes(support) | _lettered(support)
    asked = codes(question) | _lettered(question)
    return any(one not in there and any(letters == one[0] for letters, _ in there) for one in asked)


def _names_other_year(question: str, support: str) -> bool:
    asked, there = set(_YEAR.findall(question)), set(_YEAR.findall(support))
    return bool(asked) and bool(there) and asked.isdisjoint(there)


def _pairs_otherwise(question: str, support: str) -> bool:
    """Whether a name of the question has another noun in the support, or a noun of the question another name."""
    stems = frozenset(word.stem for word in words(support))
    said = [*_pairs(support, first=0)]
    for name, noun in _pairs(question, first=1):
        if noun not in stems and any(name == other for other, _ in said):
            return True
        if name not in stems and any(noun == other for _, other in said):
            return True
    return False


def _pairs(text: str, *, first: int) -> Iterator[tuple[str, str]]:
    """Yield the stems of each capitalized word and the noun directly behind it.

    The first word of a question is always capitalized. At the start of a sentence, an article is no name.
    """
    found = words(text)
    for place in range(first, len(found) - 1):
        name, noun = found[place], found[place + 1]
        if _is_name(name) and _is_noun(noun) and text[name.end : noun.start] == " ":
            yield name.stem, noun.stem


def _is_name(word: Word) -> bool:
    return word.is_capitalized and word.lower not in NO_NOUNS


def _is_noun(word: Word) -> bool:
    return word.text[0].islower() and NO_NOUNS.isdisjoint((word.lower, word.stem))
