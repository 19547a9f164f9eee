"""How readings relate, whatever their language."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias


class Relation(IntEnum):
    """What the words of two readings say about each other."""

    CONFLICT = -1
    UNKNOWN = 0
    AGREE = 1


@dataclass(frozen=True, slots=True)
class Side:
    """Readings that a reply leaves.

    Attributes:
        label: Words that all of them have, and no other reading; None if there are none.
        readings: Their places, ascending.
    """

    label: str | None
    readings: tuple[int, ...]


Sides: TypeAlias = tuple[Side, Side, float]
"""Two sides, and how many bits a reply that chooses between them tells."""
