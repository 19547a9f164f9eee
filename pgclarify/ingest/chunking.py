"""Cuts documents into the passages that are embedded and cited."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from semantic_text_splitter import MarkdownSplitter, TextSplitter
from tokenizers import Tokenizer

from pgclarify.data.documents import Chunk
from pgclarify.errors import ConfigurationError
from pgclarify.ingest.headings import MAX_HEADING_CHARS, Heading, HeadingPaths, find_headings
from pgclarify.ingest.wrapping import LIST_ITEM, without_wraps

# Tokens reserved for title and headings, which are embedded in front of the passage.
PREFACE_TOKENS = 32
# [CLS] and [SEP], or another model's special tokens.
_SPECIAL_TOKENS = 2
# A passage of fewer tokens does not stand alone.
_SMALL_TOKENS = 16
# WordPiece makes one token of a word of over 100 characters, so tokens alone do not limit the length of a passage.
# English has 4 to 5 characters a token.
_MAX_CHARS_PER_TOKEN = 16
_MEASURED_AT_ONCE = 256
# A long document is cut part by part, because cutting takes more than linear time.
_PART_CHARS = 64_000
# So far up, the beginning of a list is looked for.
_MAX_LIST_CHARS = 20_000
# A title without marks, such as "2.1. Grants" or a question, is a line of its own, at the end of a text or above one.
_TITLE = r"[ \t]*(?!\d{1,9}[.)][ \t])([^\W_][^\n|]{0,78}(?:[^\W_]|\?))[ \t]*"
_TITLE_AT_END = re.compile(rf"\n[ \t\r]*\n{_TITLE}\Z")
_TITLE_ABOVE = rf"{_TITLE}\r?\n(?:[ \t\r]*\n|(:)[ \t])"
_TITLE_AT_START = re.compile(_TITLE_ABOVE)
_TITLE_WITHIN = re.compile(rf"\n[ \t\r]*\n{_TITLE_ABOVE}")
# Another term, or a paragraph that is no part of the definition.
_AFTER_DEFINITION = re.compile(r"\n[^\s:][^\n]*\n:[ \t]|\n[ \t\r]*\n[^\s:]")
_ITEM_MARK = re.compile(r"\A(?:[-*+]|\d{1,9}[.)])[ \t]+")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of the document, and its length in tokens."""

    start: int
    end: int
    tokens: int


