"""The tree that all readers make of a file: headings, paragraphs, lists, tables, notes, quotations and code.

A reader of a format makes it, and `writer` makes text and places of it. Text inside a block is plain: links and
emphasis are gone, exponents and marks of notes are written as `marks` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, of level 1 to 6."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph.

    Attributes:
        text: Its text, with the ends of its lines.
        lead: The words in bold type that it begins with; empty if there are none, or if all of it is bold.
        is_line: Whether it is text beside other blocks, with no room of its own, as in a tight list.
    """

    text: str
    lead: str = ""
    is_line: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that are shown as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A line between two parts of a text."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list.

    Attributes:
        mark: Its number, such as "2." or "(a)"; empty for a bullet.
    """

    blocks: tuple[Block, ...]
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A term with what it means."""

    text: str
    meanings: tuple[tuple[Block, ...], ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """A list of terms."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        cells: The rows; a merged cell is repeated in all its places.
        caption: Its title; empty if it has none.
        header_rows: How many rows are headers; None to judge it by their cells.
        is_drawn: Whether it was found by its looks, so that no header is sure.
    """

    cells: tuple[tuple[str, ...], ...]
    caption: str = ""
    header_rows: int | None = None
    is_drawn: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """What someone else said."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A note below the text, with its mark."""

    mark: str
    blocks: tuple[Block, ...]


Block = Heading | Paragraph | Code | Rule | Items | Terms | Table | Quote | Note


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document.

    Attributes:
        kind: A PlaceKind; empty if it is no place.
        name: As people say it: "page 7".
    """

    blocks: tuple[Block, ...]
    kind: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """One document of a file.

    Attributes:
        title: Its title, if the file has one.
        metadata: Any JSON object.
        unread: What the file has and the tree does not: each kind with its number.
    """

    title: str | None
    parts: tuple[Part, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
