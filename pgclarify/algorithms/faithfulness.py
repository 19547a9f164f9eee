"""Whether a rewritten question may stand in the place of another: what it must keep, and what it must not bring in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pgclarify.algorithms.english import ASKING, AUXILIARIES, FUNCTION_WORDS
from pgclarify.algorithms.numerals import find_quantities
from pgclarify.algorithms.questions import names
from pgclarify.algorithms.quotation import fold

# How much longer it may be, since it takes up what was said before.
_MOST_TIMES: Final = 3
_MOST_WORDS_MORE: Final = 30
# Letters that bent forms of one word share, in most words.
_STEM: Final = 5
# Where the question word is, if there is one.
_FIRST_WORDS: Final = 4
_WORD: Final = re.compile(r"\w+")
# "The first one" counts one, not two.
_ORDINAL_ONE: Final = re.compile(r"\b(first|second|third|last|\w+th)\s+ones?\b", re.IGNORECASE)
_NUMERAL: Final = re.compile(r"\d+(?:st|nd|rd|th|s)?")
# Where a sentence ends, but not after "Dr." or "J.".
_SENTENCE: Final = re.compile(r"(?<=[?!\u2026\n])\s*|(?<=[a-z0-9)]{3}\.)\s+")
_QUOTED: Final = re.compile(
    r"\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|\u201e([^\u201c\u201d]+)[\u201c\u201d]|\u00ab([^\u00bb]+)\u00bb"
    r"|(?<!\w)'([^']+)'(?!\w)|\u2018([^\u2019]+)\u2019(?!\w)"
)
_FIRST: Final = re.compile(r"[^\W_]+(['\u2019]s\b)?(?=(\s+[^\W\d_a-z])?)")
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f", "\u037e")
_CLOSING: Final = " \t\r\n\"'\u201d\u2019\u00bb).!"
_ORDERS: Final = frozenset(
    str.split(
        "tell give list name show describe explain compare find define summarize state say identify provide write"
        " calculate count translate help"
    )
)


def find_fault(question: str, rewritten: str, history: Sequence[str]) -> str | None:
    """Say why a rewritten question must not stand in the place of another.

    All names, numbers and quoted strings of the question have to be in it (a name may be bent: Ada, Ada's), half of its
    other words, and no name or number that was not said before. It has to be a question that is not much longer.

    Args:
        question: As it was asked.
        rewritten: As it is to be asked.
        history: What was said before.

    Returns:
        What is wrong, to be said after "it"; None if nothing is.
    """
    words, new_words = _WORD.findall(fold(question)), _WORD.findall(fold(rewritten))
    if not new_words:
        return "says nothing"
    if len(new_words) > _MOST_TIMES * len(words) + _MOST_WORDS_MORE:
        return "is much longer"
    told = "\n".join((*history, question))
    said = _bent(_WORD.findall(fold(told)))
    known = _inner_names(told)
    folded, bent = fold(rewritten), _bent(new_words)
    lost = [
        *(f'the quoted words "{quoted}"' for quoted in _quoted(question) if fold(quoted) not in folded),
        *(f"the number {number}" for number in sorted(_numbers(question) - _numbers(rewritten))),
        *(
            f'the name "{_spelled(name, question)}"'
            for name in sorted(_names(question, known))
            if _bare(name) not in bent
        ),
    ]
    if lost:
        return f"has lost {lost[0]}"
    gained = [
        *(f"the number {number}" for number in sorted(_numbers(rewritten) - _numbers(told)) if number not in said),
        *(
            f'the name "{_spelled(name, rewritten)}"'
            for name in sorted(_names(rewritten, known))
            if _bare(name) not in said
        ),
    ]
    if gained:
        return f"brings in {gained[0]}, which nobody said"
    if _asks(question) and not _asks(rewritten):
        return "is no question"
    content = _content(question)
    if 2 * len(content & _content(rewritten)) < len(content):
        return "asks in other words"
    return None


def _quoted(text: str) -> list[str]:
    return [next(filter(None, groups)) for groups in _QUOTED.findall(text)]


def _numbers(text: str) -> set[str]:
    """The numbers of a text, whatever its notation; "one" and "may" may be one at the beginning, or not."""
    text = _ORDINAL_ONE.sub(r"\1", text)
    return {
        value
        for is_question in (True, False)
        for values in find_quantities(text, is_question=is_question)[0].values()
        for value in values
    }


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def _inner_names(text: str) -> set[str]:
    """The names of a text that stand where only a name is capitalized."""
    found = {name for sentence in _sentences(text) for name in names(sentence)}
    return {name for name in found if name not in FUNCTION_WORDS and not _NUMERAL.fullmatch(name)}


def _names(text: str, known: set[str]) -> set[str]:
    """The names of a text, also those at the beginning of a sentence, as far as they can be told."""
    return _inner_names(text) | {
        word
        for sentence in _sentences(text)
        if (match := _FIRST.search(sentence)) is not None
        and match[0][0].isupper()
        and (word := fold(match[0].removesuffix(match[1] or ""))) not in FUNCTION_WORDS | _ORDERS
        and (match[1] or match[2] or word in known)
    }


def _bare(name: str) -> str:
    return name.removesuffix("s")


def _bent(words: Iterable[str]) -> set[str]:
    return {_bare(word) for word in words} | set(words)


def _asks(text: str) -> bool:
    if text.rstrip(_CLOSING).endswith(_QUESTION_MARKS):
        return True
    words = [word.lower() for word in _WORD.findall(text)[:_FIRST_WORDS]]
    return words[:1] != [] and (words[0] in AUXILIARIES | _ORDERS or not ASKING.isdisjoint(words))


def _spelled(name: str, text: str) -> str:
    """A name as a text has it."""
    found = re.search(rf"\b{re.escape(name)}", text, re.IGNORECASE)
    return found[0] if found else name


def _content(text: str) -> set[str]:
    """The beginnings of words that say what is asked; of Latin script, since others bend or join words otherwise."""
    return {
        _bare(word)[:_STEM]
        for word in _WORD.findall(fold(find_quantities(text, is_question=True)[1]))
        if len(word) > 2 and word not in FUNCTION_WORDS | _ORDERS and max(word) < "\u0250"
    }
