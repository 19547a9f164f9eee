"""Cuts documents into the passages that are embedded and cited."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from semantic_text_splitter import MarkdownSplitter, TextSplitter
from tokenizers import Tokenizer

from pgclarify.errors import ConfigurationError
from pgclarify.ingest.headings import Heading, HeadingPaths, find_headings
from pgclarify.model import Chunk

# Tokens kept free for title and heading, which are embedded in front of the passage.
PREFACE_TOKENS = 32
# [CLS] and [SEP], or whatever a model puts around its input.
_SPECIAL_TOKENS = 2
# A passage of fewer tokens says too little to stand alone.
_SMALL_TOKENS = 16
# To WordPiece a word of over 100 characters is one token, so tokens alone do not bound the length of a passage.
# English has 4 to 5 characters a token.
_MAX_CHARS_PER_TOKEN = 16
_MEASURED_AT_ONCE = 256
# A part is what one step of a long document cuts, embeds and stores. The time to cut grows faster than the text.
PART_CHARS = 64_000
PART_CHUNKS = 256
# Documents whose headings are remembered: to find those of ten million characters takes seconds, for each part.
_REMEMBERED_DOCUMENTS = 4


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of the document, with its length in tokens."""

    start: int
    end: int
    tokens: int


class Chunker:
    """Cuts documents along their Markdown structure into chunks that fit an embedding model.

    Every heading starts a chunk: a passage gets one verdict, so two sections in one would cost a reading. A section
    that does not fit is cut at the highest boundary that does: block, sentence, word. Chunks do not overlap, and
    together they hold every character of the document but white space between them. They are cut part by part.

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
                detail=f"It reads {max_tokens} tokens; {PREFACE_TOKENS} of them are kept for title and heading.",
                hint="Choose an embedding model that reads at least 64 tokens.",
            )
        self._splitter = MarkdownSplitter.from_huggingface_tokenizer(tokenizer, self._capacity)
        self._char_splitter = TextSplitter(self._capacity * _MAX_CHARS_PER_TOKEN)
        self._remembered: OrderedDict[bytes, tuple[list[Heading], HeadingPaths]] = OrderedDict()

    @cached_property
    def _half_splitter(self) -> MarkdownSplitter:
        return MarkdownSplitter.from_huggingface_tokenizer(self._tokenizer, self._capacity // 2)

    def split(self, content: str) -> list[Chunk]:
        """Cut a document into chunks.

        Args:
            content: Plain text or Markdown.

        Returns:
            Chunks in order; none if the content is white space only. chunk.content equals
            content[chunk.start_char:chunk.end_char].
        """
        chunks, next_start = self.split_part(content)
        while next_start is not None:
            part, next_start = self.split_part(content, next_start, ordinal=len(chunks) + 1)
            chunks += part
        return chunks

    def split_part(self, content: str, start: int = 0, *, ordinal: int = 1) -> tuple[list[Chunk], int | None]:
        """Cut the next part of a document into at most 256 chunks, which depend on nothing but the document.

        Args:
            content: The whole document.
            start: 0, or where the part before says that the next one starts.
            ordinal: Of the part's first chunk.

        Returns:
            Chunks in order, none if the part is white space only; and where the next part starts, None if this is the
            last one.
        """
        headings, paths = self._headings(content)
        end = _part_end(content, start, headings)
        spans = self._join_small(content, self._split_spans(content, start, end, headings), headings)
        next_start = end if end < len(content) else None
        if len(spans) > PART_CHUNKS:
            next_start = spans[PART_CHUNKS].start
            spans = spans[:PART_CHUNKS]
        chunks = [
            Chunk(
                ordinal=number,
                # A title right above the first section stands above its text, too.
                heading=paths.at(min(_text_start(content, span, headings), span.end - 1)),
                content=content[span.start : span.end],
                start_char=span.start,
                end_char=span.end,
            )
            for number, span in enumerate(spans, start=ordinal)
        ]
        return chunks, next_start

    def _headings(self, content: str) -> tuple[list[Heading], HeadingPaths]:
        """The headings of a document; those of the last long ones are remembered."""
        if len(content) <= PART_CHARS:
            headings = find_headings(content)
            return headings, HeadingPaths(headings)
        key = hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()
        found = self._remembered.pop(key, None)
        if found is None:
            headings = find_headings(content)
            found = headings, HeadingPaths(headings)
        self._remembered[key] = found
        while len(self._remembered) > _REMEMBERED_DOCUMENTS:
            self._remembered.popitem(last=False)
        return found

    def embedding_text(self, title: str | None, heading: str | None, content: str) -> str:
        """Render what is embedded for a passage: title, headings and content, a line each, what is empty left out.

        Title and headings together are cut to 32 tokens. Headings that repeat the title, as those of a Markdown file
        do, do not say it twice.
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
        """Cut at headings, and sections into spans within the capacity, by tokens and by characters."""
        first = bisect_right(headings, start, key=lambda heading: heading.start_char)
        last = bisect_left(headings, end, key=lambda heading: heading.start_char)
        bounds = [start, *(heading.start_char for heading in headings[first:last]), end]
        pieces: list[tuple[int, str]] = []
        for section_start, section_end in pairwise(bounds):
            for offset, text in self._splitter.chunk_indices(content[section_start:section_end]):
                piece = section_start + offset
                if len(text) <= self._capacity * _MAX_CHARS_PER_TOKEN:
                    pieces.append((piece, text))
                else:
                    pieces.extend((piece + offset, part) for offset, part in self._char_splitter.chunk_indices(text))
        return self._measured(pieces)

    def _join_small(self, content: str, spans: list[_Span], headings: list[Heading]) -> list[_Span]:
        """Join spans that say too little, such as a heading alone, with a neighbor.

        A heading belongs to what follows; a short text to its own section rather than to the next one.
        """
        joined: list[_Span] = []
        remaining = spans[::-1]
        while remaining:
            span = remaining.pop()
            is_heading_alone = _is_heading_alone(content, span, headings)
            if not is_heading_alone and span.tokens >= _SMALL_TOKENS:
                joined.append(span)
                continue
            following = remaining[-1] if remaining else None
            with_previous = self._union(content, joined[-1], span) if joined else None
            with_following = self._union(content, span, following) if following else None
            belongs_to_previous = not is_heading_alone and following is not None and _heads(following, headings)
            if with_previous and (belongs_to_previous or not with_following):
                joined[-1] = with_previous
            elif with_following:
                remaining[-1] = with_following
            else:
                joined.append(span)
                if is_heading_alone and following and following.tokens > self._capacity // 2:
                    # What follows is full: halve it, and the first half has room.
                    remaining.pop()
                    halves = self._halves(content, following)
                    remaining.extend(halves[::-1])
                    if union := self._union(content, span, halves[0]):
                        joined.pop()
                        remaining[-1] = union
        return joined

    def _halves(self, content: str, span: _Span) -> list[_Span]:
        """Cut a span into parts of half the capacity at most."""
        parts = self._half_splitter.chunk_indices(content[span.start : span.end])
        return self._measured([(span.start + offset, text) for offset, text in parts])

    def _union(self, content: str, first: _Span, second: _Span) -> _Span | None:
        """Both spans and what is between them; None if that is over the capacity."""
        if first.tokens + second.tokens > self._capacity:
            return None
        text = content[first.start : second.end]
        union = self._measured([(first.start, text)])[0]
        fits = union.tokens <= self._capacity and len(text) <= self._capacity * _MAX_CHARS_PER_TOKEN
        return union if fits else None

    def _measured(self, pieces: list[tuple[int, str]]) -> list[_Span]:
        spans: list[_Span] = []
        # A few at a time: what the tokenizer says of a text takes many times the room of the text.
        for first in range(0, len(pieces), _MEASURED_AT_ONCE):
            batch = pieces[first : first + _MEASURED_AT_ONCE]
            encodings = self._tokenizer.encode_batch([text for _, text in batch], add_special_tokens=False)
            spans.extend(
                _Span(start, start + len(text), len(encoding))
                for (start, text), encoding in zip(batch, encodings, strict=True)
            )
        return spans


