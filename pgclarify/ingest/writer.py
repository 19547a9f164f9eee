"""Writes a tree as text, in which headings, lists and code are Markdown, and finds its places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pgclarify.ingest.grids import Columns, table_lines
from pgclarify.ingest.parsed import Parsed, Section, joined
from pgclarify.ingest.tree import Block, Code, Heading, Item, Items, Note, Paragraph, Quote, Rule, Table, Terms, Tree
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
        self._columns: Columns | None = None
        self._marks_quotes = marks_quotes

    def text(self, blocks: Sequence[Block]) -> str:
        """Write the blocks of a part."""
        is_first = True
        written: list[tuple[Block, str]] = []
        for block in blocks:
            if isinstance(block, Table):
                told = self._table(block, goes_on=is_first)
                is_first = False
            elif isinstance(block, Quote) and self._marks_quotes:
                inner = Writer(marks_quotes=True).text(block.blocks)
                told = "\n".join(f"> {line}" for line in inner.split("\n")) if inner else ""
            else:
                told = _written(block, 0)
            if told:
                written.append((block, told))
        return storable(_joined(written))

    def _table(self, table: Table, *, goes_on: bool) -> str:
        told, self._columns = _table_text(table, self._columns if goes_on and table.is_drawn else None)
        return told


def _table_text(table: Table, before: Columns | None = None) -> tuple[str, Columns | None]:
    lines, columns = table_lines(table.cells, header_rows=table.header_rows, is_drawn=table.is_drawn, before=before)
    return "\n".join(filter(None, [table.caption, *(line.text for line in lines)])), columns


def _text(blocks: Sequence[Block], bullets: int, *, in_item: bool = False) -> str:
    told = [(block, text) for block in blocks if (text := _written(block, bullets))]
    return _joined(told, in_item=in_item)


def _joined(written: Sequence[tuple[Block, str]], *, in_item: bool = False) -> str:
    """Join blocks with an empty line between them; a line of an item with a list in that item without one."""
    text = ""
    before: Block | None = None
    for block, told in written:
        is_tight = in_item and isinstance(before, Paragraph) and before.is_line and isinstance(block, Items)
        text += told if before is None else f"\n{told}" if is_tight else f"\n\n{told}"
        before = block
    return text


def _written(block: Block, bullets: int) -> str:
    """Write a block that stands in so many lists with bullets."""
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}" if text else ""
        case Paragraph(text, lead):
            return f"{lead}\n\n{text.removeprefix(lead).lstrip()}" if _is_title(lead, text) else text
        case Code(text):
            fence = max(["```", *(f"{ticks}`" for ticks in _TICKS.findall(text))], key=len)
            return f"{fence}\n{text}\n{fence}" if text else ""
        case Rule():
            return "---"
        case Items(items):
            return "\n".join(filter(None, (_item(item, bullets) for item in items)))
        case Terms(terms):
            return "\n\n".join("\n".join([term.text, *_meanings(term.meanings, bullets)]).strip() for term in terms)
        case Table():
            return _table_text(block)[0]
        case Quote(blocks):
            return _text(blocks, bullets)
        case Note(mark, blocks):
            return " ".join(filter(None, [mark, _text(blocks, bullets)]))


def _is_title(lead: str, text: str) -> bool:
    """Whether the bold words that begin a paragraph are its title, and no part of its first sentence."""
    rest = text.removeprefix(lead)
    has_words = lead.endswith("?") or (len(lead.split()) > 1 and lead[-1:].isalnum())
    return has_words and len(lead) <= _MOST_TITLE_CHARS and rest != text and _NEW_SENTENCE.match(rest) is not None


def _item(item: Item, bullets: int) -> str:
    text = _text(item.blocks, bullets + (not item.mark), in_item=True)
    return _indented(text, f"{item.mark or _BULLETS[bullets % len(_BULLETS)]} ") if text else ""


def _meanings(meanings: Sequence[Sequence[Block]], bullets: int) -> Iterator[str]:
    for blocks in meanings:
        if text := _text(blocks, bullets):
            yield _indented(text, ":   ")


def _indented(text: str, mark: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([mark + first, *(f"{' ' * len(mark)}{line}" if line else "" for line in others)])
