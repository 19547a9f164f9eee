"""Sentences about readings and citations, for notebooks, commands and pages. Those about a run are made in SQL."""

from __future__ import annotations

from datetime import UTC, datetime

NOT_CURRENT = "not current: the document has changed since, or you may not read it"
"""Said of a citation whose quote is not in the document."""
_CONTESTED = "another reading contradicts it"


_HIDDEN = {True: "is hidden", False: "are hidden"}


def counted(number: int, noun: str) -> str:
    """Return `1 document`, `2 documents`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def support(documents: int, *, is_contested: bool, older_hidden: int | None = None) -> str:
    """Say how well a reading is supported, and what contests it."""
    parts = [f"supported by {counted(documents, 'document')}"]
    if older_hidden:
        parts.append(f"{counted(older_hidden, 'older reading')} with another answer {_HIDDEN[older_hidden == 1]}")
    elif is_contested:
        parts.append(_CONTESTED)
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
