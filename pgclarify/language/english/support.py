"""Tells by words what a text says about a question and an answer: in English, and for answers in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pgclarify.language.english.identifiers import codes
from pgclarify.language.english.names import content_words
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.stems import singular, stem
from pgclarify.language.english.word_classes import COMMON, NO_CONTENT, NO_NOUNS
from pgclarify.language.languages import is_foreign
from pgclarify.language.number_words import digits, numbers
from pgclarify.language.quotes import fold, without_accents
from pgclarify.language.words import PIECE, YES_OR_NO, distinct_words, folded_words

# A question with one of these may name its possible answers: "Which is older, the castle or the chapel?"
_CHOOSING: Final = frozenset({"or", "and", "between"})
# This share of a name's words must be in the text: "Obama" mentions "Barack Obama".
_NAMED: Final = 0.5
# Words count as equal if they share this many first letters: "Asia" and "Asian".
_ALIKE: Final = 4
# The same, where the topic of a question is searched for.
_BEGINNING: Final = 5
_ABBREVIATION: Final = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_CAPITALIZED: Final = re.compile(r"\b[^\W\d_a-z]\w*(?:[\s-]+(?:(?:of|the|and|for|de) )*[^\W\d_a-z]\w*)+")
# If a question has no capitals, such a noun is usually a name: "who plays the doctor in dexter season 1".
_BARE: Final = re.compile(r"\b(?:in|of|from|by)\s+([a-z]{4,})(?=\s+(?:season|series|episode|part|book|volume)\b)")
# A passage need not mention how many things are asked for: "top 5 benefits", "3 ways to pay".
_HOW_MANY: Final = re.compile(r"\b(?i:top|first|best)\s+(\d+)|\b(\d{1,2})(?=\s+[a-z]+s\b)")
# A title: "My Generation" is not "Girls' Generation".
_QUOTED: Final = re.compile(r"[\"\u201c]([^\"\u201c\u201d]{2,80})[\"\u201d]")
_DOTTED: Final = re.compile(r"\d{1,3}(?:\.\d{1,3})+")
_LONGEST_INITIALS: Final = 6
# "199" of "1990s"
_DECADE_DIGITS: Final = 3


def says_answer(
    answer: str,
    texts: Sequence[str],
    *,
    asked: str,
    known: Sequence[str] = (),
    choices: Sequence[str] = (),
    are_foreign: bool = False,
) -> bool:
    """Tell whether texts say an answer.

    The texts must have half of the answer's words that are not in the question, and all its numbers. If the question
    has all words of the answer, the texts must have these words together ("Lindvik County" for a question with
    "Lindvik" and "county"). If the question also has them together, the answer must be a known one, or the question
    must offer a choice. Yes and no are never in a text.

    In an English text, the digits on each side of a mark are compared as words. So 5.1 counts as said if the text has
    1.5; `has_amounts` tells the two apart. Other languages group digits with other marks, and may write numbers in
    words: 1.200 is 1,200, and "vier" is 4. So their numbers are compared as a whole.

    Args:
        answer: A few words.
        texts: The texts.
        asked: The question.
        known: Proven answers, which count as texts.
        choices: Further texts that may name the choices of the question.
        are_foreign: Whether to read the texts as texts in another language than English.
    """
    words, given = distinct_words(answer) - COMMON, distinct_words(asked)
    if words and words <= YES_OR_NO:
        return True
    there = distinct_words(*texts, *known)
    new = words - given
    if new:
        with_digits = {word for word in words if any(map(str.isdigit, word))}
        if not are_foreign:
            return with_digits <= there | given and _are_half_there(new, there)
        # A word of one letter, such as the Japanese one for a book, is part of other pairs with its neighbors.
        letters = "".join(there)
        spelled = frozenset(word for word in new - with_digits if len(word) > 1 or word not in letters)
        told = frozenset[str]().union(*map(numbers, (*texts, *known, asked)))
        return digits(answer) <= told and (_are_half_there(spelled, there) or _are_half_there(new, there))
    if not words:
        return False
    said = _phrase(answer)
    if any(said in _phrase(one) for one in known):
        return True
    if said not in _phrase(asked):
        return any(said in _phrase(text) for text in texts)
    is_choice = not _CHOOSING.isdisjoint(given) or is_foreign(asked)
    return is_choice and any(said in _phrase(text) for text in (*texts, *choices))


def _are_half_there(words: frozenset[str], there: frozenset[str]) -> bool:
    """Whether half of the words occur; other forms of words are compared only if they decide."""
    missing = words - there
    if 2 * len(missing) <= len(words):
        return True
    stems = frozenset(map(stem, there))
    return 2 * sum(stem(word) not in stems for word in missing) <= len(words)


def topic_of(question: str, *without: str) -> frozenset[str]:
    """Return beginnings of the words that are a question's topic, without words of its answer and other texts."""
    return _content(question).difference(*map(_content, without))


def shared_words(topic: frozenset[str], *texts: str) -> int:
    """Count the words of a topic that texts have."""
    told = frozenset[str]().union(*map(_content, texts))
    return len(topic & told)


