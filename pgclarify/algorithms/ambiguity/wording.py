"""A question and its earlier turns, split into parts that can be counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pgclarify.language.english.word_classes import AUXILIARIES, INTERROGATIVES
from pgclarify.language.foreign_text import storable
from pgclarify.language.words import WORD, word_set

# Limit of characters. Only the beginning of a question is judged, and the end of a turn.
MOST_CHARS: Final = 2_000
MOST_TURNS: Final = 10
# A pronoun mostly refers to the last two exchanges, each a question and an answer.
_RECENT_PIECES: Final = 4
_LEAST_ASKED: Final = 3
_PLURAL_LENGTH: Final = 4
_RECENT_CHARS: Final = 400

_PIECE_END: Final = re.compile(r"(?<=[?\uff1f\u061f])\s+|\n+")
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f")
_SENTENCE_END: Final = re.compile(r"[.!?\u3002\uff01\uff1f\u061f]+(?=\s|$)|\n+")
_QUOTED: Final = re.compile(r"\"[^\"\n]+\"|\u201c[^\u201d\n]+\u201d|\u00ab[^\u00bb\n]+\u00bb")
# These count as names, too: words in scripts without capitals, and small letters with an accent. The classifier was
# trained with this pattern.
_CAPITALIZED: Final = re.compile(r"(?<![^\W_])(?<!['\u2019])[^\W\d_a-z][\w'\u2019-]*")
_ENDING: Final = re.compile(r"['\u2019](?:s|d|ll|re|ve|m)?$")

MALE: Final = frozenset({"he", "him", "his", "himself"})
FEMALE: Final = frozenset({"she", "her", "hers", "herself"})
PLURAL: Final = frozenset({"they", "them", "their", "theirs", "themselves", "these", "those"})
NEUTER: Final = frozenset({"it", "its", "itself", "this", "that", "one", "ones"})
OTHERS: Final = frozenset({"another", "other", "others", "else", "former", "latter", "same", "both"})
PERSONS: Final = MALE | FEMALE
REFERENTIAL: Final = PERSONS | PLURAL | NEUTER | OTHERS | {"there", "then"}

# Words that are neither names nor things. The classifier was trained with this list and the others here.
SMALL: Final = word_set(
    "a an the of in on at to for by with from and or but not no as if about into over after before during than so"
    " i you we me my your our us some any all each every many much more most also"
)
_WITHOUT_CONTENT: Final = SMALL.union(AUXILIARIES, REFERENTIAL, INTERROGATIVES)
YES_NO: Final = word_set("yes no yeah yep nope unknown not")
_PREPOSITIONS: Final = word_set("about of in at for after before by with to and on from than like")
_NOUN_FOLLOWS: Final = word_set("a an the my our your which what whose some any every each")
_DETERMINERS: Final = frozenset({"the", "any", "what", "which", "who", "an", "some"})
# Placeholders for a missing answer: "#1", "[answer]", "the answer to question 2", "that country".
_PLACEHOLDER: Final = re.compile(
    r"#\s?\d|[\[<{(](?:answer|name|person|place|x|y)\b[^\])>}]{0,20}[\])>}]"
    r"|\b(?:answer|reply) (?:to|of) (?:the )?(?:previous |last |first |second )?(?:question|step)\b"
    r"|\b(?:this|that|the same)"
    r" (?:person|man|woman|country|state|county|city|town|place|company|team|band|film|book|year)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wording:
    """The parts of a question and of its earlier turns. All words are in lower case.

    Attributes:
        question: The question, cut to MOST_CHARS characters.
        words: Its words.
        content: Its words that name a thing, a quality or an act.
        referential: Its words that refer to something said elsewhere.
        names: Its names: words with a capital that do not begin a sentence.
        quotes: Number of quotations.
        has_antecedent: Whether a name, a quotation or a noun stands before the first referential word, so that this
            word may refer to it.
        recent: The last two exchanges before it, as one text; empty without history.
        turns: Number of turns before it.
        words_before: All words of those turns.
        last_question: The words of the last question before it.
        last_answer: The words of the turn after that question.
        candidates: Names in the turns, latest first.
        last_names: Names in the last turn.
        capitalized: Words in the question or the turns that begin with a capital. names has more: it also has words in
            scripts without capitals, and words that begin with an accented small letter.
    """

    question: str
    words: tuple[str, ...]
    content: tuple[str, ...]
    referential: tuple[str, ...]
    names: tuple[str, ...]
    quotes: int
    has_antecedent: bool
    recent: str
    turns: int
    words_before: frozenset[str]
    last_question: tuple[str, ...]
    last_answer: tuple[str, ...]
    candidates: tuple[str, ...]
    last_names: tuple[str, ...]
    capitalized: frozenset[str]


def take_apart(question: str, history: Sequence[str]) -> Wording:
    """Split a question and its history into parts.

    Args:
        question: Any text.
        history: Earlier turns, oldest first: one element a turn, or a question and its answer together.
    """
    question = storable(question[:MOST_CHARS])
    words = _words(question)
    references = [place for place in range(len(words)) if _refers(words, place)]
    content = [word for word in words if _is_content(word)]
    names = _names(question)
    quotes = len(_QUOTED.findall(question))
    first = references[0] if references else len(words)
    has_noun_before = any(_is_noun(words, place) for place in range(first))

    recent_turns = [storable(turn[-MOST_CHARS:]).strip() for turn in history[-MOST_TURNS:]]
    turns = [turn for turn in recent_turns if turn]
    pieces = [piece for piece in _PIECE_END.split("\n".join(turns)) if piece.strip()]
    questions = [place for place, piece in enumerate(pieces) if piece.endswith(_QUESTION_MARKS)]
    asked = questions[-1] if questions else -1
    recent = pieces[-_RECENT_PIECES:]
    answer = " ".join(pieces[max(asked + 1, len(pieces) - len(recent)) :])
    candidates: dict[str, None] = {}
    for piece in reversed(pieces):
        candidates |= dict.fromkeys(_names(piece, starts=piece == answer))
    capitalized: set[str] = set()
    for piece in (question, *pieces):
        capitalized.update(_capitalized(piece))
    return Wording(
        question=question,
        words=words,
        content=tuple(content),
        referential=tuple(words[place] for place in references),
        names=names,
        quotes=quotes,
        has_antecedent=bool(names or quotes or has_noun_before),
        recent=" ".join(recent)[-_RECENT_CHARS:],
        turns=len(turns),
        words_before=frozenset(word for turn in turns for word in _words(turn)),
        last_question=_words(pieces[asked]) if asked >= 0 else (),
        last_answer=_words(answer),
        candidates=tuple(candidates),
        last_names=_names(answer, starts=True),
        capitalized=frozenset(capitalized),
    )


def stands_alone(question: str) -> bool:
    """Tell whether a question can be understood without any context.

    It cannot if it has a placeholder, or a word that can refer to nothing in the question. Such a word can refer to a
    name, or to a noun before it, as in "Which of the companies sold its shares?"
    """
    if _PLACEHOLDER.search(question):
        return False
    wording = take_apart(question, ())
    return not wording.referential or wording.has_antecedent


def asking_part(question: str) -> str:
    """Return the part of a text that asks: its last line if that is a question, else the whole text.

    The lines before it are context. A vector of the whole text would mostly show the context.
    """
    question = storable(question[:MOST_CHARS])
    *_, last = question.rstrip().rpartition("\n")
    last = last.strip()
    if last.endswith(_QUESTION_MARKS) and len(last.split()) >= _LEAST_ASKED:
        return last
    return question


def coleman_liau(text: str) -> float:
    """Compute how hard a text is to read, as a US school grade: 0.0588 L - 0.296 S - 15.8.

    L is the number of letters in 100 words, S the number of sentences in 100 words. A text without words has grade 0.

    Source: Coleman and Liau, "A computer readability formula designed for machine scoring", Journal of Applied
    Psychology 60 (1975). One of the three features of Detect, then rewrite (summary).
    """
    words = len(WORD.findall(text))
    if not words:
        return 0.0
    letters = sum(map(str.isalnum, text))
    # Text after the last mark is a sentence too, if it has words.
    sentences = len([part for part in _SENTENCE_END.split(text) if WORD.search(part)])
    letters_in_100_words = 100 * letters / words
    sentences_in_100_words = 100 * sentences / words
    return 0.0588 * letters_in_100_words - 0.296 * sentences_in_100_words - 15.8


def _words(text: str) -> tuple[str, ...]:
    return tuple(_ENDING.sub("", word) for word in WORD.findall(text.lower()))


def _is_content(word: str) -> bool:
    return word not in _WITHOUT_CONTENT


def _is_noun(words: Sequence[str], place: int) -> bool:
    """Return whether a word looks like a noun or an adjective before a noun: it follows an article, or is a plural."""
    word = words[place]
    if not _is_content(word):
        return False
    if word.endswith("s") and len(word) >= _PLURAL_LENGTH:
        return True
    return place > 0 and words[place - 1] in _NOUN_FOLLOWS


def _names(text: str, *, starts: bool = False) -> tuple[str, ...]:
    """List words with a capital, in lower case. starts: include the first word, for an answer without a sentence."""
    found = []
    for match in _CAPITALIZED.finditer(text):
        before = text[: match.start()].rstrip(" \t\"'(\u201c\u2018")
        opens = not before or before[-1] in ".!?:\n\uff1f\u061f"
        word = _bare(match.group())
        if word == "i":
            continue
        is_name = not opens
        if starts and not before:
            is_name = _is_content(word) and word not in YES_NO
        if is_name:
            found.append(word)
    return tuple(dict.fromkeys(found))


def _capitalized(text: str) -> Iterator[str]:
    return (_bare(word) for word in _CAPITALIZED.findall(text) if word[0].isupper())


def _bare(word: str) -> str:
    return _ENDING.sub("", word.lower())


def _refers(words: Sequence[str], place: int) -> bool:
    """Return whether a word refers to other text. "there" in "is there", and "that" before a clause, do not."""
    word = words[place]
    if word not in REFERENTIAL:
        return False
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if word == "there":
        return before not in AUXILIARIES and after not in AUXILIARIES
    if word == "that":
        return not place or before in AUXILIARIES or before in _PREPOSITIONS
    if word == "one":
        return before in {"which", "this", "that", "first", "second", "last", "the"} or not after
    if word in {"same", "other"}:
        return before in _DETERMINERS
    return word != "then" or place == len(words) - 1
