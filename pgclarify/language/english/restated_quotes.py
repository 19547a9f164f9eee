"""Finds the sentence that a quote says in other words, as small models do.

"The Earle House was built in 1870" is no quote, but says what "It was built in 1870 by a carpenter" says there.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    quote = normalized(quote)
    said, answer = words(quote), words(reading.answer)
    stems = content_stems(quote)
    known = content_stems("\n".join((content, reading.question, reading.interpretation)))
    if not answer or _place(answer, said) is None or not stems <= known:
        return None
    is_name = any(word.is_capitalized for word in answer)
    # The first word may have a capital without being a name.
    names = {word.stem for word in said[1:] if word.is_capitalized}
    telling = stems - names - content_stems(reading.answer)
    found: list[tuple[int, int, Span]] = []
    for one in sentences:
        there = words(one.text)
        place = _place(answer, there)
        if place is None or _is_part_of_another(there, place + len(answer), one.text, stems):
            continue
        # Of equal words, the one nearest to the answer.
        farthest_first = sorted(range(len(there)), key=lambda other: -abs(other - place))
        places = {there[other].stem: other for other in farthest_first if there[other].stem in stems}
        is_whole = stems == places.keys() or _points_back(there, stems)
        if not is_whole or len(telling & places.keys()) < max(1, len(telling) / 2):
            continue
        low, high = min(place, *places.values()), max(place + len(answer) - 1, *places.values())
        part = there[low : high + 1]
        if is_name and not _has_its_names_in_order(part, said, stems, is_first=low == 0):
            continue
        if says_the_same(quote, one.text[part[0].start : part[-1].end], one.text):
            found.append((len(places), low - high, (one.start, one.end)))
    return max(found)[2] if found else None


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


def _has_its_names_in_order(
    part: Sequence[Word], said: Sequence[Word], stems: frozenset[str], *, is_first: bool
) -> bool:
    """Whether a part of a sentence has the words of a quote in their order, and no names that the quote lacks.

    "Ida beat Jon" does not say that Jon beat Ida, nor "Ida teaches French, Jon German" that Ida teaches German.

    Args:
        part: The words of the part.
        said: The words of the quote.
        stems: Those with meaning.
        is_first: Whether the part begins the sentence.
    """
    ordered = {part[other].stem for _, other in align(said, part)}
    shared = stems & {word.stem for word in part}
    # A sentence begins with a capital anyway.
    names = {word.stem for word in (part[1:] if is_first else part) if word.is_capitalized}
    return shared <= ordered and names <= stems
