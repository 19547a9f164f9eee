"""Finds the sentence that a quote says in other words, as small models do.

"The Earle House was built in 1870" is no quote, but says what "It was built in 1870 by a carpenter" says there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from pgclarify.language.checks import AskedReading, Span
from pgclarify.language.english.amounts import EXCLUSIVE_UNITS, has_amounts
from pgclarify.language.english.measures import read_unit
from pgclarify.language.english.numbers import SCALES, write_numbers
from pgclarify.language.english.opposites import spell_negations
from pgclarify.language.english.stems import singular
from pgclarify.language.english.word_classes import EXCLUSIONS, MODALS, NEARLY_NEGATIONS, NEGATIONS
from pgclarify.language.english.words import Word, content_stems, lower_words, words
from pgclarify.language.normalization import normalized
from pgclarify.language.sentences import Sentence
from pgclarify.language.words import word_set

_SUBJECTS: Final = word_set("he she it they")
_POINTING: Final = word_set("the this these")
# These turn the meaning of a whole sentence.
_TURNING: Final = (
    NEGATIONS
    | NEARLY_NEGATIONS
    | EXCLUSIONS
    | word_set(
        "n't nothing nobody non excluding only almost nearly alleged allegedly fake former formerly planned proposed"
    )
)
# These limit or measure what stands beside them.
_LIMITING: Final = (
    MODALS
    | SCALES.keys()
    | EXCLUSIVE_UNITS
    | word_set("if before after until till since over under above below within least most more less fewer")
    | word_set("half quarter dozen twice double")
)


def find_restated(quote: str, reading: AskedReading, content: str, sentences: Sequence[Sentence]) -> Span | None:
    """Find the sentence that has the answer of a reading, and most words of a quote.

    Quote and sentence have the answer word for word. The sentence has all words with meaning of the quote. If it begins
    with "it" or "the house", an earlier sentence may have said what that is; then half of those words suffice that are
    neither names nor in the answer, and the others are in the passage or in the question. Between the words that both
    have, the sentence has the numbers, amounts and limits of the quote; as a whole, it has the same negations. If the
    answer is a name, these words have the same order, and no other name is between them.

    Args:
        quote: The text that a model says it read.
        reading: What it read.
        content: The text of the passage.
        sentences: Its sentences.

    Returns:
        The offsets of the sentence with most words of the quote; None if there is none.
    """
    read = _read(quote, reading.answer)
    known = content_stems(f"{content}\n{reading.question}\n{reading.interpretation}")
    if not read.answer or not read.stems <= known:
        return None
    if _place(read.answer, read.said) is None:
        return None
    most, span = 0, None
    for sentence in sentences:
        shared = _shared(read, sentence.text)
        if shared > most:
            most = shared
            span = (sentence.start, sentence.end)
    return span


@dataclass(frozen=True, slots=True)
class _Quote:
    """A quote, and what of it is compared.

    Attributes:
        text: The quote.
        said: Its words.
        answer: The words of the answer.
        stems: Those of the words with meaning.
        telling: Those of the words that are neither names nor in the answer.
    """

    text: str
    said: Sequence[Word]
    answer: Sequence[Word]
    stems: frozenset[str]
    telling: frozenset[str]


def _read(quote: str, answer: str) -> _Quote:
    text = normalized(quote)
    said = words(text)
    stems = content_stems(text)
    # The first word may have a capital without being a name.
    names = _capitalized(said[1:])
    telling = stems - names - content_stems(answer)
    return _Quote(text, said, words(answer), stems, telling)


def _capitalized(found: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in found if word.is_capitalized)


def _shared(quote: _Quote, sentence: str) -> int:
    """Return how many words of a quote a sentence has; 0 if it does not say what the quote says."""
    there = words(sentence)
    place = _place(quote.answer, there)
    if place is None:
        return 0
    end = place + len(quote.answer)
    places = _nearest(quote.stems, there, place)
    if places.keys() != quote.stems and not _points_back(there, quote.stems):
        return 0
    telling = quote.telling & places.keys()
    if not telling or 2 * len(telling) < len(quote.telling):
        return 0
    if _is_part_of_another(there, end, sentence, quote.stems):
        return 0
    first = min(place, *places.values())
    last = max(end - 1, *places.values())
    part = there[first : last + 1]
    is_name = any(word.is_capitalized for word in quote.answer)
    if is_name and not _has_its_names_in_order(part, quote, is_first=first == 0):
        return 0
    start, stop = part[0].start, part[-1].end
    return len(places) if _says_the_same(quote.text, sentence[start:stop], sentence) else 0


def _nearest(stems: frozenset[str], there: Sequence[Word], place: int) -> dict[str, int]:
    """Return where a sentence has words of a quote; of equal words, the one that is nearest to a place."""
    farthest_first = sorted(range(len(there)), key=lambda other: -abs(other - place))
    return {there[other].stem: other for other in farthest_first if there[other].stem in stems}


def _place(part: Sequence[Word], of: Sequence[Word]) -> int | None:
    """Return where a text has the words of a part side by side first; None if it does not."""
    wanted = [word.lower for word in part]
    there = [word.lower for word in of]
    size = len(wanted)
    for place in range(len(there) - size + 1):
        if there[place : place + size] == wanted:
            return place
    return None


def _points_back(there: Sequence[Word], stems: frozenset[str]) -> bool:
    """Whether a sentence begins with a pronoun, or with "the" and a word of the quote: its thing was named before."""
    first, *others = there
    if first.lower in _SUBJECTS:
        return True
    return first.lower in _POINTING and bool(others) and others[0].stem in stems


def _is_part_of_another(there: Sequence[Word], end: int, sentence: str, stems: frozenset[str]) -> bool:
    """Whether the word directly behind an answer is its noun, and not in the quote: "Ida Holm's teacher painted it"."""
    if end >= len(there):
        return False
    last, following = there[end - 1], there[end]
    between = sentence[last.end : following.start]
    if between.strip():
        return False
    return following.is_content and following.stem not in stems


def _has_its_names_in_order(part: Sequence[Word], quote: _Quote, *, is_first: bool) -> bool:
    """Whether a part of a sentence has the words of a quote in their order, and no names that the quote lacks.

    "Ida beat Jon" does not say that Jon beat Ida, nor "Ida teaches French, Jon German" that Ida teaches German.

    Args:
        part: The words of the part.
        quote: The quote.
        is_first: Whether the part begins the sentence, which has a capital there anyway.
    """
    names = _capitalized(part[1:] if is_first else part)
    if not names <= quote.stems:
        return False
    shared = quote.stems.intersection(word.stem for word in part)
    return shared <= _in_same_order(quote.said, part)


def _in_same_order(said: Sequence[Word], part: Sequence[Word]) -> set[str]:
    """Return the stems of the words that a quote and a part of a sentence have in the same order."""
    stems = [word.stem for word in said]
    there = [word.stem for word in part]
    found = set[str]()
    for block in SequenceMatcher(None, stems, there, autojunk=False).get_matching_blocks():
        found.update(there[block.b : block.b + block.size])
    return found


def _says_the_same(quote: str, part: str, whole: str) -> bool:
    """Whether a part of a passage has the numbers, units, negations and limits of a quote.

    Args:
        quote: The quote.
        part: The part.
        whole: Its sentences, whose negations may apply to it: "Not all members park free".
    """
    return (
        _measures(quote) == _measures(part)
        and _negations(quote) == _negations(whole)
        and _limits(quote) == _limits(part)
        and has_amounts(quote, [part])
    )


def _measures(text: str) -> list[str | tuple[str, str]]:
    """List the numbers and units of a text, and the words with digits, in one notation and in order."""
    found: list[str | tuple[str, str]] = []
    for word in lower_words(write_numbers(text)):
        unit = read_unit(word)
        if unit:
            found.append(unit)
        elif any(map(str.isdigit, word)):
            found.append(word)
    return found


def _negations(text: str) -> list[tuple[str, str | None]]:
    """List the words that turn the meaning of a text, each with the next word with meaning."""
    found: list[tuple[str, str | None]] = []
    following = None
    for word in reversed(words(spell_negations(text))):
        if word.lower in _TURNING:
            found.append((word.lower, following))
        elif word.is_content:
            following = word.stem
    return found


def _limits(text: str) -> list[str]:
    found = map(singular, lower_words(text))
    return [word for word in found if word in _LIMITING]
