"""The judge that needs no model: it compares words, in milliseconds, and always says the same.

What it takes for support or for a match, and how often it is wrong, is in docs/methods/evaluation.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pgclarify.algorithms import Relation, is_variant, relate, relate_answers
from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.evaluated import LEXICAL, Stated
from pgclarify.evaluation.answer_shapes import has_asked_shape
from pgclarify.language.numbers import write_numbers
from pgclarify.language.questions import asks_same_words
from pgclarify.language.quotes import fold, without_accents
from pgclarify.language.sentences import split_sentences
from pgclarify.language.stems import root
from pgclarify.language.words import NO_NOUNS, PIECE
from pgclarify.model import Passage

VERSION: Final = "4"
"""Another where one judgement is: a test compares many of them with those of this version, and says when."""

# A passage is about what a question asks if this share of the question's words is in it.
_ABOUT: Final = 0.4
# Two questions ask the same if their words have this F1 (Eq. 16's threshold, for unigrams instead of BLEU).
_SAME: Final = 0.5
# A reading keeps this share of the words of the question that it is a reading of.
_RELEVANT: Final = 0.5

# Alone, or with a sentence after it; "No Country for Old Men" and "No. 5" are names.
_YES_OR_NO: Final = re.compile(
    r"\W*(?P<said>(?i:yes|no))(?:\W*\Z|\W+(?i:it|he|she|they|we|you|i|there|this|that)\b|\s*[,;:.\u2013\u2014-]\s+[a-z])"
)
# "Is it red or blue?" has its answer in it.
_CHOICE: Final = re.compile(r"\bor\b", re.IGNORECASE)
# Of an answer that is no name, many questions have the same.
_NAME_AFTER_NUMBER: Final = re.compile(r"\s[A-Z][a-z]")


@dataclass(frozen=True, slots=True)
class SentenceBounds:
    """When a sentence, read with its title, is about what a question asks.

    Attributes:
        share: It has at least this share of the question's words.
        of_best: And at least this part of what the best sentence of the passage has of them.
    """

    share: float
    of_best: float


_STRICT: Final = SentenceBounds(share=0.4, of_best=0.75)


class LexicalJudge:
    """Judges by words alone. Implements Judge.

    Args:
        bounds: When a sentence that states the answer is about the question. With others than these, judgements are not
            those of this version.
    """

    def __init__(self, bounds: SentenceBounds = _STRICT) -> None:
        self._bounds = bounds

    @property
    def name(self) -> str:
        """Always lexical."""
        return LEXICAL

    @property
    def version(self) -> str:
        """Of what is judged: judgements under one version compare with each other."""
        return VERSION

    @property
    def needs_answers(self) -> bool:
        """Words alone cannot tell whether a passage answers a question."""
        return True

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Whether a passage states one of the answers in a sentence that is about the question.

        That is, one that has two fifths of the other words of the question, and three quarters of what the best
        sentence of the passage has of them. The answer has to have the shape that the question asks for, a number for
        "how many", and must not be made of words of the question alone. With yes or no for an answer, two fifths of
        the question's words have to be in the passage, which says little; without a question, the answer has to. A
        reading without an answer is not supported: words alone cannot tell whether a passage answers a question.

        Source: VERDICT, Eq. 20, with words in place of a model.
        """
        return [_is_supported(stated, passages, self._bounds) for stated, passages in claims]

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """Whether a reading asks the same as one of the others.

        Where both have answers, these have to be the same. Then equal questions ask the same, and others if they share
        a word; but if one has no answer, or the answers are numbers, or yes or no, which many questions have in common,
        the questions have to be alike. Questions that name other numbers never are.

        Source: VERDICT, Eq. 15 and 16, with the F1 of words in place of BLEU; that answers count is ours.
        """
        return [any(_is_same(reading, other) for other in among) for reading in readings]

    async def distinct(self, question: str, readings: Sequence[Stated]) -> list[int]:
        """Those that match none before them which remains.

        Source: VERDICT, §5.1.1, with words in place of a model.
        """
        remaining: list[int] = []
        for place, reading in enumerate(readings):
            if not any(_is_same(reading, readings[other]) for other in remaining):
                remaining.append(place)
        return remaining

    async def relevant(self, question: str, readings: Sequence[Stated]) -> list[bool]:
        """Whether a reading has half of the words of the question; of an answer alone nobody can tell.

        Source: VERDICT, §5.2, with words in place of a model.
        """
        asked = _words(question)
        return [
            reading.interpretation is not None and _share(asked, _words(reading.interpretation)) >= _RELEVANT
            for reading in readings
        ]


def states_answer(answers: Sequence[str], passage: Passage) -> bool:
    """Tell whether one of the answers stands in a passage or its title, word for word.

    Case, punctuation, articles and the notation of numbers make no difference: "nine" stands in "9 ships".

    Args:
        answers: An answer in all its spellings.
        passage: Where it should stand.
    """
    return _states(_text(passage), answers)


