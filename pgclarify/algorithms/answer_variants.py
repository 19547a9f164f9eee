"""Is an answer one that was found before, spelled otherwise or said with more or fewer words?

Answers to one question are listed one by one, so two that are one would be a row too many, and two that are taken for
one would lose an answer. So what counts is narrow: the numbers have to be the same, and the words but for what a name
may leave out. `relate_answers` is for votes, where "agrees" may mean much less.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pgclarify.algorithms.numerals import write_numbers
from pgclarify.algorithms.quotation import fold

_TOKEN: Final = re.compile(r"\d+(?:[.:]\d+)*s?(?!\w)|[^\W_]+|'s(?!\w)|[%$€£&]")
_DOTTED_INITIALS: Final = re.compile(r"\b([^\W\d_])\.(?:\s(?=[^\W\d_]\.))?(?=[^\W\d_]\b|\W|$)")
_MINUS: Final = re.compile(r"(?:^|(?<=[\s(]))[-\u2212](?=\d)")
_PARENTHESIS: Final = re.compile(r"\s*\([^()]*\)")
_SYMBOLS: Final = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "&": "and"}
_SKIPPED: Final = frozenset(str.split("a an the dr mr mrs ms sir approximately"))

_MONTHS: Final = frozenset(
    str.split("january february march april may june july august september october november december")
)
# Numerals in small letters, as a corpus without capitals has them; "i" is hardly ever one.
_NUMERAL: Final = re.compile(r"[ivx]{2,4}")
# What comes before one of these is what the answer is about: the Battle of Hastings, a book by Ann.
_LINKS: Final = frozenset(str.split("of for from by in on at to with about 's"))
_SAME_OF: Final = frozenset(str.split("city town state county kingdom republic island people of"))
# Said of one and not of the other, they make it another one, wherever they stand.
_OPPOSING: Final = frozenset(
    str.split(
        "not no never without except but and or than before after until minus under over jr sr junior senior"
        " wife husband widow son daughter father mother brother sister family"
    )
)
# And these do before the word that they belong to: North Carolina, vice president.
_QUALIFYING: Final = frozenset(
    str.split(
        "north south east west northern southern eastern western northeast northwest southeast southwest new old upper"
        " lower inner outer great greater little vice deputy former ex non anti acting co assistant half pre post early"
        " late more less prime grand step left right saint st democratic papua equatorial"
    )
)
# Spellings of one word differ in the last letters: Vishwaroop, Vishwaroopam; but Niger is not Nigeria.
_LONG_WORD: Final = 8
_ENDING: Final = 2


@dataclass(frozen=True, slots=True)
class _Said:
    """What an answer says.

    Attributes:
        numbers: Numbers, years, months and the like, in one notation, in order.
        words: All others, folded, in order.
        acronym: The answer itself where it is nothing but capitals, folded; empty otherwise.
        initials: First letters of everything that it says, but for links.
    """

    numbers: tuple[str, ...]
    words: tuple[str, ...]
    acronym: str
    initials: str


def is_variant(one: str, other: str) -> bool:
    """Tell whether two answers to one question are one answer, as far as their words can tell.

    Numbers have to be the same, in whatever notation, and in the same order; a date may say more of a day than another
    (1919, October 1919), but nothing else. Of the words, case, accents, punctuation, articles and titles make no
    difference; and then they are

    - the same, but for a plural, an initial or the last letters of a long word (Vishwaroopam, Vishwaroop); or
    - those of a name, of which the other says more (Goldwyn, Tony Goldwyn; Moussa Faki, Moussa Faki Mahamat), unless
      what it says in addition makes it another one (North Carolina, Elizabeth II, the wife of ...); or
    - an acronym and what it stands for.

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


