"""How two readings relate, whatever their language."""

from __future__ import annotations

from enum import IntEnum


class Relation(IntEnum):
    """What the words of two readings say about each other."""

    CONFLICT = -1
    UNKNOWN = 0
    AGREE = 1
