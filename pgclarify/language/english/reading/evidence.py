"""Pieces of a passage that can be quoted: sentences, and lists with the sentence that introduces them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pgclarify.language.sentences import MAX_SENTENCE_CHARS, Kind, Sentence, split_sentences

_LABEL = re.compile(r"(?:A|Answer)\s?\d{0,3}[:.]\s+(?=\S)")
_AND_MORE = "…"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim slice of a passage.

    Attributes:
        text: Exactly passage[start:end].
        start: Offset in the passage.
        kind: The kind of the piece; for a list with its introduction, the kind of its items.
        lead: The sentence that introduces a list or an item ("You need:"), the question that a sentence answers, or
            the caption directly above lines with labels and values ("Town store"); or "".
        items: The items of a whole list, or all lines with labels and values; the last one is "…" if there are more
            than can be quoted. Empty for a single sentence, item or row.
        header: The header row of the table, if this is a table row.
    """

    text: str
    start: int
    kind: Kind
    lead: str = ""
    items: tuple[str, ...] = ()
    header: str = ""

    @property
    def end(self) -> int:
        """Offset after its last character in the passage."""
        return self.start + len(self.text)

    def overlaps(self, start: int, end: int) -> bool:
        """Whether it shares a character with passage[start:end]."""
        return self.start < end and start < self.end


def gather_evidence(passage: str) -> list[Evidence]:
    """Return all sentences of a passage, in order. The items of a list follow the list, also lines."""
    sentences = _join_replies(passage, split_sentences(passage))
    gathered: list[Evidence] = []
    index = 0
    while index < len(sentences):
        sentence = sentences[index]
        before = sentences[index - 1].text if index else ""
        if sentence.kind is Kind.LINE:
            end = index + 1
            while end < len(sentences) and sentences[end].kind is Kind.LINE and not _is_apart(passage, sentences, end):
                end += 1
            gathered += _gather_lines(passage, sentences, index, end)
            index = end
            continue
        if sentence.kind not in (Kind.ITEM, Kind.STEP):
            label = _LABEL.match(sentence.text)
            skip = label.end() if label else 0
            gathered.append(
                Evidence(
                    sentence.text[skip:],
                    sentence.start + skip,
                    sentence.kind,
                    before if before.rstrip("*_").endswith("?") else "",
                    header=sentence.header,
                )
            )
            index += 1
            continue
        end = index
        while end < len(sentences) and sentences[end].kind is sentence.kind:
            end += 1
        introduces = before.rstrip().endswith(":")
        lead = before if introduces else ""
        whole = _whole_list(passage, sentences[index - 1 if introduces else index : end], sentences[index:end], lead)
        if whole:
            gathered.append(whole)
        gathered += [Evidence(item.text, item.start, item.kind, lead) for item in sentences[index:end]]
        index = end
    return gathered


def _join_replies(passage: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences, each "Yes." and "No." together with what follows it in its paragraph."""
    joined: list[Sentence] = []
    for one in sentences:
        last = joined[-1] if joined else None
        if last and last.block == one.block and _is_reply(last.text):
            joined[-1] = replace(one, text=passage[last.start : one.end], start=last.start)
        else:
            joined.append(one)
    return joined


def _is_reply(text: str) -> bool:
    said = text.lower().strip(" .!")
    return said in ("yes", "no")


def _gather_lines(passage: str, sentences: Sequence[Sentence], start: int, end: int) -> Iterator[Evidence]:
    """Yield sentences[start:end], which are lines with labels and values: all as one piece, then each."""
    before = sentences[start - 1] if start else None
    is_caption = before is not None and before.kind is Kind.PROSE and not before.text.endswith((".", "!", "?", ":"))
    caption = before.text if before and is_caption and not _is_apart(passage, sentences, start) else ""
    lines = sentences[start:end]
    whole = _whole_list(passage, lines, lines, caption)
    if whole:
        yield whole
    kind = Kind.LINE if len(lines) > 1 else Kind.PROSE
    for line in lines:
        yield Evidence(line.text, line.start, kind, caption)


def _is_apart(passage: str, sentences: Sequence[Sentence], index: int) -> bool:
    """Return whether a blank line, or more than white space, stands before a sentence."""
    before, sentence = sentences[index - 1], sentences[index]
    gap = passage[before.end : sentence.start]
    if gap.strip():
        return True
    return gap.count("\n") > 1


def _whole_list(passage: str, quoted: Sequence[Sentence], items: Sequence[Sentence], lead: str) -> Evidence | None:
    """Return a list as one piece, if it has several items; of one that is too long to be quoted, its first items."""
    start = quoted[0].start
    quotable = [item for item in items if item.end - start <= MAX_SENTENCE_CHARS]
    blocks: dict[int, str] = {}
    for item in quotable:
        blocks.setdefault(item.block, item.text)
    if len(blocks) < 2:
        return None
    rest = (_AND_MORE,) if len(quotable) < len(items) else ()
    return Evidence(passage[start : quotable[-1].end], start, items[0].kind, lead, (*blocks.values(), *rest))
