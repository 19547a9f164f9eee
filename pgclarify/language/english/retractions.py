"""Tells whether a sentence takes back what a part of it says: "Nobody believes that the fee is 40 euros"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from pgclarify.language.checks import Span
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.word_classes import NEGATIONS, NO_CONTENT, RESERVATIONS
from pgclarify.language.english.words import content_stems
from pgclarify.language.words import PIECE, YES_OR_NO, distinct_words, word_set

_CONTRACTED: Final = re.compile(r"n['\u2019]t\b|(?<=\bcan)not\b", re.IGNORECASE)
_NO: Final = r"(?:not(?!\s(?:only|just|merely)\b)|never|nobody|no\sone|none|nothing|neither|nor|no|few|hardly)"
# "Know" is not among them: what nobody knows may be true.
_SAY: Final = (
    r"(?:believ(?:es?|ed|ing)|think(?:s|ing)?|thought|sa(?:ys?|id|ying)|claim(?:s|ed|ing)?|argu(?:es?|ed)|suggest(?:s|ed)?"
    r"|assum(?:es?|ed)|suppos(?:es?|ed)|stat(?:es?|ed)|mean(?:s|t)?|impl(?:y|ies|ied)|report(?:s|ed)?|maintain(?:s|ed)?"
    r"|confirm(?:s|ed)?|prov(?:es?|ed|en)|convinced|persuaded)"
)
_HOLD: Final = (
    r"(?:true|correct|right|the\scase|accurate|certain|clear|sure|confirmed|proven|established|evidence|proof)"
)
_DENY: Final = (
    r"(?:den(?:y|ies|ied|ying)|doubt(?:s|ed|ing|ful)?|disput(?:es?|ed)|reject(?:s|ed)?|refut(?:es?|ed)|dismiss(?:es|ed)?"
    r"|disprov(?:es?|ed|en)|pretend(?:s|ed)?|lied|contrary\sto)"
)
_FALSE: Final = r"(?:false|untrue|incorrect|wrong|mistaken|erroneous|unlikely|impossible)"
_FALSELY: Final = r"(?:falsely|wrongly|mistakenly|erroneously|incorrectly)"
_CLAIM: Final = (
    r"(?:claims?|reports?|rumou?rs?|ideas?|notions?|suggestions?|allegations?|theory|views?|beliefs?|assertions?|news)"
)
_MYTH: Final = r"(?:myth|hoax|misconception|fiction|lie)"
_SUBJECT: Final = r"(?=(?:the|an?|it|this|these|he|she|they|we|you|there|its|his|her|our|their|all)\b)"
# A clause with "that" is about these only if it stands directly behind them: a council may reject a plan that costs 40.
_FRAME: Final = re.compile(
    rf"""
    (?P<no> \b{_NO}\s (?:[\w'\u2019]+\s){{0,7}}? )?
    (?P<head>
      (?P<says> \b(?:{_SAY}|{_HOLD})\s (?:to\s)? (?:(?:me|you|him|her|us|them|any(?:one|body)|every(?:one|body))\s)?
        (?:that|whether|if)\b
      | \btruth\s(?:in|to)\s(?:the|any|this)\s{_CLAIM}\sthat\b
      | \b(?:believ(?:es?|ed)|thinks?|thought)\s{_SUBJECT} )
    | \b{_DENY}\s (?:(?:the|any|all|these)\s)? (?:{_CLAIM}\s)? (?:that|whether|if)\b
    | \b{_FALSE}\s that\b | \b(?:{_FALSE}|mistake)\sto\s{_SAY}\s that\b
    | \b{_FALSELY} (?:,?\sthat\b | \s{_SAY}\s (?:that\b|{_SUBJECT}))
    | \b{_MYTH}\sthat\b
    )
    (?:,[^,]*,)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Each frame has one of these, which takes a tenth of the time to find out.
_MAY_FRAME: Final = re.compile(r"\b(?:that|whether|if|believe[sd]?|thinks?|thought)\b", re.IGNORECASE)
# "If the fee were 40 euros, nobody would come."
_UNREAL: Final = re.compile(
    r"\b(?:if\s(?=[^,;.]*\b(?:were|had)\b[^;.]*\bwould\b)|(?:wish(?:es|ed)?|as\sif|as\sthough)\b)", re.IGNORECASE
)
_UNTRUE: Final = rf"(?:is|are|was)\s(?:\w+ly\s|just\s)?(?:not\s{_HOLD}|false|untrue|incorrect|an?\s{_MYTH})\b"
_AFTERTHOUGHT: Final = re.compile(
    rf"[,\u2013\u2014(-]\s?(?:which\s{_UNTRUE}|(?:but|and)\s(?:this|that|it)\s(?:{_UNTRUE}|(?:is|was)\swrong\b))",
    re.IGNORECASE,
)
_FALSE_CLAIM: Final = re.compile(
    rf"(?:^|\b{_CLAIM}\s)that\s(?P<claim>[^.;]*?)\b(?:{_UNTRUE}|(?:is|was)\swrong\b)", re.IGNORECASE
)
_IS_NOT: Final = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|will|would|may|must)\s(?:not(?!\s(?:only|just|merely)\b)|never|no\slonger)"
    r"\s(?:be\s|cost\s)?(?:(?:the|an?)\s)?",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(
    r"[;:!?()]|\.(?=\s|$)|\s[-\u2013\u2014]\s|\u2014|\b(?:but|because|although|though|whereas|while|instead)\b"
    r"|,\s(?:the|a|an|it|he|she|they|we|you|this|these|and|or|so|since|which|who|all|every)\b",
    re.IGNORECASE,
)
# A question with one of these may ask for what is only supposed.
_CONDITIONS: Final = word_set("if when who which would")
_UNREAL_END: Final = re.compile(r"[,;.]|\bthen\b")
_CLAUSE_MARK: Final = re.compile(r"[.;:!?()|](?!\d)|,\s(?=(?:it|they|and|while)\b)")


def is_taken_back(asked: Sequence[str], sentences: Sequence[str], answer: str) -> bool:
    """Tell whether English sentences give an answer only in parts that they take back.

    A question about what is believed, denied or supposed asks for such a part.

    Args:
        asked: The questions that the answer is for.
        sentences: The sentences that are to prove it.
        answer: A few words. "No" is never taken back.
    """
    said = [_spelled(one) for one in sentences]
    places = [_withdrawn(one, tuple(asked), answer) for one in said]
    withdrawn = [text[slice(*place)] for text, some in zip(said, places, strict=True) for place in some]
    if not withdrawn:
        return False
    words = distinct_words(answer)
    if not YES_OR_NO.isdisjoint(words):
        told = frozenset[str]().union(*map(content_stems, asked))
        known = told & frozenset[str]().union(*map(content_stems, withdrawn))
        return words == {"yes"} and 2 * len(known) >= len(told)
    left = _words(without_retractions(sentences, asked, answer))
    wanted = _words(answer) - frozenset[str]().union(*map(_words, asked)) or _words(answer)
    missing = wanted - left
    return bool(missing) and any(2 * len(missing & _words(part)) >= len(wanted) for part in withdrawn)


def without_retractions(sentences: Sequence[str], asked: Sequence[str], answer: str) -> str:
    """Return what English sentences say without the parts that they take back."""
    left: list[str] = []
    for text in map(_spelled, sentences):
        after = 0
        for start, end in _withdrawn(text, tuple(asked), answer):
            left.append(text[after:start])
            after = max(after, end)
        left.append(text[after:])
    return " ".join(left)


def is_reserved(before: str, after: str) -> bool:
    """Whether what stands before and behind a part of an English sentence limits, denies or only reports that part.

    Only the clauses beside the part count, and no words with a capital, which are names: "Never Ever is an album".
    """
    first = before.lstrip()[:1]
    beside = _spelled(_CLAUSE_MARK.split(before)[-1]), _spelled(_CLAUSE_MARK.split(after, maxsplit=1)[0])
    words = [word for text in beside for word in PIECE.findall(text)]
    if first.isupper() and beside[0].startswith(first):
        words[0] = words[0].lower()
    return not RESERVATIONS.isdisjoint(words)


def _spelled(text: str) -> str:
    """Write "is not" for "isn't" and the like, and one blank for any white space."""
    return " ".join(_CONTRACTED.sub(" not", text).split())


# Two checks ask this.
@lru_cache(maxsize=64)
def _withdrawn(sentence: str, asked: tuple[str, ...], answer: str) -> tuple[Span, ...]:
    """Return the places of the parts that a sentence takes back, in order."""
    return tuple(sorted(_find_withdrawn(sentence, asked, answer)))


def _find_withdrawn(sentence: str, asked: Sequence[str], answer: str) -> Iterator[Span]:
    wanted = frozenset[str]().union(*map(content_stems, asked))
    for match in _FRAME.finditer(sentence) if _MAY_FRAME.search(sentence) else ():
        # Nobody denies what is true, and "Ida says" takes nothing back.
        if (match["no"] is None) == (match["says"] is None) and wanted.isdisjoint(content_stems(match["head"])):
            yield match.end(), _end_of(_CLAUSE_END, sentence, match.end())
    told = frozenset[str]().union(*map(distinct_words, asked))
    if told.isdisjoint(_CONDITIONS):
        for match in _UNREAL.finditer(sentence):
            yield match.end(), _end_of(_UNREAL_END, sentence, match.end())
    if not told.isdisjoint(NEGATIONS):
        return
    for match in _AFTERTHOUGHT.finditer(sentence):
        yield 0, match.start()
    for match in _FALSE_CLAIM.finditer(sentence):
        around = match[0].replace(match["claim"], " ")
        if wanted.isdisjoint(content_stems(around)):
            yield match.span("claim")
    for match in _IS_NOT.finditer(sentence):
        named = re.compile(rf"{re.escape(answer)}(?!\w)", re.IGNORECASE).match(sentence, match.end())
        if named:
            yield named.span()


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.search(text, start)
    return found.start() if found else len(text)


def _words(text: str) -> frozenset[str]:
    return distinct_words(write_numbers(text)) - NO_CONTENT
