"""Whether a rewritten question may replace the original: what it must keep, and what it must not add."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pgclarify.language.english.names import names
from pgclarify.language.english.numbers import find_quantities
from pgclarify.language.english.stems import root
from pgclarify.language.english.word_classes import (
    AUXILIARIES,
    EXCLUSIONS,
    FUNCTION_WORDS,
    INTERROGATIVES,
    NEARLY_NEGATIONS,
    NEGATIONS,
)
from pgclarify.language.quotes import fold
from pgclarify.language.words import PIECE, folded_words, word_set

# How many times longer it may be, because it repeats what was said before.
_MOST_TIMES: Final = 3
_MOST_WORDS_MORE: Final = 30
# A question word is among the first words, if there is one.
_FIRST_WORDS: Final = 4
# "The first one" counts one, not two.
_ORDINAL_ONE: Final = re.compile(r"\b(first|second|third|last|\w+th)\s+ones?\b", re.IGNORECASE)
_NUMERAL: Final = re.compile(r"\d+(?:st|nd|rd|th|s)?")
# The end of a sentence, but not after "Dr.", "J." or "Prof.".
_SENTENCE: Final = re.compile(
    r"(?<=[?!\u2026\n\u3002\uff01\uff1f\u061f])\s*"
    r"|(?<=[a-z0-9)]{3}\.)(?<!\b[Pp]rof\.)(?<!\b[Cc]orp\.)(?<!\b[Cc]apt\.)(?<!\b[Ss]ept\.)\s+"
)
# No match spans the beginning of another, so that an unclosed quote does not make matching quadratic.
_QUOTED: Final = re.compile(
    r"\"([^\"]+)\"|\u201c([^\u201c\u201d]+)\u201d|\u201e([^\u201c\u201d\u201e]+)[\u201c\u201d]"
    r"|\u00ab([^\u00ab\u00bb]+)\u00bb|\u300c([^\u300c\u300d]+)\u300d|(?<!\w)'([^']+)'(?!\w)|\u2018([^\u2018\u2019]+)\u2019(?!\w)"
)
_ALWAYS_NEGATES: Final = (
    (NEGATIONS - {"no"}) | NEARLY_NEGATIONS | EXCLUSIONS | word_set("cannot nobody nothing nowhere")
)
# Applied to folded text. In "no. 5", "no" is not a negation.
_NEGATION: Final = re.compile(
    r"\b(?:\w+n't|(?:do|does|did|is|are|was|were|has|have|had|could|would|should|ca|wo)nt|no(?!\.?\s?\d)"
    rf"|{'|'.join(sorted(_ALWAYS_NEGATES, reverse=True))})\b"
)
# Most characters of a text that a reason repeats.
_LONGEST_SHOWN: Final = 80
_FIRST: Final = re.compile(r"[^\W_]+(['\u2019]s\b)?(?=(\s+[^\W\d_a-z])?)")
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f", "\u037e")
_CLOSING: Final = " \t\r\n\"'\u201d\u2019\u00bb).!"
_ORDERS: Final = word_set(
    "tell give list name show describe explain compare find define summarize state say identify provide write"
    " calculate count translate help"
)


def find_fault(question: str, rewritten: str, history: Sequence[str]) -> str | None:
    """Say why a rewritten English question must not replace the original. Linear time in all texts.

    The rewritten question must have all names, numbers and quoted strings of the original (a name may be inflected:
    Ada, Ada's), half of its other words, the same negations, and no name or number that was not said before. It has to
    be a question that is not much longer, and has no more lines and sentences.

    Args:
        question: The original question.
        rewritten: The rewritten question.
        history: The earlier turns.

    Returns:
        What is wrong, as the words that follow "it"; None if nothing is wrong.
    """
    words, new_words = folded_words(question), folded_words(rewritten)
    if not new_words:
        return "says nothing"
    if len(new_words) > _MOST_TIMES * len(words) + _MOST_WORDS_MORE:
        return "is much longer"
    told = (*history, question)
    known = {name for text in told for name in _inner_names(text)}
    loss = next(_losses(question, rewritten, known), None)
    if loss is not None:
        return f"has lost {loss}"
    gain = next(_gains(rewritten, told, known), None)
    if gain is not None:
        return f"brings in {gain}, which the conversation does not have"
    if _asks(question) and not _asks(rewritten):
        return "is no question"
    return _other_meaning(question, rewritten)


def _losses(question: str, rewritten: str, known: set[str]) -> Iterator[str]:
    """Yield what the original has and the rewritten question lacks, in words."""
    folded = fold(rewritten)
    for quoted in dict.fromkeys(_quoted(question)):
        if fold(quoted) not in folded:
            yield f'the quoted words "{_shown(quoted)}"'
    for number in sorted(_numbers(question) - _numbers(rewritten)):
        yield f"the number {_shown(number)}"
    bent = _bent(folded_words(rewritten))
    for name in sorted(_names(question, known)):
        if _bare(name) not in bent:
            yield f'the name "{_spelled(name, question)}"'


def _gains(rewritten: str, told: Sequence[str], known: set[str]) -> Iterator[str]:
    """Yield what the rewritten question has and no turn said, in words."""
    said = _bent(word for text in told for word in folded_words(text))
    # Each text is read alone: "twenty" in one turn and "three" in another are not 23.
    for number in sorted(_numbers(rewritten).difference(*map(_numbers, told))):
        if number not in said:
            yield f"the number {_shown(number)}"
    for name in sorted(_names(rewritten, known)):
        if _bare(name) not in said:
            yield f'the name "{_spelled(name, rewritten)}"'


def _other_meaning(question: str, rewritten: str) -> str | None:
    """Say what gives the rewritten question another meaning, although its names and numbers are the same."""
    negations, new_negations = (len(_NEGATION.findall(fold(text))) for text in (question, rewritten))
    if negations != new_negations:
        return "brings in a negation" if new_negations > negations else "has lost a negation"
    if len(rewritten.strip().splitlines()) > len(question.strip().splitlines()):
        return "has more lines"
    if _count_sentences(rewritten) > max(1, _count_sentences(question)):
        return "has more sentences"
    content = _content(question)
    return "asks in other words" if 2 * len(content & _content(rewritten)) < len(content) else None


def _count_sentences(text: str) -> int:
    return sum(PIECE.search(sentence) is not None for sentence in _sentences(text))


def _quoted(text: str) -> list[str]:
    return [next(filter(None, groups)) for groups in _QUOTED.findall(text)]


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text, in one notation; "one" and "may" at the beginning may or may not be numbers."""
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
    """Return the names of a text at places where only names have a capital."""
    found = {name for sentence in _sentences(text) for name in names(sentence)}
    return {name for name in found if name not in FUNCTION_WORDS and not _NUMERAL.fullmatch(name)}


def _names(text: str, known: set[str]) -> set[str]:
    """Return the names of a text, also those that begin a sentence, if they can be recognized."""
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
    words = [word.lower() for word in PIECE.findall(text)[:_FIRST_WORDS]]
    return words[:1] != [] and (words[0] in AUXILIARIES | _ORDERS or any(word in INTERROGATIVES for word in words))


def _spelled(name: str, text: str) -> str:
    """Return a name as the text spells it."""
    found = re.search(rf"\b{re.escape(name)}", text, re.IGNORECASE)
    return _shown(found[0] if found else name)


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}\u2026"


def _content(text: str) -> set[str]:
    """Return the beginnings of content words, in Latin script only: other scripts inflect or join words differently."""
    return {
        root(word)
        for word in folded_words(find_quantities(text, is_question=True)[1])
        if len(word) > 2 and word not in FUNCTION_WORDS | _ORDERS and max(word) < "\u0250"
    }
