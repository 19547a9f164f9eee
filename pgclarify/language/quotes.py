"""Finds a quote in a text, verbatim except for typography."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pgclarify.language.normalization import INVISIBLE, LIGATURES, normalized
from pgclarify.language.whole_words import UNSPACED, is_joined, split_closely, widen, widen_to_words

_QUOTE, _DASH, _SPACE = "'", "-", " "
_FOLDED = (
    dict.fromkeys("\"'`´‘’‚‛“”„‟‹›«»′″‵‶ʹʺʻʼʽ〝〞〟＂＇｀「」『』｢｣", _QUOTE)  # noqa: RUF001 (the look-alikes are the point)
    | dict.fromkeys("-‐‑‒–—―−﹘﹣－", _DASH)  # noqa: RUF001
    # Joiners and variation selectors are invisible, too.
    | dict.fromkeys(f"{INVISIBLE}\u200c\u200d\ufe00\ufe0e\ufe0f", "")
    | LIGATURES
    # Chinese and Japanese full stops and commas, and the wave dash, which keyboards write as a tilde.
    | {"。": ".", "｡": ".", "、": ",", "､": ",", "〜": "~"}
    # It is folded to an apostrophe and n. A part of a character must not join a run of quotation marks.
    | {"\u0149": "n"}
)
# For private use, in fonts of symbols such as Wingdings.
_BULLETS = frozenset(map(chr, range(0xF020, 0xF100)))
# A run of one of these counts as a single character: "  ", ``, --.
_COLLAPSED = frozenset((_QUOTE, _DASH, _SPACE))
_RUN = re.compile(rf"([{_QUOTE}{_SPACE}{_DASH}])\1+")
# Blanks without meaning: French ones before a question mark and inside quotation marks, and blanks between letters of
# those scripts, because lines may end anywhere.
_IDLE = re.compile(
    rf"{_SPACE}(?:(?=[?!;:{_QUOTE}])|(?<={_QUOTE}{_SPACE})"
    rf"|(?<=[{UNSPACED}.,]{_SPACE})(?=[{UNSPACED}])|(?<=[{UNSPACED}]{_SPACE})(?=[.,]))"
)
# Folding these would change the meaning: x² is not x2.
_MEANINGFUL = ("<super>", "<sub>", "<fraction>", "<circle>")
_ELLIPSIS = "..."
# Of a quote that is cut at each place, so that a text of few different letters takes little time.
_MOST_OCCURRENCES = 100
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class _FoldedText:
    """A folded text with the offsets of the original.

    Attributes:
        text: The folded characters.
        starts: For each, the offset of the first original character.
        ends: For each, the offset of the end of the last original character.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets of the original characters of text[start:end]."""
        return self.starts[start], self.ends[end - 1]

    def is_whole(self, start: int, end: int) -> bool:
        """Whether text[start:end] stands for whole characters: one "s" is not a whole "ß"."""
        return self._is_between(start) and self._is_between(end)

    def _is_between(self, place: int) -> bool:
        """Whether the characters before and after a place stand for different original ones."""
        if place in (0, len(self.text)):
            return True
        return self.starts[place] >= self.ends[place - 1]

    def without_idle_blanks(self) -> _FoldedText:
        """Return the text without blanks that are only typography."""
        blanks = [blank.start() for blank in _IDLE.finditer(self.text)]
        if not blanks:
            return self
        text = ""
        starts: list[int] = []
        ends: list[int] = []
        after = 0
        for blank in [*blanks, len(self.text)]:
            text += self.text[after:blank]
            starts += self.starts[after:blank]
            ends += self.ends[after:blank]
            after = blank + 1
        return _FoldedText(text, starts, ends)


def fold(text: str) -> str:
    """Fold differences of typography that do not change the meaning.

    Runs of white space, of quotation marks of any kind, and of dashes become one character; case is folded; invisible
    characters are removed; Chinese and Japanese full stops and commas become Latin ones; ligatures, full-width forms,
    the ellipsis and composed accents are decomposed.

    Args:
        text: Any text.

    Returns:
        The folded text, without white space at its ends.
    """
    return _without_runs(text.translate(_TABLE)).strip(_SPACE)


def without_accents(decomposed: str) -> str:
    """Remove the accents of a decomposed text, such as a folded one."""
    if decomposed.isascii():
        return decomposed
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def find_quote(quote: str, content: str) -> tuple[int, int] | None:
    """Find where a quote occurs verbatim, except for typography, and widen it to whole words.

    Blanks that are only typography are ignored: before a question mark, inside quotation marks, between letters of
    scripts without blanks between words. Quotation marks and ellipses at the ends of the quote are dropped if it does
    not occur with them. A quote that begins or ends inside a word, a number or a date is widened to all of it.

    Args:
        quote: The text that a model says it read.
        content: The text that it should be in.

    Returns:
        Offsets (start, end); content[start:end] is cited. It is the first occurrence that cuts no word, or else the
        first one. None if there is no occurrence, or the quote has no letter or digit.
    """
    span = _find(quote, content)
    return None if span is None else widen(content, *span)


def find_proof(quote: str, answer: str, content: str) -> tuple[int, int] | None:
    """Find a quote as `find_quote` does, unless the answer rests on a part of a word.

    "Bertram Lind" is neither proven by "Bertram Lindgren", nor 40 by "400 euros".

    Args:
        quote: The text that a model says it read.
        answer: What it read there.
        content: The text that the quote should be in.
    """
    span = _find(quote, content)
    if span is None:
        return None
    return None if _has_cut_word(answer, content, *span) else widen(content, *span)


def _has_cut_word(said: str, content: str, start: int, end: int) -> bool:
    """Whether a text has a word or number that a part of another text has only because it cuts one.

    Args:
        said: A few words, or a quote.
        content: The text of the part.
        start: Where the part begins.
        end: Where it ends.
    """
    first, last = widen_to_words(content, start, end)
    if (first, last) == (start, end):
        return False
    whole = _close_words(content[first:last])
    shared = _close_words(content[start:end]) & _close_words(said)
    return not shared <= whole


def _close_words(text: str) -> frozenset[str]:
    return split_closely(fold(text))


def _find(quote: str, content: str) -> tuple[int, int] | None:
    """Find the first occurrence of a quote that cuts no word or number, or else the first one."""
    folded_quote = _fold(normalized(quote)).text.strip(_SPACE)
    stripped_quote = _strip_ends(folded_quote)
    folded_content = _fold_once(content)
    found: list[tuple[int, int]] = []
    for wanted in dict.fromkeys([folded_quote, stripped_quote]):
        if not any(character.isalnum() for character in wanted):
            break
        start = folded_content.text.find(wanted)
        while start >= 0 and len(found) < _MOST_OCCURRENCES:
            end = start + len(wanted)
            if folded_content.is_whole(start, end):
                span = folded_content.span(start, end)
                if not any(is_joined(content, place) for place in span):
                    return span
                found.append(span)
            start = folded_content.text.find(wanted, start + 1)
    return next(iter(found), None)


def _fold(text: str) -> _FoldedText:
    translated = text.translate(_TABLE)
    if text.isascii() and not _has_runs(translated):
        length = len(text)
        folded = _FoldedText(translated, range(length), range(1, length + 1))
        return folded.without_idle_blanks()
    origins = _origins(text)
    starts: list[int] = []
    ends: list[int] = []
    after = 0
    for run in _RUN.finditer(translated):
        kept = run.start() + 1
        starts += origins[after:kept]
        ends += [offset + 1 for offset in origins[after : kept - 1]]
        ends.append(origins[run.end() - 1] + 1)
        after = run.end()
    starts += origins[after:]
    ends += [offset + 1 for offset in origins[after:]]
    folded = _FoldedText(_without_runs(translated), starts, ends)
    return folded.without_idle_blanks()


def _origins(text: str) -> list[int]:
    """Return the original offset of each folded character of a text, runs included."""
    origins: list[int] = []
    after = 0
    # An ASCII character is folded to one character.
    for character in _BEYOND_ASCII.finditer(text):
        place = character.start()
        origins += range(after, place)
        origins += [place] * len(_TABLE[ord(character[0])])
        after = character.end()
    origins += range(after, len(text))
    return origins


# A cache, because several quotes are searched for in one passage.
_fold_once = lru_cache(maxsize=256)(_fold)


def _without_runs(translated: str) -> str:
    """Reduce each run of quotation marks, dashes or spaces to one. Most texts have none, which is checked first."""
    if not _has_runs(translated):
        return translated
    return _RUN.sub(r"\1", translated)


def _has_runs(translated: str) -> bool:
    return 2 * _SPACE in translated or 2 * _QUOTE in translated or 2 * _DASH in translated


def _fold_character(character: str) -> str:
    if character in _FOLDED:
        return _FOLDED[character]
    if character.isspace() or character in _BULLETS:
        return _SPACE
    if unicodedata.category(character) == "Co":
        # A ligature or a picture, which a model cannot copy.
        return ""
    form: Literal["NFD", "NFKD"] = "NFKD"
    if unicodedata.decomposition(character).startswith(_MEANINGFUL):
        form = "NFD"
    decomposed = unicodedata.normalize(form, character)
    # Case folding can compose characters again, and decomposing can produce capitals.
    folded = unicodedata.normalize(form, decomposed.casefold())
    if len(folded) > 1 and not _COLLAPSED.isdisjoint(folded):
        # A spacing accent would become a space and an accent. A part of a character must not join a run.
        return character
    return folded


class _Table(dict[int, str]):
    """A cache: what each character is folded to, by its number."""

    def __missing__(self, number: int) -> str:
        folded = _fold_character(chr(number))
        if len(self) < _MOST_KNOWN:
            self[number] = folded
        return folded


_MOST_KNOWN = 4096
_TABLE = _Table()


def _strip_ends(folded: str) -> str:
    marks = _QUOTE + _SPACE
    stripped = folded.strip(marks)
    while stripped.startswith(_ELLIPSIS) or stripped.endswith(_ELLIPSIS):
        stripped = stripped.removeprefix(_ELLIPSIS).removesuffix(_ELLIPSIS)
        stripped = stripped.strip(marks)
    return stripped
