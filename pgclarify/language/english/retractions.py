"""Tells whether a sentence takes back what a part of it says: "Nobody believes that the fee is 40 euros"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pgclarify.language.checks import Span
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.opposites import spell_negations
from pgclarify.language.english.word_classes import NEGATIONS, NO_CONTENT, RESERVATIONS
from pgclarify.language.english.words import content_stems
from pgclarify.language.words import distinct_words

_NO: Final = rf"(?:{'|'.join(sorted(NEGATIONS))}|nobody|nothing|few|hardly)"
# "Know" is not among them: what nobody knows may be true.
_THINK: Final = r"(?:believ\w+|think\w*|thought|sa(?:ys?|id))"
_SAY: Final = (
    r"(?:(?:claim|argu|suggest|assum|suppos|stat|impl[iy]|report|confirm|prov)\w*"
    r"|true|correct|right|the\scase|certain|clear|sure|evidence|proof)"
)
_DENY: Final = r"(?:(?:den[iy]|doubt|disput|disprov|refut)\w*|false|untrue|incorrect|wrong|unlikely|impossible|myth)"
# The clause behind it is said to be true or false.
_FRAME: Final = re.compile(
    rf"(?P<no>\b{_NO}\s(?!only\b)(?:[\w'\u2019]+\s){{0,7}}?)?\b(?P<verb>"
    rf"(?P<says>{_THINK}(?=\s(?:the|an?|it|that|whether)\b)|{_SAY}(?=\s(?:that|whether)\b))|{_DENY}(?=\sthat\b)"
    r")\s(?:that|whether)?\b(?:,[^,]*,)?",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(r"[.,;:!?()|](?!\d)|\bbut\b", re.IGNORECASE)
_NEGATED: Final = re.compile(r"\b(?:not|never|no\slonger)\s(?:be\s)?(?:(?:the|an?)\s)?", re.IGNORECASE)


def is_taken_back(asked: Sequence[str], sentences: Sequence[str], answer: str) -> bool:
    """Tell whether English sentences give an answer only in clauses that they take back.

    A question about what is believed or denied asks for such a clause.

    Args:
        asked: The questions that the answer is for.
        sentences: The sentences that are to prove it.
        answer: A few words. "Yes" is taken back with what is asked, and "no" never.
    """
    words = _words(answer)
    told = _union(map(_words, asked))
    wanted = words - told or words
    if distinct_words(answer) == {"yes"}:
        wanted = told
    parts = [_split(sentence, asked, answer) for sentence in sentences]
    asserted = " ".join(part for part, _ in parts)
    missing = wanted - _words(asserted)
    if not missing:
        return False
    return any(2 * len(missing & _words(withdrawn)) >= len(wanted) for _, withdrawn in parts)


def without_retractions(sentences: Sequence[str], asked: Sequence[str], answer: str) -> str:
    """Return what English sentences say without the clauses that they take back."""
    parts = [_split(sentence, asked, answer) for sentence in sentences]
    return " ".join(asserted for asserted, _ in parts)


def is_reserved(before: str, after: str) -> bool:
    """Whether what stands before and behind a part of an English sentence limits, denies or only reports that part."""
    around = distinct_words(spell_negations(before), spell_negations(after))
    return not RESERVATIONS.isdisjoint(around)


def _split(sentence: str, asked: Sequence[str], answer: str) -> tuple[str, str]:
    """Return what a sentence asserts, and what it takes back."""
    text = spell_negations(sentence)
    withdrawn = [*_denied_clauses(text, asked), *_negated_answers(text, asked, answer)]
    asserted = ""
    after = 0
    for start, end in sorted(withdrawn):
        asserted += text[after:start]
        after = max(after, end)
    asserted += text[after:]
    return asserted, " ".join(text[start:end] for start, end in withdrawn)


def _denied_clauses(text: str, asked: Sequence[str]) -> Iterator[Span]:
    """Yield the clauses that a text says to be false: "Nobody claims that ..."."""
    wanted = _union(map(content_stems, asked))
    for match in _FRAME.finditer(text):
        is_negated = match["no"] is not None
        is_affirming = match["says"] is not None
        # Nobody denies what is true, and "Ida says" takes nothing back.
        if is_negated != is_affirming:
            continue
        if wanted.isdisjoint(content_stems(match["verb"])):
            start = match.end()
            clause_end = _CLAUSE_END.search(text, start)
            yield start, clause_end.start() if clause_end else len(text)


def _negated_answers(text: str, asked: Sequence[str], answer: str) -> Iterator[Span]:
    """Yield where an answer stands behind a negation: "The fee is not 40 euros"."""
    # A pattern with the answer is compiled for this sentence alone, which takes longer than all else here.
    if not _NEGATED.search(text):
        return
    if not NEGATIONS.isdisjoint(distinct_words(*asked)):
        return
    negated = re.compile(rf"{_NEGATED.pattern}({re.escape(answer)})(?!\w)", re.IGNORECASE)
    for match in negated.finditer(text):
        yield match.span(1)


def _union(several: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*several)


def _words(text: str) -> frozenset[str]:
    found = distinct_words(write_numbers(text))
    return found - NO_CONTENT
