"""What can be told of questions by their words: whether two ask the same, and whether one stands on its own."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.algorithms.quotation import fold

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_PART: Final = re.compile(r"\w+")
_ASKING: Final = frozenset(str.split("who whom whose what which when where why how"))
# They make no difference to what is asked, however they are spelled.
_COMMON: Final = frozenset(str.split("a an the of in on at to for by with from and or is was are were did does do i"))

# Letters that bent forms of one word share, in most words.
_STEM: Final = 5

# What stands for an answer that is not there: "#1", "[answer]", "the answer to question 2".
_PLACEHOLDER: Final = re.compile(
    r"#\s?\d|[\[<{(](?:answer|name|person|place|x|y)\b[^\])>}]{0,20}[\])>}]"
    r"|\b(?:answer|reply) (?:to|of) (?:the )?(?:previous |last |first |second )?(?:question|step)"
    r"|\b(?:question|step) \d\b",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(
    r"\b(?:he|she|him|his|her|hers|they|them|their|theirs|it|its"
    r"|(?:this|that|the same)"
    r" (?:person|man|woman|country|state|county|city|town|place|company|team|band|film|book|year))\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=\S\s)[\"'\u2018\u201c(]?[^\W\d_a-z]\w*|\d{2,}|[\"\u201c][^\"\u201d]+[\"\u201d]")


def asks_same(first: str, second: str, cosine: float, *, threshold: float) -> bool:
    """Tell whether two questions ask the same.

    An embedding does not hear the difference between "When was Ada born?" and "Where was Ada born?", nor between two
    years. So the words that ask, the names and the numbers have to be the same, whatever it says.

    Args:
        first: A question.
        second: Another.
        cosine: The cosine similarity of their embeddings, in [-1, 1].
        threshold: The least cosine at which different wordings count as one question.
    """
    if fold(first).strip(" ?.!") == fold(second).strip(" ?.!"):
        return True
    return cosine >= threshold and _demand(first) == _demand(second)


def rephrases(first: str, second: str, cosine: float, *, threshold: float) -> bool:
    """Tell whether one question is the other with words added or bent, so that their answers should agree.

    A word that is exchanged for another ("father" for "mother") is enough to tell them apart, though their embeddings
    be close; "directed" and "director" are one word here.

    Args:
        first: A question.
        second: Another.
        cosine: The cosine similarity of their embeddings, in [-1, 1].
        threshold: The least cosine at which that holds.
    """
    if cosine < threshold or _demand(first) != _demand(second):
        return False
    one, other = _stems(first), _stems(second)
    return one <= other or other <= one


def names(text: str) -> frozenset[str]:
    """List the words of names, and the numbers, that a text has in it, folded.

    A word is part of a name if it is capitalized and not the first one, or if it has a digit in it.
    """
    return frozenset(word for name in _demand(text)[1] for word in _PART.findall(fold(name)))


def stands_alone(question: str) -> bool:
    """Tell whether a question can be understood by whoever knows nothing else.

    It cannot if it has a placeholder in it, or a pronoun and no name that this could stand for.
    """
    if _PLACEHOLDER.search(question):
        return False
    return _PRONOUN.search(question) is None or _NAME.search(question) is not None


def _demand(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words that ask, and the names and numbers."""
    words = [match[0] for match in _WORD.finditer(question)]
    asking = frozenset(word.lower() for word in words if word.lower() in _ASKING)
    # The first word is capitalized whatever it is.
    names = frozenset(
        _bare(word)
        for place, word in enumerate(words)
        if word.lower() not in _ASKING | _COMMON and (any(c.isdigit() for c in word) or (place and word[0].isupper()))
    )
    return asking, names


def _stems(question: str) -> frozenset[str]:
    words = (_bare(match[0]) for match in _WORD.finditer(question))
    return frozenset(word[:_STEM] for word in words if word not in _ASKING | _COMMON)


def _bare(word: str) -> str:
    return re.sub(r"['\u2019]s$", "", word.lower())
