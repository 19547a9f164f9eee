"""A judge that decides by years and whole words, and records its calls."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.evaluated import Stated
from pgclarify.model import Passage


class ByTheBook:
    """Readings are the same if they name the same year or else have the same answer. Implements Judge.

    Attributes:
        calls: What it was asked, by method and number.
    """

    needs_answers = True
    unjudged = None

    name = "by the book"
    version = "1"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def for_case(self) -> ByTheBook:
        return self

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        self.calls.append(f"supports {len(claims)}")
        return [
            cover_exact_match(" ".join(passage.content for passage in passages), stated.answers)
            for stated, passages in claims
        ]

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        self.calls.append(f"matches {len(readings)} among {len(among)}")
        return [any(_is_same(one, other) for other in among) for one in readings]

    async def distinct(self, question: str, readings: Sequence[Stated]) -> list[int]:
        self.calls.append(f"distinct {len(readings)}")
        return [
            place for place, one in enumerate(readings) if not any(_is_same(one, other) for other in readings[:place])
        ]

    async def relevant(self, question: str, readings: Sequence[Stated]) -> list[bool]:
        self.calls.append(f"relevant {len(readings)}")
        return [(one.interpretation or "").startswith("Who") for one in readings]


def _is_same(one: Stated, other: Stated) -> bool:
    years = [re.findall(r"\d{4}", stated.interpretation or "") for stated in (one, other)]
    if all(years):
        return years[0] == years[1]
    return any(cover_exact_match(answer, other.answers) for answer in one.answers)
