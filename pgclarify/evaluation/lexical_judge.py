"""The judge without a language model: it compares words, and asks the trained reader. Its judgements never vary.

docs/methods/evaluation.md describes its rules for support and matches, and how often it is wrong.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Final

from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.data.documents import Passage
from pgclarify.evaluation.records import Stated
from pgclarify.language.english.answer_shapes import has_asked_shape
from pgclarify.language.english.answers import relate_answers
from pgclarify.language.english.contradictions import relate
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.stems import root
from pgclarify.language.english.word_classes import NO_NOUNS
from pgclarify.language.quotes import fold, without_accents
from pgclarify.language.relations import Relation
from pgclarify.language.sentences import split_sentences
from pgclarify.language.words import PIECE, asks_same_words
from pgclarify.protocols import SpanReader

VERSION: Final = "7"
"""Increase it when any judgement changes."""

# A passage, or a sentence with its title, is about a question if it has this share of the question's words.
_ABOUT: Final = 0.4
# A sentence must also have this part of the best share in the passage.
_OF_BEST: Final = 0.75
# Two questions ask the same, and two answers say the same, if their words have this F1 (the threshold of Eq. 16, for
# unigrams instead of BLEU).
_SAME: Final = 0.5

# Yes or no alone, or with a sentence after it. "No Country for Old Men" and "No. 5" are names.
_YES_OR_NO: Final = re.compile(
    r"\W*(?P<said>(?i:yes|no))(?:\W*\Z|\W+(?i:it|he|she|they|we|you|i|there|this|that)\b|\s*[,;:.\u2013\u2014-]\s+[a-z])"
)
# "Is it red or blue?" contains its answer.
_CHOICE: Final = re.compile(r"\bor\b", re.IGNORECASE)
# An answer without a name is an answer of many questions.
_NAME_AFTER_NUMBER: Final = re.compile(r"\s[A-Z][a-z]")


class LexicalJudge:
    """Judges by words, and by the trained reader where words of the question are missing. Implements Judge.

    Args:
        reader: The trained reader.
    """

    def __init__(self, reader: SpanReader) -> None:
        self._reader = reader

    @property
    def name(self) -> str:
        """Return "lexical"."""
        return "lexical"

    @property
    def version(self) -> str:
        """Return the version of the rules. Judgements of one version are comparable."""
        return VERSION

    @property
    def needs_answers(self) -> bool:
        """Both rules compare a given answer."""
        return True

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Judge whether a passage states one of the answers in a sentence that is about the question, or as its answer.

        A sentence about the question has two fifths of the other words of the question, and three quarters of the best
        share in the passage. The answer must have the shape that the question asks for, such as a number for "how
        many", and must not consist of words of the question alone. For the answers yes and no, the passage must have
        two fifths of the question's words, which is weak evidence. Without a question, the passage must have the
        answer. If no sentence with the answer is about the question, the trained reader must find the same answer. A
        reading without an answer is not supported.

        Raises:
            EmbeddingError: If the reader fails.

        Source: VERDICT, Eq. 20, with words and the trained reader instead of a language model.
        """

        async def is_supported(stated: Stated, passages: Sequence[Passage]) -> bool:
            return _is_supported(stated, passages) or await self._is_read(stated, passages)

        return list(await asyncio.gather(*(is_supported(*claim) for claim in claims)))

    async def _is_read(self, stated: Stated, passages: Sequence[Passage]) -> bool:
        """Return whether the trained reader finds the answer in a passage that states it."""
        for passage in passages:
            if stated.interpretation is None or not _states(_text(passage), _fitting(stated)):
                continue
            span = await self._reader.read(stated.interpretation, _header(passage), passage.content)
            if span is not None and span.is_answerable:
                read = passage.content[span.start : span.end]
                if is_same_answer([read], stated.answers):
                    return True
        return False

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """Judge whether a reading asks the same as one of the others.

        If both have answers, the answers must be the same. Then two questions ask the same if they are equal or share a
        word. Numbers, yes and no are answers of many questions: for these, or if an answer is missing, the questions
        must be similar. Questions with different numbers never ask the same.

        Source: VERDICT, Eq. 15 and 16, with the F1 of words instead of BLEU. The comparison of answers is ours.
        """
        return [any(_is_same(reading, other) for other in among) for reading in readings]


def states_answer(answers: Sequence[str], passage: Passage) -> bool:
    """Return whether a passage or its title has one of the answers word for word.

    Case, punctuation, articles and the notation of numbers make no difference: "9 ships" has "nine".

    Args:
        answers: An answer in all its spellings.
        passage: The passage.
    """
    return _states(_text(passage), answers)


