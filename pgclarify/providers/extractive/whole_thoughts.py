"""A whole thought: the sentence that most probably answers, with its neighbours that answer, too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.phrases import MAX_ANSWER_CHARS
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.sentences import CLOSERS, ITEM_MARK, Kind
from pgclarify.providers.extractive.scoring import THRESHOLD

Judged: TypeAlias = tuple[Evidence, float]
"""A piece of a passage, with the probability that it answers."""

_LISTED: Final = frozenset({Kind.ITEM, Kind.STEP})
# Each of them stands for itself.
_RECORDS: Final = frozenset({Kind.ROW, Kind.LINE})
_ENDS: Final = (".", "!")


def whole_thought(piece: Evidence, judged: Sequence[Judged], passage: str) -> Evidence:
    """Return a sentence or item together with its neighbours that are likely to answer.

    Args:
        piece: One of the pieces of the passage, the very object.
        judged: All of them. Sentences and items are in the order of the passage.
        passage: The passage.

    Returns:
        Consecutive sentences, or items of one list with its introduction if the first one is among them, as long as
        they fit an answer; the more probable neighbour is added first. The piece itself if no neighbour answers, if it
        says nothing, and if it is a list, a row, or a line with a value.
    """
    if piece.items or piece.kind in _RECORDS or not is_readable(piece.text):
        return piece
    single = [one for one in judged if not one[0].items]
    pieces = [one for one, _ in single]
    first = next(place for place, one in enumerate(pieces) if one is piece)
    last = first
    while True:
        place = _next_neighbor(single, first, last, passage)
        if place is None:
            break
        first = min(first, place)
        last = max(last, place)
    if first == last:
        return piece
    before = None
    if first > 0:
        before = pieces[first - 1]
    return _joined(pieces[first : last + 1], before, passage)


def _next_neighbor(single: Sequence[Judged], first: int, last: int, passage: str) -> int | None:
    """Return the place of the more probable neighbour of a run that answers with it; None if neither does."""
    after, before = last + 1, first - 1
    found = []
    if after < len(single) and _is_thought(single[first : after + 1], passage):
        found.append(after)
    if before >= 0 and _is_thought(single[before : last + 1], passage):
        found.append(before)
    return max(
        found,
        key=lambda place: single[place][1],
        default=None,
    )


def with_sentence_before(piece: Evidence, judged: Sequence[Judged], passage: str) -> Evidence | None:
    """Return a sentence together with the one before it; None if it follows none, or if they do not fit an answer.

    Args:
        piece: One of the pieces of the passage, the very object.
        judged: All of them.
        passage: The passage.
    """
    earlier = [one for one, _ in judged if one.end <= piece.start]
    before = max(earlier, key=lambda one: one.end, default=None)
    if before is None or before.kind in _RECORDS or not is_readable(before.text):
        return None
    start = before.start
    length = piece.end - start
    if length > MAX_ANSWER_CHARS:
        return None
    if not _continues(before, piece, passage):
        return None
    return Evidence(passage[start : piece.end], start, piece.kind)


def _is_thought(run: Sequence[Judged], passage: str) -> bool:
    """Whether all pieces answer, each goes on after the one before, and together they fit an answer."""
    pieces = [piece for piece, _ in run]
    length = pieces[-1].end - pieces[0].start
    if length > MAX_ANSWER_CHARS:
        return False
    for piece, told in run:
        if told < THRESHOLD:
            return False
        if not is_readable(piece.text):
            return False
    return all(_continues(one, following, passage) for one, following in pairwise(pieces))


def _continues(one: Evidence, following: Evidence, passage: str) -> bool:
    """Whether a piece goes on after another one. What follows a question belongs to that question alone."""
    if one.kind is not following.kind:
        return False
    if one.text.endswith("?") or following.text.endswith("?"):
        return False
    between = _between(one, following, passage)
    if one.kind in _LISTED:
        return not between or ITEM_MARK.fullmatch(between) is not None
    if between:
        return False
    return one.text.rstrip(CLOSERS).endswith(_ENDS)


def _between(one: Evidence, following: Evidence, passage: str) -> str:
    return passage[one.end : following.start].strip()


def _joined(pieces: Sequence[Evidence], before: Evidence | None, passage: str) -> Evidence:
    """Return consecutive pieces as one. A mark begins the next item: an item may have several sentences."""
    first = pieces[0]
    start, end = first.start, pieces[-1].end
    items = [first.text]
    for one, following in pairwise(pieces):
        if _between(one, following, passage):
            items.append(following.text)
        else:
            items[-1] += f" {following.text}"
    if len(items) == 1:
        return Evidence(passage[start:end], start, first.kind)
    lead = ""
    if before is not None and before.text == first.lead:
        length = end - before.start
        if length <= MAX_ANSWER_CHARS:
            lead = first.lead
            start = before.start
    return Evidence(
        passage[start:end],
        start,
        first.kind,
        lead,
        tuple(items),
    )