def is_same_answer(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether two answers are one: a spelling of one is a variant of the other's, or says the same by its words.

    Args:
        one: An answer in all its spellings; an empty one is the same as none.
        other: Another.
    """
    return any(_say_the_same(first, second) for first in one for second in other)


def answers_differ(one: Stated, other: Stated) -> bool:
    """Tell whether both have answers, and these are not one: then they are two readings, even of one question."""
    return any(one.answers) and any(other.answers) and not is_same_answer(one.answers, other.answers)


def _is_supported(stated: Stated, passages: Sequence[Passage], bounds: SentenceBounds) -> bool:
    if not any(stated.answers):
        return False
    if stated.interpretation is None:
        return any(states_answer(stated.answers, passage) for passage in passages)
    # Yes and no stand nowhere.
    answers = [answer for answer in stated.answers if not _YES_OR_NO.match(answer)]
    # The answer's own words prove nothing about what it is the answer to.
    asked = _words(stated.interpretation).difference(*map(_words, answers))
    if answers:
        fitting = [answer for answer in answers if _may_answer(stated.interpretation, answer)]
        return bool(fitting) and any(_states_about(asked, fitting, passage, bounds) for passage in passages)
    return bool(asked) and any(_share(asked, _words(_text(passage))) >= _ABOUT for passage in passages)


def _may_answer(question: str, answer: str) -> bool:
    """Whether it has the shape that is asked for, and says more than the question, unless that offers a choice."""
    words = _words(answer)
    repeats = bool(words) and words <= _words(question) and not _CHOICE.search(question)
    return not repeats and has_asked_shape(question, answer)


def _states_about(asked: frozenset[str], answers: Sequence[str], passage: Passage, bounds: SentenceBounds) -> bool:
    text = _text(passage)
    if not _states(text, answers):
        return False
    header, sentences = _header(passage), _sentences(passage.content)
    named = _words(header)
    shares = [_share(asked, named | _words(sentence)) for sentence in sentences]
    stating = [share for share, sentence in zip(shares, sentences, strict=True) if _states(sentence, answers)]
    if not stating:
        # What the title says holds for every sentence; otherwise the answer runs over the end of one.
        stating = shares if _states(header, answers) else [_share(asked, _words(text))]
    return max(stating, default=0.0) >= max(bounds.share, bounds.of_best * max(shares, default=0.0))


def _is_same(one: Stated, other: Stated) -> bool:
    if one.interpretation is None or other.interpretation is None:
        return is_same_answer(one.answers, other.answers)
    if answers_differ(one, other):
        return False
    if asks_same_words(one.interpretation, other.interpretation):
        return True
    relation = _relate_questions(one.interpretation, other.interpretation)
    words, others = _words(one.interpretation), _words(other.interpretation)
    overlap = _overlap(words, others)
    has_answers = any(one.answers) and any(other.answers)
    said = (*one.answers, *other.answers)
    if has_answers and not any(map(_is_common, said)):
        return relation is not Relation.CONFLICT and overlap > 0
    if has_answers and any(map(_YES_OR_NO.match, said)) and not (words <= others or others <= words):
        return False
    return relation is Relation.AGREE and overlap >= _SAME


def _say_the_same(one: str, other: str) -> bool:
    said, said_too = _YES_OR_NO.match(one), _YES_OR_NO.match(other)
    if said or said_too:
        return said is not None and said_too is not None and said["said"].lower() == said_too["said"].lower()
    return is_variant(one, other) or relate_answers(one, other) is Relation.AGREE


def _is_common(answer: str) -> bool:
    """Whether it says a number without a name, or yes or no: no wonder if another question has it, too."""
    has_number = any(character.isdigit() for character in _written(answer))
    return bool(_YES_OR_NO.match(answer)) or (has_number and not _NAME_AFTER_NUMBER.search(answer))


def _relate_questions(one: str, other: str) -> Relation:
    """CONFLICT if they name other numbers, UNKNOWN if one word is exchanged for another, AGREE otherwise."""
    # With one answer to both, it is the questions alone that speak.
    return Relation(relate([one, other], ["x", "x"])[0, 1])


def _share(asked: frozenset[str], there: frozenset[str]) -> float:
    """The share of words that are there; 1 of none."""
    return len(asked & there) / len(asked) if asked else 1.0


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Harmonic mean of both shares."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _states(text: str, answers: Sequence[str]) -> bool:
    return cover_exact_match(text, answers) or cover_exact_match(_written(text), [_written(one) for one in answers])


def _header(passage: Passage) -> str:
    return "\n".join(part for part in (passage.title, passage.heading) if part)


def _text(passage: Passage) -> str:
    return f"{_header(passage)}\n{passage.content}"


@lru_cache(maxsize=1024)
def _sentences(content: str) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in split_sentences(content))


@lru_cache(maxsize=4096)
def _written(text: str) -> str:
    """A text with its numbers in one notation, without case, accents and typography."""
    return without_accents(fold(write_numbers(text)))


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    """The nouns, names and numbers of a text, as far as a list of other words can tell, each cut to its stem."""
    said = PIECE.findall(_written(text).replace("'s ", " ").replace("'", ""))
    return frozenset(root(word) for word in said if word not in NO_NOUNS)