def is_same_answer(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two answers are the same: a spelling of one agrees with the other's, or shares its words.

    Args:
        one: An answer in all its spellings; an empty answer is the same as no answer.
        other: Another answer in all its spellings.
    """
    pairs = product(one, other)
    return any(_say_the_same(*pair) for pair in pairs)


def answers_differ(one: Stated, other: Stated) -> bool:
    """Return whether both have answers that differ. Then they are two readings, even with equal questions."""
    return _both_have_answers(one, other) and not is_same_answer(one.answers, other.answers)


def _both_have_answers(one: Stated, other: Stated) -> bool:
    return any(one.answers) and any(other.answers)


def _is_supported(stated: Stated, passages: Sequence[Passage]) -> bool:
    """Return whether a passage states one of the answers, by its words alone."""
    if not any(stated.answers):
        return False
    if stated.interpretation is None:
        return any(states_answer(stated.answers, passage) for passage in passages)
    answers = _stated(stated)
    # The words of the answer do not show which question it answers.
    asked = _words(stated.interpretation).difference(*map(_words, answers))
    if not answers:
        return any(_is_about(asked, passage) for passage in passages)
    fitting = _fitting(stated)
    return any(_states_about(asked, fitting, passage) for passage in passages)


def _is_about(asked: frozenset[str], passage: Passage) -> bool:
    """Return whether a passage has enough words of a question; False if the question has none."""
    there = _words(_text(passage))
    return bool(asked) and _share(asked, there) >= _ABOUT


def _stated(stated: Stated) -> list[str]:
    """Return the answers that a passage can state, which are all but "yes" and "no"."""
    return [answer for answer in stated.answers if not _YES_OR_NO.match(answer)]


def _fitting(stated: Stated) -> list[str]:
    """Return the answers that a passage can state, and that may answer the question."""
    return [answer for answer in _stated(stated) if _may_answer(stated.interpretation or "", answer)]


def _may_answer(question: str, answer: str) -> bool:
    """Return whether an answer has the asked shape and has new words, or the question offers a choice."""
    words = _words(answer)
    is_repeated = bool(words) and words <= _words(question)
    if is_repeated and not _CHOICE.search(question):
        return False
    return has_asked_shape(question, answer)


def _states_about(asked: frozenset[str], answers: Sequence[str], passage: Passage) -> bool:
    """Return whether a passage states an answer in a sentence that is about the question.

    Args:
        asked: The words of the question without those of the answers.
        answers: The answers that a passage can state.
        passage: The passage.
    """
    text = _text(passage)
    if not _states(text, answers):
        return False
    header = _header(passage)
    named = _words(header)
    shares = []
    stating = []
    for sentence in _sentences(passage.content):
        share = _share(asked, named | _words(sentence))
        shares.append(share)
        if _states(sentence, answers):
            stating.append(share)
    if not stating and _states(header, answers):
        # A title applies to every sentence.
        stating = shares
    elif not stating:
        # The answer crosses the end of a sentence.
        stating = [_share(asked, _words(text))]
    best = max(shares, default=0.0)
    return max(stating, default=0.0) >= max(_ABOUT, _OF_BEST * best)


def _is_same(one: Stated, other: Stated) -> bool:
    if one.interpretation is None or other.interpretation is None:
        return is_same_answer(one.answers, other.answers)
    if answers_differ(one, other):
        return False
    if asks_same_words(one.interpretation, other.interpretation):
        return True
    relation = _relate_questions(one.interpretation, other.interpretation)
    words = _words(one.interpretation)
    others = _words(other.interpretation)
    overlap = _overlap(words, others)
    said = (*one.answers, *other.answers)
    if _both_have_answers(one, other):
        if not any(map(_is_common, said)):
            return relation is not Relation.CONFLICT and overlap > 0
        is_part = words <= others or others <= words
        if any(map(_YES_OR_NO.match, said)) and not is_part:
            return False
    return relation is Relation.AGREE and overlap >= _SAME


def _say_the_same(one: str, other: str) -> bool:
    said = _yes_or_no(one)
    said_too = _yes_or_no(other)
    if said or said_too:
        return said == said_too
    match relate_answers(one, other):
        case Relation.AGREE:
            return True
        case Relation.UNKNOWN:
            return _overlap(_words(one), _words(other)) >= _SAME
    return False


def _yes_or_no(answer: str) -> str | None:
    """Return what an answer says: yes, no, or None if it says something else."""
    found = _YES_OR_NO.match(answer)
    return found["said"].lower() if found else None


def _is_common(answer: str) -> bool:
    """Return whether an answer is a number without a name, yes or no, which other questions may have too."""
    if _YES_OR_NO.match(answer) is not None:
        return True
    has_number = any(character.isdigit() for character in _written(answer))
    return has_number and _NAME_AFTER_NUMBER.search(answer) is None


def _relate_questions(one: str, other: str) -> Relation:
    """Return CONFLICT for different numbers, UNKNOWN if one word replaces another, AGREE otherwise."""
    # Both get the same answer, so that only the questions are compared.
    return relate((one, "x"), (other, "x"))


def _share(asked: frozenset[str], there: frozenset[str]) -> float:
    """Return the share of the words that are there; 1 if there are no words."""
    if not asked:
        return 1.0
    return len(asked & there) / len(asked)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the harmonic mean of both shares."""
    if not one and not other:
        return 1.0
    shared = len(one & other)
    return 2 * shared / (len(one) + len(other))


def _states(text: str, answers: Sequence[str]) -> bool:
    """Return whether a text has one of the answers, in the same notation or in another one."""
    if cover_exact_match(text, answers):
        return True
    written = [_written(answer) for answer in answers]
    return cover_exact_match(_written(text), written)


def _header(passage: Passage) -> str:
    return "\n".join(part for part in (passage.title, passage.heading) if part)


def _text(passage: Passage) -> str:
    return f"{_header(passage)}\n{passage.content}"


@lru_cache(maxsize=1024)
def _sentences(content: str) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in split_sentences(content))


@lru_cache(maxsize=4096)
def _written(text: str) -> str:
    """Return a text with its numbers in one notation, without case, accents and typography."""
    return without_accents(fold(write_numbers(text)))


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    """Return the stems of the nouns, names and numbers of a text: of all words that a list does not exclude."""
    without_genitives = _written(text).replace("'s ", " ")
    said = PIECE.findall(without_genitives.replace("'", ""))
    return frozenset(root(word) for word in said if word not in NO_NOUNS)
