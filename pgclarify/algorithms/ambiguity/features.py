"""The features of a question, with and without earlier turns, as numbers of similar size."""

from __future__ import annotations

import math
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
    spelled = [len(word) for word in WORD.findall(text)]
    definite = sum(
        word == "the" and follower not in _TIME and follower not in _DEGREE for word, follower in pairwise(words)
    )
    return {
        "length": math.log1p(len(words)),
        "one or two words": float(len(words) <= 2),
        "three words": float(len(words) == _SHORT),
        "twenty words": float(len(words) >= 20),
        "characters": math.log1p(len(text)),
        "readability": max(-2.0, min(2.0, coleman_liau(text) / 10)),
        "longest word": min(max(spelled, default=0), 20) / 10,
        "referential": min(len(wording.referential), 4) / 2,
        "share of referential": len(wording.referential) / max(1, len(words)),
        "two persons": float(sum(word in PERSONS for word in words) > 1),
        "he": float(not MALE.isdisjoint(known)),
        "she": float(not FEMALE.isdisjoint(known)),
        "they": float(not PLURAL.isdisjoint(known)),
        "it": float(not NEUTER.isdisjoint(wording.referential)),
        "other": float(not OTHERS.isdisjoint(wording.referential)),
        "open reference": float(bool(wording.referential) and not wording.has_antecedent),
        "bound reference": float(bool(wording.referential) and wording.has_antecedent),
        "names": min(len(wording.names), 4) / 2,
        "no name": float(not wording.names),
        "one name": float(len(wording.names) == 1),
        "quotes": float(wording.quotes > 0),
        "digits": float(any(map(str.isdigit, text))),
        "year": float(any(len(word) == 4 and word.isdigit() for word in words)),
        "content": min(len(wording.content), 8) / 4,
        "no content": float(not wording.content),
        "time": float(not _TIME.isdisjoint(known)),
        "degree": float(not _DEGREE.isdisjoint(known) or any(len(w) > 5 and w.endswith("est") for w in words)),
        "definite": min(definite, 3) / 2,
        "question mark": float("?" in text),
        "lines": float("\n" in text.strip()),
        "opener": float(first in _OPENERS),
        "auxiliary": float(first in AUXILIARIES),
        **{f"begins with {word}": float(first == word) for word in INTERROGATIVES},
        "no asking word": float(known.isdisjoint(INTERROGATIVES) and known.isdisjoint(AUXILIARIES)),
    }


def within(wording: Wording) -> dict[str, float]:
    """Name and compute the features of a question together with the earlier turns."""
    known, before = set(wording.words), wording.words_before
    said, asked = set(wording.last_answer), set(wording.last_question)
    persons, pronouns = known & PERSONS, known & (PERSONS | PLURAL | NEUTER)
    candidates = len(wording.candidates)
    is_short = len(wording.words) <= _SHORT
    assent = bool(said) and said <= YES_NO
    repeated = sum(word in before for word in wording.content)
    return {
        "turns": min(wording.turns, 4) / 4,
        "words before": math.log1p(len(before)),
        "words of the answer": math.log1p(len(wording.last_answer)),
        "yes or no": float(assent),
        "short after yes or no": float(assent and is_short),
        "after no": float("no" in said and len(said) == 1),
        "after more": float(not _MORE.isdisjoint(asked)),
        "short after more": float(is_short and not _MORE.isdisjoint(asked)),
        "short after short": float(is_short and len(wording.last_question) <= _SHORT),
        "after short": float(len(wording.last_question) <= _SHORT),
        "same asking word": float(bool(known & asked & set(INTERROGATIVES))),
        "candidates": min(candidates, 6) / 3,
        "no candidate": float(not candidates),
        "one candidate": float(candidates == 1),
        "reference, several candidates": float(candidates > 1 and bool(wording.referential)),
        "reference, no candidate": float(candidates == 0 and bool(wording.referential)),
        "names of the answer": min(len(wording.last_names), 4) / 2,
        "several in the answer": float("and" in said or "or" in said),
        "repeated": repeated / max(1, len(wording.content)),
        "nothing repeated": float(bool(wording.content) and not repeated),
        "name repeated": float(any(name in before for name in wording.names)),
        "new name": float(any(name not in before for name in wording.names)),
        "pronoun repeated": float(bool(pronouns & asked)),
        "pronoun known": float(bool(pronouns & before)),
        "new pronoun": float(bool(pronouns) and not pronouns & before),
        "new person": float(bool(persons) and not persons & before),
        "two sexes": float(bool(before & MALE) and bool(before & FEMALE)),
        "digits before": float(any(map(str.isdigit, " ".join(wording.last_answer)))),
        "order": float(not _ORDER.isdisjoint(known)),
    }
