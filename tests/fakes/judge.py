"""A judge of evaluations whose judgements a test sets."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from pgclarify.evaluated import Stated
from pgclarify.model import Passage


class FakeJudge:
    """Judges from lists. The key of a reading is its question, or its first answer if it has no question.

    Args:
        supported: Pairs of a reading and the content of a passage that supports it. Other pairs are not supported.
        matching: Pairs of readings that are the same, in either order. Equal readings are always the same.
        irrelevant: Texts that are not readings of the question. All others are.
        error: Raised instead of a judgement.

    Attributes:
        calls: The calls so far: the kind of judgement and its readings.
    """

    def __init__(
        self,
        *,
        supported: Collection[tuple[str, str]] = (),
        matching: Collection[tuple[str, str]] = (),
        irrelevant: Collection[str] = (),
        error: Exception | None = None,
    ) -> None:
        self.calls: list[tuple[str, list[str]]] = []
        self._supported = frozenset(supported)
        self._matching = frozenset(matching)
        self._irrelevant = frozenset(irrelevant)
        self._error = error

    @property
    def name(self) -> str:
        """Always fake."""
        return "fake"

    @property
    def version(self) -> str:
        """Always the same."""
        return "1"

    @property
    def needs_answers(self) -> bool:
        """True: it finds readings by their question."""
        return False

    @property
    def unjudged(self) -> None:
        """Always None, as of a judge that asks no model."""

    def for_case(self) -> FakeJudge:
        """Return itself."""
        return self

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Judge each reading with its passages."""
        readings = await self._ask("supports", [stated for stated, _ in claims])
        return [
            any((reading, passage.content) in self._supported for passage in passages)
            for reading, (_, passages) in zip(readings, claims, strict=True)
        ]

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """Judge each reading with the others."""
        said = await self._ask("matches", readings)
        return [any(self._is_same(reading, _said(other)) for other in among) for reading in said]

    async def distinct(self, question: str, readings: Sequence[Stated]) -> list[int]:
        """Leave out readings that are the same as a remaining one."""
        said = await self._ask("distinct", readings)
        remaining: list[int] = []
        for place, reading in enumerate(said):
            if not any(self._is_same(reading, said[other]) for other in remaining):
                remaining.append(place)
        return remaining

    async def relevant(self, question: str, readings: Sequence[Stated]) -> list[bool]:
        """Judge each reading."""
        return [reading not in self._irrelevant for reading in await self._ask("relevant", readings)]

    async def _ask(self, judgement: str, readings: Sequence[Stated]) -> list[str]:
        said = [_said(stated) for stated in readings]
        self.calls.append((judgement, said))
        # A real model lets other tasks run here.
        await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        return said

    def _is_same(self, one: str, other: str) -> bool:
        return one == other or not self._matching.isdisjoint({(one, other), (other, one)})


def _said(stated: Stated) -> str:
    return stated.interpretation if stated.interpretation is not None else stated.answers[0]
