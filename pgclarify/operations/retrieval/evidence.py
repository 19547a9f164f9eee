"""Renders passages for a model, with titles and headings, within a limit of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage

# Characters of a token, about as in English.
_TOKEN_CHARS = 4


def passage_text(passage: Passage) -> str:
    """Render a passage: title, headings and content, one line each, without empty or repeated lines."""
    title, heading = (passage.title or "").strip(), (passage.heading or "").strip()
    preface = (title, "" if heading == title else heading.removeprefix(f"{title} > "))
    return "\n".join((*filter(None, preface), passage.content))


def cut_evidence(candidates: Sequence[Candidate], tokens: int) -> list[Candidate]:
    """Keep the candidates that fit a budget.

    The first candidates that fit are kept whole, with title and headings; the list ends at the first that does not fit.
    Only the very first is always kept; its content is cut if necessary, but its title and headings are not.

    Args:
        candidates: By rank.
        tokens: The budget, from 1; a token is four characters.
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