def unmentioned_names(question: str, text: str) -> list[str]:
    """List the names, years and numbers of a question that a text does not mention.

    A name is mentioned by half of its words, a title in quotation marks by all of them; by words with the same
    beginning ("Asian" for "Asia"), and by its initials. A year is mentioned by its decade, and a decade by its years.
    An identifier is mentioned only as a whole: INV-9 is not INV-99.

    Args:
        question: An English question, with names capitalized.
        text: The text that should mention them.
    """
    return [
        " ".join(name)
        for name in _names(question)
        if sum(_is_mentioned(word, text) for word in name) < _NAMED * len(name)
    ]


def _phrase(text: str) -> str:
    """Return the words that are not common, in order, with spaces around them."""
    return f" {' '.join(word for word in folded_words(text) if word not in COMMON)} "


@lru_cache(maxsize=1024)
def _content(text: str) -> frozenset[str]:
    content = (word for word in _pieces(text) if word not in NO_CONTENT)
    stems = map(stem, content)
    # "Exposed" and "exposure" are equal.
    return frozenset(one if one.isdigit() else one[:_BEGINNING] for one in stems)


@lru_cache(maxsize=1024)
def _pieces(text: str) -> tuple[str, ...]:
    """Return the words of a text without accents, and its numbers, both as written and in one notation."""
    written = write_numbers(text)
    pieces = PIECE.findall(_plain(text))
    if written != text:
        pieces += PIECE.findall(_plain(written))
    return tuple(pieces)


@lru_cache(maxsize=256)
def _plain_pieces(text: str) -> frozenset[str]:
    """Return those of _pieces that the text has exactly as written, in a tenth of the time."""
    return frozenset(PIECE.findall(_plain(text)))


def _plain(text: str) -> str:
    undotted = _ABBREVIATION.sub(lambda match: match[0].replace(".", ""), text)
    # The words of a name such as "PG_VERSION" are compared one by one.
    plain = without_accents(fold(undotted))
    return plain.replace("'s ", " ").replace("'", "").replace("_", " ")


# A cache, because a question is compared with many passages.
@lru_cache(maxsize=256)
def _names(question: str) -> tuple[list[str], ...]:
    """Return the names of a question, each as its words; a number is a name of its own."""
    return tuple(_find_names(question))


def _find_names(question: str) -> Iterator[list[str]]:
    if not any(map(str.isupper, question[1:])):
        bare = (match[1] for match in _BARE.finditer(question))
        yield from ([word] for word in bare if word not in NO_NOUNS | NO_CONTENT and singular(word) == word)
    counts = {match[1] or match[2] for match in _HOW_MANY.finditer(question)}
    quoted = {word for match in _QUOTED.finditer(question) for _, word, _ in content_words(match[1])}
    name: list[str] = []
    after = -1
    for place, word, is_name in content_words(question):
        is_number = any(map(str.isdigit, word))
        if name and (not is_name or is_number or place != after):
            yield name
            name = []
        if is_number:
            if word not in counts:
                yield [word]
        elif is_name and word in quoted:
            yield [word]
        elif is_name:
            name.append(word)
            after = place + 1
    if name:
        yield name


@dataclass(frozen=True, slots=True)
class _Mentions:
    """What a text mentions: stems of its words, beginnings of these, and abbreviations of its names."""

    stems: frozenset[str]
    starts: frozenset[str]
    initials: frozenset[str]


@lru_cache(maxsize=256)
def _mentions(text: str) -> _Mentions:
    there = frozenset(_pieces(text))
    starts = frozenset(word[:_ALIKE] for word in there)
    return _Mentions(frozenset(map(stem, there)), starts, _initials(text))


def _is_mentioned(word: str, text: str) -> bool:
    if codes(word):
        return codes(word) <= codes(text)
    if _DOTTED.fullmatch(word):
        # 3.2 is not 2.9, and 10.30 may be written 10:30.
        return re.search(rf"(?<![\d.,]){re.sub(r'[.]', '[.:,]', word)}(?!\d)", text) is not None
    pieces = _pieces(word)
    # Most names occur literally, and listing everything else that a text mentions takes long.
    if not pieces or not _plain_pieces(text).isdisjoint(pieces):
        return True
    there = _mentions(text)
    if any(stem(piece) in there.stems for piece in pieces):
        return True
    plain = pieces[0]
    if plain[:1].isdigit():
        # "1990s" and 1994; "1990's"
        decade = plain.removesuffix("s")[:-1]
        if len(decade) != _DECADE_DIGITS:
            return False
        return any(len(one) > _DECADE_DIGITS and one.startswith(decade) for one in there.stems)
    if plain in there.initials:
        return True
    return len(plain) >= _ALIKE and plain[:_ALIKE] in there.starts


def _initials(text: str) -> frozenset[str]:
    """Return the abbreviations of the capitalized words of a text: "nyc" for "New York City"."""
    found: set[str] = set()
    for match in _CAPITALIZED.finditer(text):
        letters = "".join(word[0].lower() for word in PIECE.findall(match[0]) if word[0].isupper())
        found.update(
            letters[start : start + length]
            for start in range(len(letters))
            for length in range(2, _LONGEST_INITIALS + 1)
        )
    return frozenset(found)
