"""Finds the words of a passage that a quote nearly copies: with some left out, put in, exchanged or inflected."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from pgclarify.language.checks import Span
from pgclarify.language.english.amounts import EXCLUSIVE_UNITS, has_amounts
from pgclarify.language.english.measures import read_unit
from pgclarify.language.english.numbers import SCALES, write_numbers
from pgclarify.language.english.opposites import spell_negations
from pgclarify.language.english.rivals import names_rival, says_opposite
from pgclarify.language.english.stems import singular
from pgclarify.language.english.word_classes import EXCLUSIONS, MODALS, NEARLY_NEGATIONS, NEGATIONS
from pgclarify.language.english.words import Word, content_stems, lower_words, words
from pgclarify.language.normalization import normalized
from pgclarify.language.quotes import has_cut_word
from pgclarify.language.sentences import Sentence
from pgclarify.language.whole_words import widen
from pgclarify.language.words import word_set

# A quote of fewer words with meaning is no copy.
_FEWEST: Final = 3
# The least share of the words with meaning of a quote that a part of the passage has in the same order, and of those of
# the part that the quote has.
_LEAST: Final = 0.8
# At most one sentence may be missing between the sentences that a quote joins.
_MOST_SENTENCES: Final = 3
# Of equal words. Sentences that repeat a few words again and again have more, and aligning them would take seconds.
_MOST_PAIRS: Final = 1000
# What stands in brackets may be missing.
_ASIDE: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
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
_NEGATIVE: Final = ("un", "in", "im", "ir", "il", "dis", "non")


def find_near(quote: str, answer: str, content: str, sentences: Sequence[Sentence]) -> Span | None:
    """Find the shortest part of a passage that a quote nearly copies, in whole words.

    Most words with meaning must be the same, in any form and in the same order. Numbers, amounts, names, negations and
    limits must be the same, and nothing may say the opposite. Words without meaning do not count.

    Args:
        quote: The text that a model says it read.
        answer: The answer that it is to prove. The part must have those of its words that the quote has.
        content: The text of the passage.
        sentences: Its sentences.

    Returns:
        Its offsets; None if no part is so near.
    """
    quote = normalized(quote)
    copied = words(quote)
    wanted = Counter(word.stem for word in copied if word.is_content)
    least = _LEAST * wanted.total()
    if wanted.total() < _FEWEST:
        return None
    # Of the same length, so that offsets stay valid.
    shown = content if _ASIDE.search(quote) else _ASIDE.sub(lambda aside: " " * len(aside[0]), content)
    there = words(shown)
    starts = [word.start for word in there]
    bounds = [(bisect_left(starts, one.start), bisect_left(starts, one.end)) for one in sentences]
    beginnings = {first for first, _ in bounds}
    names = frozenset(place for place, word in enumerate(there) if word.is_capitalized and place not in beginnings)
    answering = content_stems(answer)
    # Without capitals, any word may be a name.
    has_capitals = any(word.is_capitalized for word in there)
    fixed = [
        place
        for place, word in enumerate(copied)
        if word.is_content and (word.is_capitalized or not has_capitals or word.stem in answering)
    ]
    for size in range(1, _MOST_SENTENCES + 1):
        found: list[Span] = []
        for first in range(len(sentences) - size + 1):
            last = first + size - 1
            begin, end = bounds[first][0], bounds[last][1]
            window = there[begin:end]
            counts = Counter(word.stem for word in window)
            if (wanted & counts).total() < least or sum(counts[word.stem] for word in copied) > _MOST_PAIRS:
                continue
            places = {place: begin + other for place, other in align(copied, window)}
            if sum(copied[place].is_content for place in places) < least:
                continue
            low, high = min(places.values()), max(places.values())
            # Fewer sentences with the same words were tried before.
            is_joined = low < bounds[first][1] and bounds[last][0] <= high
            # Words that the quote changes at its ends belong to the part, too: "34 square km" for "34 square miles".
            low = max(begin, low - _changed(copied[: min(places)]))
            high = min(end - 1, high + _changed(copied[max(places) + 1 :]))
            part = there[low].start, there[high].end
            span = widen(content, *part)
            if (
                is_joined
                and _has_the_words(copied, there, places, range(low, high + 1), names, fixed)
                and says_the_same(quote, shown[slice(*span)], content[sentences[first].start : sentences[last].end])
                and not has_cut_word(quote, content, *part)
            ):
                found.append(span)
        if found:
            return min(found, key=lambda span: span[1] - span[0])
    return None


def align(copied: Sequence[Word], window: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that a quote and some sentences have in the same order."""
    matcher = SequenceMatcher(None, [word.stem for word in copied], [word.stem for word in window], autojunk=False)
    for block in matcher.get_matching_blocks():
        # Words without meaning may be from anywhere if they do not stand beside others.
        if any(word.is_content for word in copied[block.a : block.a + block.size]):
            yield from ((block.a + place, block.b + place) for place in range(block.size))


def _changed(end: Sequence[Word]) -> int:
    """Return how many words a quote has at one end that the passage has not, if any of them has a meaning."""
    return len(end) if any(word.is_content for word in end) else 0


def _has_the_words(
    copied: Sequence[Word],
    there: Sequence[Word],
    places: Mapping[int, int],
    part: range,
    names: frozenset[int],
    fixed: Sequence[int],
) -> bool:
    """Whether a part of a passage has the names of a quote, no others, no opposites, and few other words with meaning.

    Args:
        copied: The words of the quote.
        there: The words of the passage.
        places: Of words of the quote, with the places of the same words of the passage.
        part: The places of the part.
        names: The places of words of the passage that have a capital, and do not begin a sentence.
        fixed: The places of words of the quote that must be the same: of names and of the answer.
    """
    if any(place not in places or there[places[place]].lower != copied[place].lower for place in fixed):
        return False
    matched = set(places.values())
    added = [place for place in part if place not in matched and there[place].is_content]
    if not names.isdisjoint(added):
        return False
    # "Ida Holm painted it" for "Ida Holm's teacher painted it".
    if any(places[place] + 1 in added and place + 1 in places for place in fixed):
        return False
    lost = {word.lower for place, word in enumerate(copied) if place not in places}
    gained = {there[place].lower for place in added}
    if _have_opposites(lost, gained) or _have_opposites(gained, lost):
        return False
    return len(added) <= (1 - _LEAST) * sum(there[place].is_content for place in part)


def _have_opposites(some: Collection[str], others: Collection[str]) -> bool:
    """Whether one text has "paid" where another has "unpaid"."""
    return any(f"{prefix}{word}" in others for word in some for prefix in _NEGATIVE)


def says_the_same(quote: str, part: str, whole: str) -> bool:
    """Whether a part of a passage has the numbers, units, negations and limits of a quote, and says no opposite.

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
        and not names_rival(quote, part)
        and not says_opposite(quote, part, "")
    )


def _measures(text: str) -> list[str | tuple[str, str]]:
    """List the numbers and units of a text, and the words with digits, in one notation and in order."""
    written = lower_words(write_numbers(text))
    return [read_unit(word) or word for word in written if read_unit(word) or any(map(str.isdigit, word))]


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
    return [word for word in map(singular, lower_words(text)) if word in _LIMITING]