class _Cutter:
    """Cuts a text at blocks of Markdown; a block that is too long at lines, else at sentences, else at words.

    Lines that were wrapped at a fixed width are no places to cut.

    Args:
        tokenizer: Counts tokens.
        capacity: Most tokens of a piece.
    """

    def __init__(self, tokenizer: Tokenizer, capacity: int) -> None:
        self._blocks = MarkdownSplitter.from_huggingface_tokenizer(tokenizer, capacity)
        self._lines = TextSplitter.from_huggingface_tokenizer(tokenizer, capacity)

    def cut(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the place and the text of each piece; white space between pieces is left out."""
        text = without_wraps(text)
        for first, *others in self._between_lines(text):
            if others:
                start, (last, piece) = first[0], others[-1]
                parts = self._lines.chunk_indices(text[start : last + len(piece)])
                yield from ((start + place, part) for place, part in parts)
            else:
                yield first

    def _between_lines(self, text: str) -> Iterator[list[tuple[int, str]]]:
        """Yield the pieces of blocks; those together that no end of a line separates.

        For Markdown, marks such as `*`, quotation marks and apostrophes are better places to cut than the ends of
        lines and sentences, so that rows of tables would be cut, and even words.
        """
        together: list[tuple[int, str]] = []
        end = 0
        for place, piece in self._blocks.chunk_indices(text):
            if together and "\n" in text[end:place]:
                yield together
                together = []
            together.append((place, piece))
            end = place + len(piece)
        if together:
            yield together


class Chunker:
    """Cuts documents along their Markdown structure into chunks that fit an embedding model.

    Every heading starts a chunk: a passage gets one verdict, so two sections in one passage would lose a reading. A
    section that is too long is cut at the highest possible boundary: block, sentence, word. Chunks do not overlap.
    Together they contain every character of the document, except white space between them.

    Args:
        tokenizer: The model's tokenizer, without truncation or padding.
        max_tokens: Longest input of the model in tokens, special tokens included.

    Raises:
        ConfigurationError: If max_tokens leaves no room for a passage.
    """

    def __init__(self, tokenizer: Tokenizer, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._capacity = max_tokens - _SPECIAL_TOKENS - PREFACE_TOKENS
        if self._capacity < _SMALL_TOKENS:
            raise ConfigurationError(
                "the embedding model reads too few tokens",
                detail=f"It reads {max_tokens} tokens; {PREFACE_TOKENS} of them are reserved for title and headings.",
                hint="Choose an embedding model that reads at least 64 tokens.",
            )
        self._cutter = _Cutter(tokenizer, self._capacity)
        self._most_chars = self._capacity * _MAX_CHARS_PER_TOKEN
        self._char_splitter = TextSplitter(self._most_chars)

    @cached_property
    def _half_cutter(self) -> _Cutter:
        return _Cutter(self._tokenizer, self._capacity // 2)

    def split(self, content: str) -> list[Chunk]:
        """Cut a document into chunks.

        Args:
            content: Plain text or Markdown.

        Returns:
            Chunks in order; none if the content is only white space. chunk.content equals
            content[chunk.start_char:chunk.end_char].
        """
        return [chunk for part in self.split_parts(content) for chunk in part]

    def split_parts(self, content: str) -> Iterator[list[Chunk]]:
        """Cut a document as `split` does, and yield the chunks of one part after the other.

        Args:
            content: Plain text or Markdown.
        """
        headings = find_headings(content)
        paths = HeadingPaths(headings)
        start, ordinal = 0, 1
        while start < len(content):
            end = _part_end(content, start, headings)
            spans = self._split_spans(content, start, end, headings)
            # What is left when a lead-in is moved may be small, so small spans are joined again.
            for improve in (self._with_headings, self._join_small, self._with_lead_ins, self._join_small):
                spans = improve(content, spans, headings)
            yield [
                Chunk(
                    ordinal=number,
                    # If a title is directly above the first section, it is a heading of that section, too.
                    heading=_below(
                        paths.at(min(_text_start(content, span, headings), span.end - 1)),
                        lead_in(content, span.start, span.end) or _title_of(content[span.start : span.end]),
                    ),
                    content=content[span.start : span.end],
                    start_char=span.start,
                    end_char=span.end,
                )
                for number, span in enumerate(spans, start=ordinal)
            ]
            start, ordinal = end, ordinal + len(spans)

    def embedding_text(self, title: str | None, heading: str | None, content: str) -> str:
        """Return the text that is embedded for a passage: title, headings and content, one line each.

        Empty lines are left out. Title and headings together are cut to 32 tokens. A heading that repeats the title,
        as in Markdown files, is left out.
        """
        title = (title or "").strip()
        heading = (heading or "").strip()
        if heading == title:
            heading = ""
        elif title:
            heading = heading.removeprefix(f"{title} > ")
        preface = "\n".join(part for part in (title, heading) if part)
        encoding = self._tokenizer.encode(preface, add_special_tokens=False)
        if len(encoding) > PREFACE_TOKENS:
            preface = preface[: encoding.offsets[PREFACE_TOKENS - 1][1]]
        return f"{preface}\n{content}" if preface else content

    def _split_spans(self, content: str, start: int, end: int, headings: list[Heading]) -> list[_Span]:
        """Cut at headings, and cut sections into spans within the limits of tokens and characters."""
        starts = [place for place in map(_start_of, headings) if start < place < end]
        bounds = [start, *starts, end]
        pieces: list[tuple[int, str]] = []
        for section_start, section_end in pairwise(bounds):
            for offset, text in self._cutter.cut(content[section_start:section_end]):
                piece = section_start + offset
                text = content[piece : piece + len(text)]
                parts = self._char_splitter.chunk_indices(text) if len(text) > self._most_chars else [(0, text)]
                pieces.extend((piece + offset, part) for offset, part in parts)
        return self._measured(pieces)

    def _with_headings(self, content: str, spans: list[_Span], headings: list[Heading]) -> list[_Span]:
        """Join a span that has only headings with the text below it, whose second half stands alone if need be."""
        joined: list[_Span] = []
        for span in reversed(spans):
            following = joined[-1] if joined else None
            if following and _is_heading_alone(content, span, headings):
                if union := self._union(content, span, following):
                    joined[-1] = union
                    continue
                first, *rest = self._halves(content, following)
                if union := self._union(content, span, first):
                    joined[-1:] = [*rest[::-1], union]
                    continue
            joined.append(span)
        return joined[::-1]

    def _join_small(self, content: str, spans: list[_Span], headings: list[Heading]) -> list[_Span]:
        """Join a span that is too short to stand alone with its own section, not with the next one if that can be."""
        joined: list[_Span] = []
        remaining = spans[::-1]
        while remaining:
            span = remaining.pop()
            if span.tokens >= _SMALL_TOKENS:
                joined.append(span)
                continue
            following = remaining[-1] if remaining else None
            with_previous = self._union(content, joined[-1], span) if joined else None
            with_following = self._union(content, span, following) if following else None
            belongs_to_previous = following is not None and _heads(following, headings)
            if with_previous and (belongs_to_previous or not with_following):
                joined[-1] = with_previous
            elif with_following:
                remaining[-1] = with_following
            else:
                joined.append(span)
        return joined

    def _with_lead_ins(self, content: str, spans: list[_Span], headings: list[Heading]) -> list[_Span]:
        """Move words such as "You need:" and titles without marks to the span of what they lead in."""
        moved: list[_Span] = []
        for span in spans:
            before = moved[-1] if moved else None
            if before and not _heads(span, headings):
                text = content[before.start : before.end].rstrip()
                if text.endswith(":") or _TITLE_AT_END.search(text):
                    *_, start = 0, *(found.end() for found in _PARAGRAPH_END.finditer(text))
                    above = (before.start, text[:start].rstrip())
                    left = [above, (before.start + start, text[start:])]
                    rest, words = self._measured(left)
                    # What would be left cannot stand alone.
                    if rest.tokens < _SMALL_TOKENS or _is_heading_alone(content, rest, headings):
                        rest, words = _Span(0, 0, 0), before
                    parts = [span] if self._union(content, words, span) else self._halves(content, span)
                    if whole := self._union(content, words, parts[0]):
                        moved[-1:] = [rest] if rest.tokens else []
                        moved.append(whole)
                        moved.extend(parts[1:])
                        continue
            moved.append(span)
        return moved

    def _halves(self, content: str, span: _Span) -> list[_Span]:
        """Cut a span into parts of at most half the limit."""
        halves: list[tuple[int, str]] = []
        text = content[span.start : span.end]
        for offset, part in self._half_cutter.cut(text):
            place = span.start + offset
            halves.append((place, part))
        return self._measured(halves)

    def _union(self, content: str, first: _Span, second: _Span) -> _Span | None:
        """Return one span for both and the text between them; None if it exceeds the limit."""
        chars = second.end - first.start
        if first.tokens + second.tokens > self._capacity or chars > self._most_chars:
            return None
        text = content[first.start : second.end]
        (union,) = self._measured([(first.start, text)])
        if union.tokens > self._capacity:
            return None
        return union

    def _measured(self, pieces: list[tuple[int, str]]) -> list[_Span]:
        spans: list[_Span] = []
        # A few at a time, because the tokenizer's output needs many times the memory of the text.
        for first in range(0, len(pieces), _MEASURED_AT_ONCE):
            batch = pieces[first : first + _MEASURED_AT_ONCE]
            encodings = self._tokenizer.encode_batch([text for _, text in batch], add_special_tokens=False)
            spans.extend(
                _Span(start, start + len(text), len(encoding))
                for (start, text), encoding in zip(batch, encodings, strict=True)
            )
        return spans


def lead_in(content: str, start: int, end: int) -> str | None:
    """Return the words above a list, such as "You need:", for a passage that begins inside of the list.

    In a list that stands in an item, these are the words of that item. None elsewhere, and if they are longer than a
    heading may be, because each passage of the list stores them.
    """
    line = _line_start(content, start)
    if not LIST_ITEM.match(content, line):
        return None
    # The passage may go on with items around this one.
    lines = content[line:end].splitlines()
    depth = min(_depth(one) for one in lines if one.strip())
    searched = max(0, line - _MAX_LIST_CHARS)
    for above in reversed(content[searched:line].splitlines()):
        words = above.strip()
        is_item = LIST_ITEM.match(above) is not None
        if not words or _depth(above) >= depth > 0 or (is_item and _depth(above) == depth):
            continue
        if is_item and words.endswith(":"):
            words = _ITEM_MARK.sub("", words)
        elif is_item or above.startswith((" ", "\t")):
            depth = min(depth, _depth(above))
            continue
        if words.startswith("#") or len(words) > MAX_HEADING_CHARS:
            return None
        return words if words.endswith(":") else None
    return None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _title_of(text: str) -> str | None:
    """Return the title at the start of a passage, if all of the passage stands below it."""
    title = _TITLE_AT_START.match(text)
    if title is None or _TITLE_WITHIN.search(text, title.end(1)):
        return None
    line, definition = title.groups()
    if definition:
        return None if _AFTER_DEFINITION.search(text, title.end()) else line
    # A line in small letters is rarely a title.
    return None if line[0].islower() else line


def _start_of(heading: Heading) -> int:
    return heading.start_char


def _line_start(content: str, offset: int) -> int:
    return content.rfind("\n", 0, offset) + 1


def _below(heading: str | None, words: str | None) -> str | None:
    if heading and words:
        return f"{heading} > {words}"
    return heading or words


def _part_end(content: str, start: int, headings: list[Heading]) -> int:
    """Return where a part ends: before a heading if possible, else between paragraphs."""
    limit, least = start + _PART_CHARS, start + _PART_CHARS // 2
    if limit >= len(content):
        return len(content)
    for above, heading in reversed(list(pairwise(headings))):
        if not least <= heading.start_char <= limit:
            continue
        # A heading directly above another one stays with it.
        if content[above.end_char : heading.start_char].strip():
            return heading.start_char
    for boundary in ("\n\n", "\n", " "):
        end = content.rfind(boundary, least, limit)
        if end >= 0:
            return end + len(boundary)
    return limit


def _heads(span: _Span, headings: list[Heading]) -> bool:
    """Whether a span starts with a heading."""
    above = bisect_right(headings, span.start, key=_start_of)
    if above == 0:
        return False
    # The span may start after the indentation of the heading's line, but not after that line.
    return span.start < headings[above - 1].end_char


def _is_heading_alone(content: str, span: _Span, headings: list[Heading]) -> bool:
    """Whether a span has only headings."""
    start = _text_start(content, span, headings)
    if start == span.start:
        return False
    return not content[start : span.end].strip()


def _text_start(content: str, span: _Span, headings: list[Heading]) -> int:
    """Return where the text of a span starts, after the headings at its start."""
    if not _heads(span, headings):
        return span.start
    following = bisect_right(headings, span.start, key=_start_of)
    start = headings[following - 1].end_char
    for position in range(following, len(headings)):
        heading = headings[position]
        if start >= span.end or content[start : heading.start_char].strip():
            break
        start = heading.end_char
    return start
