"""The features of a question, with and without earlier turns, as numbers of similar size."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Final

from pgclarify.algorithms.ambiguity.wording import (
    FEMALE,
    MALE,
    NEUTER,
    OTHERS,
    PERSONS,
    PLURAL,
    YES_NO,
    Wording,
    coleman_liau,
)
from pgclarify.language.english.word_classes import AUXILIARIES, INTERROGATIVES
from pgclarify.language.words import WORD, word_set

_TIME: Final = word_set("last latest current currently now new newest next today recent recently first final previous")
_DEGREE: Final = word_set("most best least worst top famous popular good better main major important")
_ORDER: Final = word_set("next then after before first last again finally later afterwards")
_OPENERS: Final = word_set("and but so or also then anything anyone any else more")
_MORE: Final = OTHERS | word_set("any anyone anything anybody more all")
_SHORT: Final = 3


def alone(wording: Wording) -> dict[str, float]:
    """Name and compute the features of a question alone."""
    words, text = wording.words, wording.question
    known = set(words)
    first = words[0] if words else ""
    lengths = [len(word) for word in WORD.findall(text)]
    readability = coleman_liau(text) / 10
    referential = len(wording.referential)
    names = len(wording.names)
    persons = sum(word in PERSONS for word in words)
    followers = [follower for word, follower in pairwise(words) if word == "the"]
    definite = sum(follower not in _TIME and follower not in _DEGREE for follower in followers)
    features = {
        "length": math.log1p(len(words)),
        "one or two words": len(words) <= 2,
        "three words": len(words) == _SHORT,
        "twenty words": len(words) >= 20,
        "characters": math.log1p(len(text)),
        "readability": max(-2.0, min(2.0, readability)),
        "longest word": min(max(lengths, default=0), 20) / 10,
        "referential": min(referential, 4) / 2,
        "share of referential": referential / max(1, len(words)),
        "two persons": persons > 1,
        "he": _overlap(MALE, known),
        "she": _overlap(FEMALE, known),
        "they": _overlap(PLURAL, known),
        "it": _overlap(NEUTER, wording.referential),
        "other": _overlap(OTHERS, wording.referential),
        "open reference": referential > 0 and not wording.has_antecedent,
        "bound reference": referential > 0 and wording.has_antecedent,
        "names": min(names, 4) / 2,
        "no name": names == 0,
        "one name": names == 1,
        "quotes": wording.quotes > 0,
        "digits": any(map(str.isdigit, text)),
        "year": any(map(_is_year, words)),
        "content": min(len(wording.content), 8) / 4,
        "no content": not wording.content,
        "time": _overlap(_TIME, known),
        "degree": _overlap(_DEGREE, known) or any(map(_is_superlative, words)),
        "definite": min(definite, 3) / 2,
        "question mark": "?" in text,
        "lines": "\n" in text.strip(),
        "opener": first in _OPENERS,
        "auxiliary": first in AUXILIARIES,
        **{f"begins with {word}": float(first == word) for word in INTERROGATIVES},
        "no asking word": known.isdisjoint(INTERROGATIVES) and known.isdisjoint(AUXILIARIES),
    }
    return _as_numbers(features)


def within(wording: Wording) -> dict[str, float]:
    """Name and compute the features of a question together with the earlier turns."""
    known = set(wording.words)
    before = wording.words_before
    said = set(wording.last_answer)
    asked = set(wording.last_question)
    persons = known & PERSONS
    pronouns = known & (PERSONS | PLURAL | NEUTER)
    candidates = len(wording.candidates)
    refers = bool(wording.referential)
    is_short = len(wording.words) <= _SHORT
    is_after_short = len(wording.last_question) <= _SHORT
    assent = bool(said) and said <= YES_NO
    repeated = sum(word in before for word in wording.content)
    repeated_names = sum(name in before for name in wording.names)
    features = {
        "turns": min(wording.turns, 4) / 4,
        "words before": math.log1p(len(before)),
        "words of the answer": math.log1p(len(wording.last_answer)),
        "yes or no": assent,
        "short after yes or no": assent and is_short,
        "after no": "no" in said and len(said) == 1,
        "after more": _overlap(_MORE, asked),
        "short after more": is_short and _overlap(_MORE, asked),
        "short after short": is_short and is_after_short,
        "after short": is_after_short,
        "same asking word": bool(known & asked & set(INTERROGATIVES)),
        "candidates": min(candidates, 6) / 3,
        "no candidate": not candidates,
        "one candidate": candidates == 1,
        "reference, several candidates": refers and candidates > 1,
        "reference, no candidate": refers and candidates == 0,
        "names of the answer": min(len(wording.last_names), 4) / 2,
        "several in the answer": "and" in said or "or" in said,
        "repeated": repeated / max(1, len(wording.content)),
        "nothing repeated": bool(wording.content) and not repeated,
        "name repeated": repeated_names > 0,
        "new name": repeated_names < len(wording.names),
        "pronoun repeated": bool(pronouns & asked),
        "pronoun known": bool(pronouns & before),
        "new pronoun": bool(pronouns) and not pronouns & before,
        "new person": bool(persons) and not persons & before,
        "two sexes": bool(before & MALE) and bool(before & FEMALE),
        "digits before": any(map(str.isdigit, " ".join(wording.last_answer))),
        "order": _overlap(_ORDER, known),
    }
    return _as_numbers(features)


def _overlap(words: frozenset[str], others: Collection[str]) -> bool:
    return not words.isdisjoint(others)


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit()


def _is_superlative(word: str) -> bool:
    return len(word) > 5 and word.endswith("est")


def _as_numbers(features: Mapping[str, float]) -> dict[str, float]:
    """Return the features with 0 for false, and 1 for true."""
    return {name: float(value) for name, value in features.items()}
