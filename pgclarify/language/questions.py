"""Compares questions by their words: do two ask the same, and does one stand alone?"""

from __future__ import annotations

import re
from typing import Final

from pgclarify.language.quotes import fold
from pgclarify.language.stems import root
from pgclarify.language.words import (
    ARTICLES,
    ASKING,
    AUXILIARIES,
    COMMON,
    WORD,
    content_stems,
    without_possessive,
    word_set,
)

# They hardly change what a question asks.
_SMALL: Final = ARTICLES | {"in", "on", "at", "of"}

# Placeholders for a missing answer: "#1", "[answer]", "the answer to question 2".
_PLACEHOLDER: Final = re.compile(
    r"#\s?\d|[\[<{(](?:answer|name|person|place|x|y)\b[^\])>}]{0,20}[\])>}]"
    r"|\b(?:answer|reply) (?:to|of) (?:the )?(?:previous |last |first |second )?(?:question|step)\b",
    re.IGNORECASE,
)
# "That country" refers to something before the question.
_POINTER: Final = re.compile(
    r"\b(?:this|that|the same)"
    r" (?:person|man|woman|country|state|county|city|town|place|company|team|band|film|book|year)\b",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(r"\b(?:he|she|him|his|her|hers|they|them|their|theirs|it|its)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"(?<=\S\s)[\"'\u2018\u201c(]?[^\W\d_a-z]\w*|\d{2,}|[\"\u201c][^\"\u201d]+[\"\u201d]")
# These are not nouns, although they may be in the place of one.
_NO_NOUNS: Final = (
    COMMON
    | AUXILIARIES
    | {*ASKING, "i"}
    | word_set("old long many much far big large high tall late early often soon still ever not")
)


def asks_same(first: str, second: str) -> bool:
    """Tell whether two questions ask the same.

    The words must be the same in the same order, except for a few small ones; "founded" and "founder" count as one
    word. Embeddings do not decide: they rate "Who hired Ada?" and "Who was hired by Ada?" at 0.99.
    """
    return _roots(first) == _roots(second)


def asks_same_words(first: str, second: str) -> bool:
    """Tell whether two questions are the same except for case, typography and the marks at their ends."""
    return fold(first).strip(" ?.!") == fold(second).strip(" ?.!")


def ask_for(answer: str, reading: str, question: str) -> str:
    """Return the question instead of a reading that is no question, but states the answer.

    "When was the church built?" for "The church was built in 1872.". A question of a few keywords says less than the
    statement, so it does not replace it.

    Args:
        answer: The answer: "in 1872".
        reading: What a model returned as the reading of the question.
        question: The question.
    """
    is_question = question.rstrip().endswith("?") or question.lower().startswith(ASKING)
    told = content_stems(answer)
    is_told = bool(told) and told <= content_stems(reading) and not told <= content_stems(question)
    return question if is_question and is_told and not reading.rstrip().endswith("?") else reading


def stands_alone(question: str) -> bool:
    """Tell whether a question can be understood without any context.

    It cannot if it has a placeholder, or a pronoun that can refer to nothing in the question. A pronoun can refer to a
    name, or to a noun before it, as in "Which company sold its shares?"
    """
    if _PLACEHOLDER.search(question):
        return False
    if _NAME.search(question):
        return True
    pronoun = _PRONOUN.search(question)
    return _POINTER.search(question) is None and (pronoun is None or _is_bound(question[: pronoun.start()]))


def _is_bound(before: str) -> bool:
    """Tell whether a pronoun can refer to something before it in the same question."""
    words = [word.lower() for word in WORD.findall(before)]
    # "Where was he", "What year was it", "the name of his": the person or thing was named before the question.
    if not words or words[-1] in AUXILIARIES or words[-1] == "of":
        return False
    # In "Who painted it?", the word after "who" is a verb.
    nouns = words[2:] if words[0] in ("who", "whom") else words
    return not _NO_NOUNS.issuperset(nouns)


def _roots(question: str) -> list[str]:
    return [root(without_possessive(word)) for word in WORD.findall(fold(question)) if word not in _SMALL]
