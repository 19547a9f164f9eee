"""Blocks of code between fences, as in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_OPENING = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_UNDERLINES_DIFFER = 2


def are_code(lines: Iterable[str]) -> Iterator[bool]:
    """Tell of each line whether it is a fence, or stands between fences.

    Only a line of the same marks, and of no fewer, closes a block of code, which may show how to write one.
    """
    opened, before = "", ""
    for line in lines:
        marks = line.strip()
        if opened:
            yield True
            if marks == opened[0] * max(len(opened), len(marks)):
                opened = ""
        else:
            fence = None if _underlines(marks, before) else _OPENING.match(line)
            opened = fence[1] if fence else ""
            yield bool(fence)
        before = marks


def _underlines(marks: str, title: str) -> bool:
    """Return whether a line of tildes is as long as the text above it, so that it makes that a title."""
    return bool(title) and set(marks) == {"~"} and abs(len(marks) - len(title)) <= _UNDERLINES_DIFFER