def find_variant(answer: str, found: Sequence[Sequence[str]]) -> int | None:
    """Find the answer among those found so far that one is a variant of.

    It has to be one of all its variants: after "2003" and "May 2003", "June 2003" is another answer.

    Args:
        answer: A few words.
        found: For each answer found so far, its variants, at least one.

    Returns:
        Its index in found, the first that fits; None if the answer is a further one.
    """
    for index, variants in enumerate(found):
        if all(is_variant(answer, variant) for variant in variants):
            return index
    return None


def _read(text: str, *, months: frozenset[str]) -> _Said:
    letters = re.sub(r"[\s.]", "", text)
    written = write_numbers(_DOTTED_INITIALS.sub(r"\1", _MINUS.sub(" minus ", text)))
    # Accents stand apart once a text is folded.
    folded = "".join(character for character in fold(written) if not unicodedata.combining(character))
    said = [_SYMBOLS.get(word, word) for word in _TOKEN.findall(folded)]
    # "A" alone, the article, may be all there is.
    told = [word for word in said if word not in _SKIPPED] or said
    return _Said(
        numbers=tuple(word for word in told if word in months or _is_number(word)),
        words=tuple(word for word in told if not (word in months or _is_number(word))),
        acronym=letters.casefold() if letters.isalpha() and letters.isupper() else "",
        initials="".join(word[0] for word in told if word not in _LINKS | {"and"}),
    )


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
    if not _numbers_agree(one.numbers, other.numbers):
        # With other words, May is a month of one and a name of the other.
        return _may_be_one_date(one.numbers, other.numbers) and _plain(one.words) == _plain(other.words)
    short, full = sorted((one.words, other.words), key=lambda words: (len(words), words))
    if len(short) == len(full):
        return _are_alike(short, full)
    return _says_less(short, full)


def _abbreviates(short: _Said, full: _Said) -> bool:
    return len(short.acronym) > 1 and short.acronym == full.initials and len(full.words) > 1


def _plain(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if word not in _LINKS]


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


def _are_alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether each word is that of the other in its place, some only nearly so."""
    if one == other:
        return True
    if not all(_is_alike(*pair) for pair in zip(one, other, strict=True)):
        return False
    # "J. B." says nothing by itself.
    return any(len(word) > 1 and len(match) > 1 for word, match in zip(one, other, strict=True))


def _is_alike(one: str, other: str) -> bool:
    if one == other:
        return True
    short, full = sorted((one, other), key=len)
    if len(short) == 1:
        return full.startswith(short)
    rest = full.removeprefix(short) if full.startswith(short) else None
    if rest is None:
        return False
    return (rest == "s" and len(short) > 2) or (len(short) >= _LONG_WORD and len(rest) <= _ENDING)


def _says_less(short: tuple[str, ...], full: tuple[str, ...]) -> bool:
    """Whether a name has all the words of another, in order, and what it has besides does not make it another one."""
    if not short:
        # Only numbers are left, which agree: 10, 10 episodes.
        return _OPPOSING.isdisjoint(full)
    places = _places(short, full)
    if places is None:
        return False
    extra = [place for place in range(len(full)) if place not in places]
    for place in extra:
        word, after = full[place], full[place + 1 : place + 2]
        if word in _OPPOSING or word == "'s" or (len(word) == 1 and any(len(one) == 1 for one in short)):
            return False
        if word in _QUALIFYING and place + 1 in places:
            return False
        if word in _LINKS and place < places[0] and not _SAME_OF.issuperset(full[:place]):
            return False
        if after and after[0] == "'s":
            return False
    # The head of an English name of one word comes last: Oxford University is not Oxford.
    is_cut = len(short) == 1 and places[0] == 0
    return not is_cut or full[1] in _LINKS


def _places(short: tuple[str, ...], full: tuple[str, ...]) -> list[int] | None:
    """Where the words of one stand in another, in order, the last ones that there are; None if not all do."""
    places: list[int] = []
    rest = len(full)
    for word in reversed(short):
        while rest and full[rest - 1] != word:
            rest -= 1
        if not rest:
            return None
        rest -= 1
        places.append(rest)
    return places[::-1]
