"""A whole thought: the sentence that most probably answers, with its neighbours that answer, too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.phrases import MAX_ANSWER_CHARS
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.sentences import CLOSERS, Kind
from pgclarify.providers.extractive.scoring import THRESHOLD

Judged: TypeAlias = tuple[Evidence, float]
"""A piece of a passage, with the probability that it answers."""

_LISTED: Final = frozenset({Kind.ITEM, Kind.STEP})
# Each of them stands for itself.
_RECORDS: Final = frozenset({Kind.ROW, Kind.LINE})
_ENDS: Final = (".", "!")
# What stands between two sentences, or with a mark between two items. A heading does not.
_GAP: Final = re.compile(r"\s*(?P<mark>(?:[-*+•‣▪\u2013]|\(?\w{1,3}[.)])\s+)?")


def whole_thought(piece: Evidence, judged: Sequence[Judged], passage: str) -> Evidence:
    """Return a sentence or item together with its neighbours that are likely to answer.

    Args:
        piece: One of the pieces of the passage, the very object.
        judged: All of them. Sentences and items are in the order of the passage.
        passage: The passage.

    Returns:
        Consecutive sentences, or items of one list with its introduction if the first one is among them, as long as
        they fit an answer; neighbours are added by falling probability. The piece itself if no neighbour answers, if it
        says nothing, and if it is a list, a row, or a line with a value.
    """
    if piece.items or piece.kind in _RECORDS or not is_readable(piece.text):
        return piece
    single = [one for one in judged if not one[0].items]
    first = last = next(place for place, one in enumerate(single) if one[0] is piece)
    while True:
        neighbours = []
        if first and _continues(single[first - 1][0], single[first][0], passage):
            neighbours.append((single[first - 1][1], first - 1))
        if last + 1 < len(single) and _continues(single[last][0], single[last + 1][0], passage):
            neighbours.append((single[last + 1][1], last + 1))
        answering = [
            place
            for probability, place in sorted(neighbours, reverse=True)
            if probability >= THRESHOLD
            and is_readable(single[place][0].text)
            and single[max(place, last)][0].end - single[min(place, first)][0].start <= MAX_ANSWER_CHARS
        ]
        if not answering:
            break
        first, last = min(first, answering[0]), max(last, answering[0])
    return piece if first == last else _joined([evidence for evidence, _ in single[first : last + 1]], passage)


def _continues(one: Evidence, following: Evidence, passage: str) -> bool:
    """Whether a piece goes on after another one. What follows a question belongs to that question alone."""
    if one.kind is not following.kind or one.text.endswith("?") or following.text.endswith("?"):
        return False
    is_over = one.kind in _LISTED or one.text.rstrip(CLOSERS).endswith(_ENDS)
    return is_over and _GAP.fullmatch(passage[one.end : following.start]) is not None


def _joined(pieces: Sequence[Evidence], passage: str) -> Evidence:
    """Return consecutive pieces as one. An item may have several sentences: a mark begins the next item."""
    start, end, kind = pieces[0].start, pieces[-1].end, pieces[0].kind
    items = [pieces[0].text]
    for one, following in pairwise(pieces):
        gap = _GAP.fullmatch(passage[one.end : following.start])
        if gap and gap["mark"]:
            items.append(following.text)
        else:
            items[-1] += f" {following.text}"
    if kind not in _LISTED or len(items) == 1:
        return Evidence(passage[start:end], start, kind)
    lead = pieces[0].lead
    introduced = passage.rfind(lead, 0, start) if lead else -1
    is_introduced = introduced >= 0 and _GAP.fullmatch(passage[introduced + len(lead) : start]) is not None
    if not is_introduced or end - introduced > MAX_ANSWER_CHARS:
        lead, introduced = "", start
    return Evidence(passage[introduced:end], introduced, kind, lead, tuple(items))
