"""Tells whether a sentence takes back what a part of it says: "Nobody believes that the fee is 40 euros"."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    words, told = _words(answer), frozenset[str]().union(*map(_words, asked))
    wanted = told if distinct_words(answer) == {"yes"} else words - told or words
    parts = [_split(one, asked, answer) for one in sentences]
    missing = wanted - _words(" ".join(asserted for asserted, _ in parts))
    return bool(missing) and any(2 * len(missing & _words(withdrawn)) >= len(wanted) for _, withdrawn in parts)


def without_retractions(sentences: Sequence[str], asked: Sequence[str], answer: str) -> str:
    """Return what English sentences say without the clauses that they take back."""
    return " ".join(_split(one, asked, answer)[0] for one in sentences)


def is_reserved(before: str, after: str) -> bool:
    """Whether what stands before and behind a part of an English sentence limits, denies or only reports that part."""
    return not RESERVATIONS.isdisjoint(distinct_words(spell_negations(before), spell_negations(after)))


def _split(sentence: str, asked: Sequence[str], answer: str) -> tuple[str, str]:
    """Return what a sentence asserts, and what it takes back."""
    text = spell_negations(sentence)
    wanted = frozenset[str]().union(*map(content_stems, asked))
    withdrawn: list[Span] = []
    for match in _FRAME.finditer(text):
        # Nobody denies what is true, and "Ida says" takes nothing back.
        if (match["no"] is None) == (match["says"] is None) and wanted.isdisjoint(content_stems(match["verb"])):
            behind = _CLAUSE_END.search(text, match.end())
            withdrawn.append((match.end(), behind.start() if behind else len(text)))
    # A pattern with the answer is compiled for this sentence alone, which takes longer than all else here.
    if _NEGATED.search(text) and NEGATIONS.isdisjoint(distinct_words(*asked)):
        negated = re.finditer(rf"{_NEGATED.pattern}({re.escape(answer)})(?!\w)", text, re.IGNORECASE)
        withdrawn += [match.span(1) for match in negated]
    asserted, after = "", 0
    for start, end in sorted(withdrawn):
        asserted += text[after:start]
        after = max(after, end)
    return asserted + text[after:], " ".join(text[slice(*span)] for span in withdrawn)


def _words(text: str) -> frozenset[str]:
    return distinct_words(write_numbers(text)) - NO_CONTENT