def _part_end(content: str, start: int, headings: list[Heading]) -> int:
    """Where the part of a document ends that starts somewhere: before a heading if it can, else between paragraphs."""
    limit, least = start + PART_CHARS, start + PART_CHARS // 2
    if limit >= len(content):
        return len(content)
    for position in range(bisect_right(headings, limit, key=lambda heading: heading.start_char) - 1, 0, -1):
        heading = headings[position]
        if heading.start_char < least:
            break
        # A heading right above another one stays with it.
        if content[headings[position - 1].end_char : heading.start_char].strip():
            return heading.start_char
    for boundary in ("\n\n", "\n", " "):
        end = content.rfind(boundary, least, limit)
        if end >= 0:
            return end + len(boundary)
    return limit


def _heads(span: _Span, headings: list[Heading]) -> bool:
    """Whether a span starts with a heading."""
    index = bisect_right(headings, span.start, key=lambda heading: heading.start_char) - 1
    # The span may start after the indentation of the heading's line, but not after the line.
    return index >= 0 and span.start < headings[index].end_char


def _is_heading_alone(content: str, span: _Span, headings: list[Heading]) -> bool:
    """Whether a span holds headings and nothing else."""
    return _heads(span, headings) and not content[_text_start(content, span, headings) : span.end].strip()


def _text_start(content: str, span: _Span, headings: list[Heading]) -> int:
    """Where the text of a span starts, after the headings that it starts with."""
    if not _heads(span, headings):
        return span.start
    index = bisect_right(headings, span.start, key=lambda heading: heading.start_char)
    start = headings[index - 1].end_char
    for position in range(index, len(headings)):
        heading = headings[position]
        if start >= span.end or content[start : heading.start_char].strip():
            break
        start = heading.end_char
    return start
