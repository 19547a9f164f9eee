"""Writes a tree as text, in which headings, lists and code are Markdown, and finds its places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pgclarify.ingest.grids import Columns, table_lines
from pgclarify.ingest.parsed import Parsed, Section, joined
from pgclarify.ingest.tree import (
    Block,
    Code,
    Heading,
    Item,
    Items,
    Note,
    Paragraph,
    Quote,
    Rule,
    Table,
    Term,
    Terms,
    Tree,
)
from pgclarify.language.foreign_text import storable

# Of lists in lists.
_BULLETS: Final = "*+-"
_MOST_TITLE_CHARS: Final = 80
# A sentence, number or price.
_NEW_SENTENCE: Final = re.compile(r"\s+(?:[$€£¥]?\d|[A-ZÀ-ÖØ-Þ][\w'’]*\s)")  # noqa: RUF001
_TICKS: Final = re.compile("`{3,}")


def write(tree: Tree) -> Parsed:
    """Write a document with its places."""
    writer = Writer()
    content, places = joined(Section(writer.text(part.blocks), part.kind, part.name) for part in tree.parts)
    return Parsed(tree.title, content, tree.metadata, places, tree.unread)


class Writer:
    """Writes the parts of a document, one after the other: a table may go on in the next part.

    Args:
        marks_quotes: Whether lines of quotations begin with ">".
    """

    def __init__(self, *, marks_quotes: bool = False) -> None:
        # Of the last table of the part before, and of the last one.
        self._above: Columns | None = None
        self._columns: Columns | None = None
        self._marks_quotes = marks_quotes

    def text(self, blocks: Sequence[Block]) -> str:
        """Write the blocks of a part."""
        self._above = self._columns
        return storable(self._joined(blocks, 0))

    def _joined(self, blocks: Sequence[Block], bullets: int, *, in_item: bool = False) -> str:
        """Write blocks that stand in so many lists with bullets.

        Between them is an empty line; a list in an item goes on directly below a line of that item.
        """
        text = ""
        before: Block | None = None
        for block in blocks:
            told = self._written(block, bullets)
            if not told:
                continue
            if before is not None:
                is_tight = in_item and isinstance(block, Items) and isinstance(before, Paragraph) and before.is_line
                text += "\n" if is_tight else "\n\n"
            text += told
            before = block
        return text

    def _written(self, block: Block, bullets: int) -> str:
        match block:
            case Heading(level, text):
                return f"{'#' * level} {text}" if text else ""
            case Paragraph(text, lead):
                return f"{lead}\n\n{text.removeprefix(lead).lstrip()}" if _is_title(lead, text) else text
            case Code(text):
                longest = max(_TICKS.findall(text), key=len, default="``")
                return f"{longest}`\n{text}\n{longest}`" if text else ""
            case Rule():
                return "---"
            case Items(items):
                return "\n".join(filter(None, (self._item(item, bullets) for item in items)))
            case Terms(terms):
                return "\n\n".join(self._term(term, bullets) for term in terms)
            case Table():
                return self._table(block)
            case Quote(blocks):
                text = self._joined(blocks, bullets)
                return _indented(text, "> ", "> ") if self._marks_quotes else text
            case Note(mark, blocks):
                return f"{mark} {self._joined(blocks, bullets)}".strip()

    def _item(self, item: Item, bullets: int) -> str:
        if item.mark:
            return _indented(self._joined(item.blocks, bullets, in_item=True), f"{item.mark} ")
        bullet = _BULLETS[bullets % len(_BULLETS)]
        return _indented(self._joined(item.blocks, bullets + 1, in_item=True), f"{bullet} ")

    def _term(self, term: Term, bullets: int) -> str:
        meanings = (_indented(self._joined(blocks, bullets), ":   ") for blocks in term.meanings)
        return "\n".join(filter(None, [term.text, *meanings]))

    def _table(self, table: Table) -> str:
        before = self._above if table.is_drawn else None
        self._above = None
        lines, self._columns = table_lines(
            table.cells, header_rows=table.header_rows, is_drawn=table.is_drawn, before=before
        )
        return "\n".join(filter(None, [table.caption, *(line.text for line in lines)]))


def _is_title(lead: str, text: str) -> bool:
    """Whether the bold words that begin a paragraph are its title, and no part of its first sentence."""
    if len(lead) > _MOST_TITLE_CHARS or text == lead:
        return False
    if not lead.endswith("?") and (len(lead.split()) == 1 or not lead[-1:].isalnum()):
        return False
    return _NEW_SENTENCE.match(text.removeprefix(lead)) is not None


def _indented(text: str, mark: str, others: str = "") -> str:
    """Write a mark before the first line, and blanks or another mark before the others; nothing if there is no text."""
    below = others or " " * len(mark)
    lines = [f"{below}{line}" if line or others else "" for line in text.split("\n")]
    return mark + "\n".join(lines)[len(below) :] if text else ""
