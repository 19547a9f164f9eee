"""Sentences about readings and citations, for notebooks, commands and pages. Those about a run are made in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pgclarify.data.counting import counted
from pgclarify.data.vocabulary import Level, Refusal

NOT_CURRENT = "not current: the document has changed since, or you may not read it"
"""Said of a citation whose quote is not in the document."""
_MEANINGS = {str(one): one.meaning for one in Refusal}


def support(reading: Mapping[str, Any], documents: int) -> str:
    """Say how well a reading is supported, what contests it, why a check doubts it, and whether it is unsure.

    This is the one place that says what the columns of a reading mean: notebooks, commands and pages show it.

    Args:
        reading: Its columns by name; an earlier server does not send all of them.
        documents: How many documents it cites.
    """
    texts = reading["support"]
    older = reading.get("older_hidden")
    doubt = reading.get("doubt")
    told = counted(texts, "document")
    if documents > texts:
        # Copies of one text count once.
        copies = counted(documents, "document")
        told = f"{counted(texts, 'text')} in {copies}"
    parts = [f"supported by {told}"]
    if reading.get("level") == Level.ALL:
        parts.append("less sure")
    if older:
        are = "is" if older == 1 else "are"
        parts.append(f"{counted(older, 'older reading')} with another answer {are} hidden")
    elif reading["is_contested"]:
        parts.append("another reading contradicts it")
    if doubt:
        # A newer server may send another word.
        meaning = _MEANINGS.get(doubt, doubt)
        parts.append(f"a check doubts it: {meaning}")
    return "; ".join(parts)


def day(dated: datetime | str) -> str:
    """Return the day of a document, in UTC, from a record or from JSON."""
    if isinstance(dated, str):
        dated = datetime.fromisoformat(dated)
    return dated.astimezone(UTC).date().isoformat()


def title_of_passage(title: str | None, heading: str | None) -> str:
    """Return title and headings of a passage, as function title_of_passage does in SQL; empty if there is neither."""
    if not title or not heading:
        return title or heading or ""
    if heading == title or heading.startswith(f"{title} > "):
        return heading
    return f"{title} > {heading}"
