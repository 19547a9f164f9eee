"""Is an answer another spelling of one that was found before?

The answers to a question are listed, each one once. If two spellings of one answer are not recognized, the list has a
row too many. If two answers are taken for one, an answer is lost, which is worse. So the rule is narrow: numbers and
words must be the same but for their spelling. `relate_answers` is for votes, where "agrees" may be much wider.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pgclarify.language.names import TITLES, join_initials
from pgclarify.language.numbers import MONTHS, write_numbers
from pgclarify.language.quotes import fold, without_accents
from pgclarify.language.words import ARTICLES, word_set

_TOKEN: Final = re.compile(r"\d+(?:[.:]\d+)*s?(?!\w)|[^\W_]+|'s(?!\w)|[%$€£&]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_MINUS: Final = re.compile(r"(?:^|(?<=[\s(]))[-\u2212](?=\d)")
_PARENTHESIS: Final = re.compile(r"\s*\([^()]*\)")
_SYMBOLS: Final = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "&": "and"}
_SKIPPED: Final = ARTICLES | {"approximately"}
# "Dr. Nora Blum" is Nora Blum. But Mr. Bean is not a bean, and Mrs. John Smith is not John Smith.
_SKIPPED_TITLES: Final = TITLES - {"mrs"}
# In 1919, on 1 May, in London.
_PLACING: Final = word_set("in on at")
_MONTHS: Final = frozenset(MONTHS)
# Roman numerals in small letters, for text without capitals. A single "i" is rarely a numeral.
_NUMERAL: Final = re.compile(r"[ivx]{2,4}")
# Words that an acronym has no letter for.
_LINKS: Final = word_set("of for from by in on at to with about 's and")
# Endings of one word in different spellings, as in names from India: Vishwaroop, Vishwaroopam. Other endings may make
# another word: Republican, Christopher, Dominica, Christiana.
_SPELLED_ENDINGS: Final = word_set("am m h")
_LONG_WORD: Final = 8


@dataclass(frozen=True, slots=True)
class _Said:
    """The parts of an answer.

    Attributes:
        numbers: Numbers, years, months and the like, in one notation, in order.
        words: All other words, folded, in order.
        small: The words that are written in small letters.
        acronym: The answer itself, folded, if it has capitals only; else empty.
        initials: First letters of all parts except links.
    """

    numbers: tuple[str, ...]
    words: tuple[str, ...]
    small: frozenset[str]
    acronym: str
    initials: str


def is_variant(one: str, other: str) -> bool:
    """Tell whether two answers to one question are the same answer, judged by their words.

    Numbers have to be the same, in any notation, in the same order. Only a date may be more precise than another (1919,
    October 1919). Both answers must have the same words in the same order, because one more word makes another answer
    (Kansas City Royals, Prince William, John Quincy Adams, 10 dollars). These differences do not count: case, accents,
    punctuation, articles, titles before a full name, a part in parentheses that only one of the two has, and

    - the plural of a word in small letters, an initial before a last name (J. Ping, Jean Ping), or one of a few endings
      of a long word (Vishwaroop, Vishwaroopam);
    - a name in the order of a list (Blum, Nora); and
    - an acronym instead of the full words.

    Args:
        one: An answer, a few words long.
        other: Another answer. The order of the two does not matter.
    """
    if fold(one) == fold(other):
        return True
    if ("(" in one) != ("(" in other):
        # If both have parentheses, what is in them may make the answers different.
        one, other = (_PARENTHESIS.sub("", text) for text in (one, other))
    # In a text without figures, May may be a person.
    has_digits = any(character.isdigit() for character in write_numbers(f"{one} {other}"))
    return any(
        _are_one(_read(first, months=months), _read(second, months=months))
        for first, second in ((one, other), (_turned(one), other), (one, _turned(other)))
        for months in ((_MONTHS,) if has_digits else (_MONTHS, frozenset[str]()))
    )


def find_variant(answer: str, found: Sequence[Collection[str]]) -> int | None:
    """Find the earlier answer that an answer is a variant of.

    The answer must match all variants of that one: after "2003" and "May 2003", "June 2003" is another answer. An
    answer in the same words always matches.

    Args:
        answer: A few words.
        found: For each answer found so far, its variants, at least one.

    Returns:
        Its index in found, the first that matches; None if the answer is new.
    """
    said = fold(answer)
    for index, variants in enumerate(found):
        if said in map(fold, variants):
            return index
    for index, variants in enumerate(found):
        if all(is_variant(answer, variant) for variant in variants):
            return index
    return None


# Each answer of a list is compared with all others.
@lru_cache(maxsize=1000)
def _read(text: str, *, months: frozenset[str]) -> _Said:
    letters = re.sub(r"[\s.]", "", text)
    small = {word for word in _LETTERS.findall(_plain(text)) if word.islower()}
    written = write_numbers(join_initials(_MINUS.sub(" minus ", text)))
    said = [_SYMBOLS.get(word, word) for word in _TOKEN.findall(without_accents(fold(written)))]
    # The last word is not an article, nor is a capital within a name: vitamin A, A. P. J. Abdul Kalam.
    told = [
        word
        for place, word in enumerate(said, start=1)
        if word not in _SKIPPED or place == len(said) or (word == "a" and place > 1 and word not in small)
    ]
    if len(told) > 1 and told[0] in _PLACING and (told[0] in small or told[1] in months or _is_number(told[1])):
        del told[0]
    if len(told) > 2 and told[0] in _SKIPPED_TITLES:
        del told[0]
    return _Said(
        numbers=tuple(word for word in told if word in months or _is_number(word)),
        words=tuple(word for word in told if not (word in months or _is_number(word))),
        small=frozenset(small.union(_SYMBOLS.values())),
        acronym=letters.casefold() if letters.isalpha() and letters.isupper() else "",
        initials="".join(word[0] for word in told if word not in _LINKS),
    )


def _plain(text: str) -> str:
    """Remove the accents of a text; keep capitals."""
    return without_accents(unicodedata.normalize("NFKD", text))


def _is_number(word: str) -> bool:
    return any(character.isdigit() for character in word) or bool(_NUMERAL.fullmatch(word))


def _turned(text: str) -> str:
    """Turn "Blum, Nora" into "Nora Blum"."""
    last, comma, first = text.partition(", ")
    return f"{first} {last}" if comma and "," not in first and not any(map(str.isdigit, text)) else text


def _are_one(one: _Said, other: _Said) -> bool:
    if not (one.words or one.numbers) or not (other.words or other.numbers):
        return False
    if _abbreviates(one, other) or _abbreviates(other, one):
        return True
    if _numbers_agree(one.numbers, other.numbers):
        return _are_alike(one, other)
    # If the words differ, May can be a month in one answer and a name in the other.
    return _may_be_one_date(one.numbers, other.numbers) and one.words == other.words


def _abbreviates(short: _Said, full: _Said) -> bool:
    return len(short.acronym) > 1 and short.acronym == full.initials and len(full.words) > 1


def _numbers_agree(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the numbers are the same, and in the same order unless they are a date."""
    return one == other or (not _MONTHS.isdisjoint(one) and Counter(one) == Counter(other))


