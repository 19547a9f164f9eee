"""Finds the sentence that a quote says in other words, as small models do.

"The Earle House was built in 1870" is no quote, but says what "It was built in 1870 by a carpenter" says there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pgclarify.language.checks import AskedReading, Span
from pgclarify.language.english.near_quotes import align, says_the_same
from pgclarify.language.english.words import Word, content_stems, words
from pgclarify.language.normalization import normalized
from pgclarify.language.sentences import Sentence
from pgclarify.language.words import word_set

_SUBJECTS: Final = word_set("he she it they")
_POINTING: Final = word_set("the this these")


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
    known = content_stems("\n".join((content, reading.question, reading.interpretation)))
    if not read.answer or _place(read.answer, read.said) is None or not read.stems <= known:
        return None
    best = max(sentences, key=lambda one: _shared(read, one.text), default=None)
    return None if best is None or not _shared(read, best.text) else (best.start, best.end)


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
    said, stems = words(text), content_stems(text)
    # The first word may have a capital without being a name.
    names = {word.stem for word in said[1:] if word.is_capitalized}
    return _Quote(text, said, words(answer), stems, stems - names - content_stems(answer))


def _shared(quote: _Quote, sentence: str) -> int:
    """Return how many words of a quote a sentence has; 0 if it does not say what the quote says."""
    there = words(sentence)
    place = _place(quote.answer, there)
    if place is None:
        return 0
    end = place + len(quote.answer)
    places = _nearest(quote.stems, there, place)
    first = min(place, *places.values())
    part = there[first : max(end, *(other + 1 for other in places.values()))]
    telling = quote.telling & places.keys()
    is_name = any(word.is_capitalized for word in quote.answer)
    says_it = (
        (places.keys() == quote.stems or _points_back(there, quote.stems))
        and bool(telling)
        and 2 * len(telling) >= len(quote.telling)
        and not _is_part_of_another(there, end, sentence, quote.stems)
        and (not is_name or _has_its_names_in_order(part, quote, is_first=first == 0))
        and says_the_same(quote.text, sentence[part[0].start : part[-1].end], sentence)
    )
    return len(places) if says_it else 0


def _nearest(stems: frozenset[str], there: Sequence[Word], place: int) -> dict[str, int]:
    """Return where a sentence has words of a quote; of equal words, the one that is nearest to a place."""
    farthest_first = sorted(range(len(there)), key=lambda other: -abs(other - place))
    return {there[other].stem: other for other in farthest_first if there[other].stem in stems}


def _place(part: Sequence[Word], of: Sequence[Word]) -> int | None:
    """Return where a text has the words of a part side by side first; None if it does not."""
    wanted, there = [word.lower for word in part], [word.lower for word in of]
    size = len(wanted)
    return next((place for place in range(len(there) - size + 1) if there[place : place + size] == wanted), None)


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
    following = there[end]
    is_beside = not sentence[there[end - 1].end : following.start].strip()
    return is_beside and following.is_content and following.stem not in stems


def _has_its_names_in_order(part: Sequence[Word], quote: _Quote, *, is_first: bool) -> bool:
    """Whether a part of a sentence has the words of a quote in their order, and no names that the quote lacks.

    "Ida beat Jon" does not say that Jon beat Ida, nor "Ida teaches French, Jon German" that Ida teaches German.

    Args:
        part: The words of the part.
        quote: The quote.
        is_first: Whether the part begins the sentence, which has a capital there anyway.
    """
    ordered = {part[other].stem for _, other in align(quote.said, part)}
    shared = quote.stems & {word.stem for word in part}
    names = {word.stem for word in (part[1:] if is_first else part) if word.is_capitalized}
    return shared <= ordered and names <= quote.stems
