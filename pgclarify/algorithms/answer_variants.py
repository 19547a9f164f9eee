"""Is an answer one that was found before, spelled otherwise?

Answers to one question are listed one by one, so two that are one would be a row too many, and two that are taken for
one would lose an answer. The latter is worse, so what counts is narrow: numbers and words have to be the same, but for
how they are spelled. `relate_answers` is for votes, where "agrees" may mean much less.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pgclarify.language.names import GIVEN_NAMES, TITLES, join_initials
from pgclarify.language.numbers import MONTHS, write_numbers
from pgclarify.language.quotes import fold, without_accents
from pgclarify.language.words import ARTICLES, word_set

_TOKEN: Final = re.compile(r"\d+(?:[.:]\d+)*s?(?!\w)|[^\W_]+|'s(?!\w)|[%$€£&]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_MINUS: Final = re.compile(r"(?:^|(?<=[\s(]))[-\u2212](?=\d)")
_PARENTHESIS: Final = re.compile(r"\s*\([^()]*\)")
_SYMBOLS: Final = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "&": "and"}
_SKIPPED: Final = ARTICLES | {"approximately"}
# "Dr. Nora Blum" is Nora Blum; but Mr. Bean is not a bean, and Mrs. John Smith not John Smith.
_SKIPPED_TITLES: Final = TITLES - {"mrs"}
# These are no part of the name that they come before.
_BEFORE_NAMES: Final = TITLES | word_set("the a and but as when while for in on at by with to from")
# In 1919, on 1 May, in London.
_PLACING: Final = word_set("in on at")
_MONTHS: Final = frozenset(MONTHS)
# Numerals in small letters, as a corpus without capitals has them; "i" is hardly ever one.
_NUMERAL: Final = re.compile(r"[ivx]{2,4}")
# Of what an acronym stands for, these have no letter in it.
_LINKS: Final = word_set("of for from by in on at to with about 's and")
# Spellings of one word, as names from India have them: Vishwaroop, Vishwaroopam. Any other ending may make another
# word: Republican, Christopher, Dominica, Christiana.
_SPELLED_ENDINGS: Final = word_set("am m h")
_LONG_WORD: Final = 8


@dataclass(frozen=True, slots=True)
class _Said:
    """What an answer says.

    Attributes:
        numbers: Numbers, years, months and the like, in one notation, in order.
        words: All others, folded, in order.
        small: Those that are written in small letters.
        acronym: The answer itself where it is nothing but capitals, folded; empty otherwise.
        initials: First letters of everything that it says, but for links.
    """

    numbers: tuple[str, ...]
    words: tuple[str, ...]
    small: frozenset[str]
    acronym: str
    initials: str


def is_variant(one: str, other: str) -> bool:
    """Tell whether two answers to one question are one answer, as far as their words can tell.

    Numbers have to be the same, in whatever notation, and in the same order; a date may say more of a day than another
    (1919, October 1919), but nothing else. All words have to be there in both, too, in order: one more makes another
    answer (Kansas City Royals, Prince William, John Quincy Adams, 10 dollars). Case, accents, punctuation, articles,
    titles before a full name, and what only one of the two has in parentheses make no difference; nor do

    - the plural of a word in small letters, an initial before a last name (J. Ping, Jean Ping), or one of few endings
      of a long word (Vishwaroop, Vishwaroopam);
    - the order of a comma (Blum, Nora); or
    - an acronym instead of what it stands for.

    Args:
        one: An answer, a few words long.
        other: Another; which comes first makes no difference.
    """
    if fold(one) == fold(other):
        return True
    if ("(" in one) != ("(" in other):
        # What is in parentheses tells those apart that have them.
        one, other = (_PARENTHESIS.sub("", text) for text in (one, other))
    # Where there are no figures, May may be a person.
    has_digits = any(character.isdigit() for character in write_numbers(f"{one} {other}"))
    return any(
        _are_one(_read(first, months=months), _read(second, months=months))
        for first, second in ((one, other), (_turned(one), other), (one, _turned(other)))
        for months in ((_MONTHS,) if has_digits else (_MONTHS, frozenset[str]()))
    )


def is_last_name(last: str, full: str, texts: Iterable[str]) -> bool:
    """Tell whether an answer is the last name of a person whom another names in full (Goldwyn, Tony Goldwyn).

    Words alone cannot tell: King may be Stephen King. So it has to stand in a text that says the full name as well, and
    gives that last name to nobody else. First names are known from a list of common ones, so that Latin is not Medieval
    Latin, nor William Prince William; initials may come after them.

    Args:
        last: An answer.
        full: Another.
        texts: Where the former was found.
    """
    (name, *others), (*first, full_last) = _capitals(last) or [""], _capitals(full) or [""]
    is_full = bool(first) and first[0] in GIVEN_NAMES and all(len(word) == 1 for word in first[1:])
    if others or not is_full or not name or name != full_last or name in GIVEN_NAMES:
        return False
    return any(_names_one(_plain(text), [*first, name]) for text in texts)


def find_variant(
    answer: str, found: Sequence[Collection[str]], *, is_one: Callable[[str, str], bool] = is_variant
) -> int | None:
    """Find the answer among those found so far that one is a variant of.

    It has to be one of all its variants: after "2003" and "May 2003", "June 2003" is another answer. What was found in
    the same words is that answer in any case.

    Args:
        answer: A few words.
        found: For each answer found so far, its variants, at least one.
        is_one: Compares the answer with a variant.

    Returns:
        Its index in found, the first that fits; None if the answer is a further one.
    """
    said = fold(answer)
    for index, variants in enumerate(found):
        if said in map(fold, variants):
            return index
    for index, variants in enumerate(found):
        if all(is_one(answer, variant) for variant in variants):
            return index
    return None


def _read(text: str, *, months: frozenset[str]) -> _Said:
    letters = re.sub(r"[\s.]", "", text)
    small = {word for word in _LETTERS.findall(_plain(text)) if word.islower()}
    written = write_numbers(join_initials(_MINUS.sub(" minus ", text)))
    said = [_SYMBOLS.get(word, word) for word in _TOKEN.findall(without_accents(fold(written)))]
    # What comes last is no article, nor is a capital within: vitamin A, A. P. J. Abdul Kalam.
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
    """A text without accents, capitals as they are."""
    return without_accents(unicodedata.normalize("NFKD", text))


def _capitals(text: str) -> list[str]:
    """The words of a text, folded, if all have a capital; none otherwise."""
    words = _LETTERS.findall(_plain(text))
    is_name = all(word[0].isupper() for word in words) and not any(map(str.isdigit, text))
    return [word.casefold() for word in words] if is_name else []


def _names_one(text: str, full: Sequence[str]) -> bool:
    """Whether a text says a full name, and the last name after no other name."""
    *first, last = map(re.escape, full)
    rest, named = re.subn(r"\.?\s+".join((rf"\b{first[0]}", *first[1:], rf"{last}\b")), ",", text, flags=re.IGNORECASE)
    # After a full stop another sentence begins, unless it is that of an initial.
    before = rf"\b([^\W\d_]+)(?:(?<=\b[^\W\d_])\.)?[\s-]+{last}\b"
    others = (match[1] for match in re.finditer(before, rest, re.IGNORECASE))
    return named > 0 and all(word[0].islower() or word.casefold() in _BEFORE_NAMES for word in others)


def _is_number(word: str) -> bool:
    return any(character.isdigit() for character in word) or bool(_NUMERAL.fullmatch(word))


def _turned(text: str) -> str:
    """Turn "Blum, Nora" round."""
    last, comma, first = text.partition(", ")
    return f"{first} {last}" if comma and "," not in first and not any(map(str.isdigit, text)) else text


def _are_one(one: _Said, other: _Said) -> bool:
    if not (one.words or one.numbers) or not (other.words or other.numbers):
        return False
    if _abbreviates(one, other) or _abbreviates(other, one):
        return True
    if _numbers_agree(one.numbers, other.numbers):
        return _are_alike(one, other)
    # With other words, May is a month of one and a name of the other.
    return _may_be_one_date(one.numbers, other.numbers) and one.words == other.words


def _abbreviates(short: _Said, full: _Said) -> bool:
    return len(short.acronym) > 1 and short.acronym == full.initials and len(full.words) > 1


def _numbers_agree(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the numbers are the same, and in the same order unless they are a date."""
    return one == other or (not _MONTHS.isdisjoint(one) and Counter(one) == Counter(other))


def _may_be_one_date(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one is a date of which the other says more: a year and a month, a month and a day."""
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
    """Whether each word is that of the other in its place, some only nearly so."""
    if one.words == other.words:
        return True
    if len(one.words) != len(other.words):
        return False
    small = one.small | other.small
    *first, last = zip(one.words, other.words, strict=True)
    # An initial comes before a name; what comes last tells apart: vitamin C, vitamin cream.
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