def _may_be_one_date(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether both can be one date: a year and a month of it, or a month and a day of it."""
    few, many = sorted((Counter(one), Counter(other)), key=Counter.total)
    if _MONTHS.isdisjoint(many) or not few <= many:
        return False
    there = {_part_of_date(number) for number in few}
    more = {_part_of_date(number) for number in many - few}
    return not there.isdisjoint({"month", "year"}) and None not in more and more.isdisjoint(there)


def _part_of_date(number: str) -> str | None:
    if number in _MONTHS:
        return "month"
    if not number.isdecimal():
        return None
    return "year" if len(number) == 4 else "day" if int(number) <= 31 else None


def _are_alike(one: _Said, other: _Said) -> bool:
    """Whether each word is nearly the same as the word at that place in the other answer."""
    if one.words == other.words:
        return True
    if len(one.words) != len(other.words):
        return False
    small = one.small | other.small
    *first, last = zip(one.words, other.words, strict=True)
    # Initials are in the place of first names. The last word has to be the same: vitamin C is not vitamin cream.
    return _is_alike(*last, small=small) and all(_is_alike(*pair, small=small) or _is_initial(*pair) for pair in first)


def _is_initial(one: str, other: str) -> bool:
    short, full = sorted((one, other), key=len)
    return len(short) == 1 and full.startswith(short)


def _is_alike(one: str, other: str, *, small: frozenset[str]) -> bool:
    if one == other:
        return True
    short, full = sorted((one, other), key=len)
    if not full.startswith(short):
        return False
    rest = full[len(short) :]
    # Alien and Aliens are two films.
    is_plural = rest == "s" and len(short) > 2 and {short, full} <= small
    return is_plural or (len(short) >= _LONG_WORD and rest in _SPELLED_ENDINGS)
