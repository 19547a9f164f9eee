"""Which words split readings best: the reply to "Is it about the deductible?" should tell as much as possible."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from pgclarify.language.english.words import Word, words
from pgclarify.language.relations import Side, Sides

# Similar informations are ties, which the order of the readings decides.
_DECIMALS = 9


def split(readings: Sequence[str], weights: Sequence[float]) -> Sides | None:
    """Split readings in two, so that knowing the side tells as much as possible about which reading is meant.

    A side is named by words of its readings. Where several words split them alike, they name it together: "deductible
    for hail damage". If no word splits them, nothing does.

    Args:
        readings: Questions.
        weights: How likely each is meant, above 0; they need not add up to 1.

    Returns:
        The side that is named by its words, the other one, and the expected information in bits, above 0 and at most 1;
        None if all readings have the same words.
    """
    found = [words(reading) for reading in readings]
    named = _sides(found)
    if not named:
        return None
    total = sum(weights)

    def information(side: tuple[int, ...]) -> float:
        share = sum(weights[place] for place in side) / total
        bits = _bits(share) + _bits(1 - share)
        return round(bits, _DECIMALS)

    def side_of(places: tuple[int, ...]) -> Side:
        if places not in named:
            return Side(None, places)
        first = places[0]
        return Side(_label(readings[first], found[first], named[places]), places)

    # The first of equals is the one whose words come first.
    best = max(named, key=information)
    everything = range(len(readings))
    rest = tuple(place for place in everything if place not in best)
    return side_of(best), side_of(rest), information(best)


def _sides(found: Sequence[Sequence[Word]]) -> dict[tuple[int, ...], set[str]]:
    """Return the groups of readings that have a word which others lack, with the stems of all such words."""
    having: dict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(found):
        stems = dict.fromkeys(word.stem for word in reading if word.is_content)
        for stem in stems:
            having[stem].append(place)
    named: dict[tuple[int, ...], set[str]] = defaultdict(set)
    for stem, places in having.items():
        is_in_all = len(places) == len(found)
        if not is_in_all:
            named[tuple(places)].add(stem)
    return named


def _label(reading: str, found: Sequence[Word], stems: set[str]) -> str:
    """Return the longest part of a reading whose words with meaning are all of these."""
    runs: list[list[Word]] = [[]]
    for word in found:
        if not word.is_content:
            continue
        if word.stem in stems:
            runs[-1].append(word)
        else:
            runs.append([])
    longest = max(runs, key=len)
    start = longest[0].start
    end = longest[-1].end
    return reading[start:end]


def _bits(share: float) -> float:
    return -share * math.log2(share)
