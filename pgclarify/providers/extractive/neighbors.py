"""Lowers the probability of what stands beside the answer: another sentence has more of the question's words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.question_terms import with_synonyms
from pgclarify.language.english.words import content_stems
from pgclarify.providers.extractive.scoring import log_odds
from pgclarify.providers.extractive.whole_thoughts import Judged

# Taken from the log-odds. docs/methods/extractive.md has the fit.
_LESS: Final = 0.8


def less_of_neighbors(asked: Asked, judged: Sequence[Judged]) -> list[Judged]:
    """Lower the probability of each piece of a passage, if another one has more of the words that are asked for.

    "Visa costs" asks for the item about visas, and not for the one about the costs of moving.

    Args:
        asked: The question.
        judged: All pieces of the passage. A list and its items share their words, so they are no neighbors.
    """
    said = [
        len(asked.subject & with_synonyms(content_stems(f"{piece.lead} {piece.header} {piece.text}")))
        for piece, _ in judged
    ]
    most = max(said, default=0)
    lowered = []
    for (piece, told), words in zip(judged, said, strict=True):
        is_neighbor = words < most and any(
            more > words and not piece.overlaps(other.start, other.end)
            for (other, _), more in zip(judged, said, strict=True)
        )
        lowered.append((piece, _lower(told) if is_neighbor else told))
    return lowered


def _lower(probability: float) -> float:
    return 1.0 / (1.0 + math.exp(_LESS - log_odds(probability)))
