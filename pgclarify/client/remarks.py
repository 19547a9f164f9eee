"""Sentences about readings and citations, for notebooks, commands and pages. Those about a run are made in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pgclarify.data.vocabulary import Level, Refusal

NOT_CURRENT = "not current: the document has changed since, or you may not read it"
"""Said of a citation whose quote is not in the document."""
_CONTESTED = "another reading contradicts it"
_HIDDEN = {True: "is hidden", False: "are hidden"}
_MEANINGS = {str(one): one.meaning for one in Refusal}


def counted(number: int, noun: str) -> str:
    """Return `1 document`, `2 documents`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def support(reading: Mapping[str, Any], documents: int) -> str:
    """Say how well a reading is supported, what contests it, why a check doubts it, and whether it is unsure.

    This is the one place that says what the columns of a reading mean: notebooks, commands and pages show it.

    Args:
        reading: Its columns by name; an earlier server does not send all of them.
        documents: How many documents it cites.
    """
    texts = reading["support"]
    told = counted(texts, "document")
    if documents > texts:
        # Copies of one text count once.
        told = f"{counted(texts, 'text')} in {counted(documents, 'document')}"
    parts = [f"supported by {told}"]
    if reading.get("level") == Level.ALL:
        parts.append("less sure")
    if older := reading.get("older_hidden"):
        parts.append(f"{counted(older, 'older reading')} with another answer {_HIDDEN[older == 1]}")
    elif reading["is_contested"]:
        parts.append(_CONTESTED)
    if doubt := reading.get("doubt"):
        # A newer server may send another word.
        parts.append(f"a check doubts it: {_MEANINGS.get(doubt, doubt)}")
    return "; ".join(parts)


def day(dated: datetime | str) -> str:
    """Return the day of a document, in UTC, from a record or from JSON."""
    time = datetime.fromisoformat(dated) if isinstance(dated, str) else dated
    return time.astimezone(UTC).date().isoformat()


def title_of_passage(title: str | None, heading: str | None) -> str | None:
    """Return title and headings of a passage, as function title_of_passage does in SQL; None if there is neither."""
    if title and heading and (heading == title or heading.startswith(f"{title} > ")):
        return heading
    return " > ".join(filter(None, (title, heading))) or None
