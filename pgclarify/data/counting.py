"""Numbers in sentences of our own."""

from __future__ import annotations

import re

# Before what belongs to a noun, or at its end.
_END_OF_NOUN = re.compile(r"(?= (?:without|with|in|out|of|to|at)\b| \(|$)")


def counted(number: int, noun: str) -> str:
    """Return `1 document`, `2 documents`, `2 pages without text`, `2 members (.png)`."""
    return f"{number:,} {noun if number == 1 else _END_OF_NOUN.sub('s', noun, count=1)}"
