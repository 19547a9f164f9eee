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
    start = next(place for place, one in enumerate(single) if one[0] is piece)
    run = single[start : start + 1]
    while True:
        before, after = single[max(start - 1, 0) : start], single[start + len(run) :][:1]
        wider = [one for one in (run + after, before + run) if len(one) > len(run) and _is_thought(one, passage)]
        if not wider:
            break
        # They differ in the neighbour alone.
        most = max(wider, key=lambda one: sum(probability for _, probability in one))
        start -= most[0] is not run[0]
        run = most
    if len(run) == 1:
        return piece
    return _joined([one for one, _ in run], before[0][0] if before else None, passage)


def with_sentence_before(piece: Evidence, judged: Sequence[Judged], passage: str) -> Evidence | None:
    """Return a sentence together with the one before it; None if it follows none, or if they do not fit an answer.

    Args:
        piece: One of the pieces of the passage, the very object.
        judged: All of them.
        passage: The passage.
    """
    before = max((one for one, _ in judged if one.end <= piece.start), key=lambda one: one.end, default=None)
    if before is None or before.kind in _RECORDS or not _continues(before, piece, passage):
        return None
    if piece.end - before.start > MAX_ANSWER_CHARS or not is_readable(before.text):
        return None
    return Evidence(passage[before.start : piece.end], before.start, piece.kind)


def _is_thought(run: Sequence[Judged], passage: str) -> bool:
    """Whether all pieces answer, each goes on after the one before, and together they fit an answer."""
    return (
        run[-1][0].end - run[0][0].start <= MAX_ANSWER_CHARS
        and all(probability >= THRESHOLD and is_readable(one.text) for one, probability in run)
        and all(_continues(one, following, passage) for (one, _), (following, _) in pairwise(run))
    )


def _continues(one: Evidence, following: Evidence, passage: str) -> bool:
    """Whether a piece goes on after another one. What follows a question belongs to that question alone."""
    if one.kind is not following.kind or one.text.endswith("?") or following.text.endswith("?"):
        return False
    between = _between(one, following, passage)
    if one.kind in _LISTED:
        return not between or ITEM_MARK.fullmatch(between) is not None
    return not between and one.text.rstrip(CLOSERS).endswith(_ENDS)


def _between(one: Evidence, following: Evidence, passage: str) -> str:
    return passage[one.end : following.start].strip()


def _joined(pieces: Sequence[Evidence], before: Evidence | None, passage: str) -> Evidence:
    """Return consecutive pieces as one. A mark begins the next item: an item may have several sentences."""
    start, end, kind = pieces[0].start, pieces[-1].end, pieces[0].kind
    items = [pieces[0].text]
    for one, following in pairwise(pieces):
        if _between(one, following, passage):
            items.append(following.text)
        else:
            items[-1] += f" {following.text}"
    if len(items) == 1:
        return Evidence(passage[start:end], start, kind)
    lead = ""
    if before and before.text == pieces[0].lead and end - before.start <= MAX_ANSWER_CHARS:
        lead, start = before.text, before.start
    return Evidence(passage[start:end], start, kind, lead, tuple(items))
