"""Markdown files: tables become rows that name their columns; comments and front matter are no text."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pgclarify.ingest.grids import table_lines
from pgclarify.ingest.headings import FRONT_MATTER

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_KEY = re.compile(r"([\w-]+):[ \t]*(.+?)[ \t]*\r?")
_LINE_END = re.compile(r"\r\n?|\n")
# Block parsing only.
_BLOCKS = MarkdownIt("commonmark").enable("table")
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])


def read_markdown(text: str) -> tuple[str, dict[str, str]]:
    """Return the text that people see, and what the front matter says on single lines."""
    front_matter = FRONT_MATTER.match(text)
    metadata: dict[str, str] = {}
    if front_matter:
        said = filter(None, map(_KEY.fullmatch, front_matter[0].splitlines()))
        metadata = {key[1]: key[2].strip("\"'") for key in said}
        text = text[front_matter.end() :].lstrip("\r\n")
    if "|" not in text and "<!--" not in text:
        return text, metadata
    starts = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    pieces: list[str] = []
    end = 0
    tokens = _BLOCKS.parse(text)
    for position, token in enumerate(tokens):
        if token.map is None or token.type not in ("table_open", "fence", "code_block"):
            continue
        first, last = (starts[min(line, len(starts) - 1)] for line in token.map)
        if first < end:
            continue
        pieces.append(_COMMENT.sub("", text[end:first]))
        if token.type == "table_open" and token.level == 0:
            lines, _ = table_lines(_cells(tokens, position), header_rows=1)
            pieces.append("".join(f"{line.text}\n" for line in lines))
        else:
            pieces.append(text[first:last])
        end = last
    pieces.append(_COMMENT.sub("", text[end:]))
    return "".join(pieces).lstrip("\r\n"), metadata


def _cells(tokens: list[Token], start: int) -> list[list[str]]:
    rows: list[list[str]] = []
    for token in tokens[start:]:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(token.content)
    return rows
