"""Numbers in sentences of our own."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return `1 document`, `2 documents`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"
