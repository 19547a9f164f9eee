"""What a parser makes of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pgclarify.language.normalization import normalized


class Unreadable(Exception):
    """A file cannot be read. Who reads it knows its name, and its reader why.

    Args:
        detail: Whole sentences: the facts.
        hint: Whole sentences: what to do.
    """

    def __init__(self, detail: str, hint: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of a document begins.

    Attributes:
        start_char: Offset in the document's content, from 0.
        kind: A PlaceKind.
        name: As people say it: "page 7", "sheet Prices, row 12".
    """

    start_char: int
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """One document of a file.

    Attributes:
        title: Its title, if the file has one.
        content: Its text; empty if it has none, or only members.
        metadata: Any JSON object.
        places: Where its pages, slides, sheets or rows begin, in order.
        unread: What the file has and the text does not: each kind with its number.
        member: Path of an attachment, or of a member of an archive; empty for the file itself.
    """

    title: str | None
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    member: str = ""

    @classmethod
    def of(
        cls,
        title: str | None,
        sections: Iterable[Section],
        unread: Mapping[str, int] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Parsed:
        """Join the parts of a document."""
        content, places = joined(sections)
        left = {kind: number for kind, number in (unread or {}).items() if number}
        return cls(" ".join((title or "").split()) or None, content, metadata or {}, places, left)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text, with its place if it has one. Parts are joined with an empty line, or the given separator."""

    text: str
    kind: str = ""
    name: str = ""
    separator: str = "\n\n"


def joined(sections: Iterable[Section]) -> tuple[str, tuple[Place, ...]]:
    """Normalize parts and join them to one text, without empty ones; return it with the places."""
    parts: list[str] = []
    places: list[Place] = []
    chars = 0
    for section in sections:
        text = normalized(section.text)
        if not text:
            continue
        if parts:
            parts.append(section.separator)
            chars += len(section.separator)
        if section.kind:
            places.append(Place(chars, section.kind, section.name))
        parts.append(text)
        chars += len(text)
    return "".join(parts), tuple(places)
