"""What a model reads of passages that were found: each with its title and headings, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgclarify.model import Candidate, Passage

# About as many as a token of English text has.
_TOKEN_CHARS = 4


def passage_text(passage: Passage) -> str:
    """Render a passage: title, headings and content, a line each, what is empty or said twice left out."""
    title, heading = (passage.title or "").strip(), (passage.heading or "").strip()
    preface = (title, "" if heading == title else heading.removeprefix(f"{title} > "))
    return "\n".join((*filter(None, preface), passage.content))


def cut_evidence(candidates: Sequence[Candidate], tokens: int) -> list[Candidate]:
    """Leave of some candidates what a budget has room for.

    The first ones that fit in, with title and headings, whole; the first that does not fit ends it. Only the very first
    is read in any case, its content as far as there is room, beside title and headings, which are never cut.

    Args:
        candidates: By rank.
        tokens: The budget, from 1, a token being four characters.
    """
    room = tokens * _TOKEN_CHARS
    kept: list[Candidate] = []
    for candidate in candidates:
        length = len(passage_text(candidate.passage))
        if length > room:
            break
        kept.append(candidate)
        room -= length
    if kept or not candidates:
        return kept
    first = candidates[0]
    return [replace(first, passage=replace(first.passage, content=first.passage.content[:room]))]


def split_evidence(candidates: Sequence[Candidate], tokens: int) -> list[list[Candidate]]:
    """Split candidates into windows that are read one after the other: all of them, by rank.

    A passage is in one window alone, whole if it fits in one. Of a longer one the beginning is read, in a window of its
    own.

    Args:
        candidates: By rank.
        tokens: The budget of a window, as in `cut_evidence`.

    Source: AmbigPrompt, §3.3, Equation 8, where each passage is a window.
    """
    windows: list[list[Candidate]] = []
    read = 0
    while read < len(candidates):
        windows.append(cut_evidence(candidates[read:], tokens))
        read += len(windows[-1])
    return windows
