"""Which words split readings best: the reply to "Is it about the deductible?" should tell as much as possible."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pgclarify.language.english.words import Word, words

# Similar informations are ties, which the order of the readings decides.
_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Side:
    """Readings that a reply leaves.

    Attributes:
        label: Words that all of them have, and no other reading; None if there are none.
        readings: Their places, ascending.
    """

    label: str | None
    readings: tuple[int, ...]


def split(readings: Sequence[str], weights: Sequence[float]) -> tuple[Side, Side, float] | None:
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
    having: dict[str, set[int]] = defaultdict(set)
    for place, several in enumerate(found):
        for word in several:
            if word.is_content:
                having[word.stem].add(place)
    named: dict[tuple[int, ...], frozenset[str]] = {}
    for stem, places in having.items():
        if len(places) < len(readings):
            side = tuple(sorted(places))
            named[side] = named.get(side, frozenset()) | {stem}
    if not named:
        return None
    total = sum(weights)

    def information(side: tuple[int, ...]) -> float:
        share = sum(weights[place] for place in side) / total
        return round(-share * math.log2(share) - (1 - share) * math.log2(1 - share), _DECIMALS)

    # The first of equals is the one whose words come first.
    best = max(named, key=information)
    rest = tuple(place for place in range(len(readings)) if place not in best)
    sides = (
        Side(_label(readings[side[0]], found[side[0]], named[side]) if side in named else None, side)
        for side in (best, rest)
    )
    first, second = sides
    return first, second, information(best)


def _label(reading: str, found: Sequence[Word], stems: frozenset[str]) -> str:
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
    return reading[longest[0].start : longest[-1].end]
