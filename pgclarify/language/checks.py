"""What the core asks a language for: checks of a reading against the passage that it was read in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pgclarify.data.verdicts import Refusal
from pgclarify.language.quotes import fold
from pgclarify.language.relations import Relation, Sides
from pgclarify.language.sentences import Kind, Sentence
from pgclarify.language.words import distinct_words

Span: TypeAlias = tuple[int, int]
"""Offsets in a passage: of the first character, and after the last one."""


@dataclass(frozen=True, slots=True)
class AskedReading:
    """What a model read in a passage, and the question that it was asked.

    Attributes:
        interpretation: The reading of the question.
        answer: The answer to the reading.
        question: The question.
    """

    interpretation: str
    answer: str
    question: str


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A passage, and the part of it that is to prove an answer.

    Attributes:
        content: The text of the passage.
        headings: Its title and its headings, those that it has.
        sentences: Its sentences.
        span: Where the proof is in the content.
        leading: Texts that belong to the proof: a table's header, the sentence before a list, the question before.
    """

    content: str
    headings: tuple[str, ...]
    sentences: Sequence[Sentence]
    span: Span
    leading: tuple[str, ...]

    @classmethod
    def at(cls, span: Span, content: str, headings: tuple[str, ...], sentences: Sequence[Sentence]) -> QuotedPassage:
        """Return a passage with the proof at some place."""
        return cls(content, headings, sentences, span, _leading(span, sentences))

    @property
    def quote(self) -> str:
        """The text of the proof."""
        return self.content[slice(*self.span)]

    @property
    def whole_sentences(self) -> Sequence[Sentence]:
        """The sentences in which the proof is."""
        start, end = self.span
        return [one for one in self.sentences if one.start < end and start < one.end]

    @property
    def left_out(self) -> tuple[str, str]:
        """What these sentences say before the proof, and behind it."""
        start, end = self.span
        sentences = self.whole_sentences
        if not sentences:
            return "", ""
        return self.content[sentences[0].start : start], self.content[end : sentences[-1].end]


Check: TypeAlias = Callable[[AskedReading, QuotedPassage], Refusal | None]
"""Says why a passage does not, or may not, prove a reading; None if it does."""


def _leaves_out_nothing(passage: QuotedPassage) -> bool:
    """Take any quote for one that says what its sentences say."""
    return False


def _finds_none(quote: str, reading: AskedReading, content: str, sentences: Sequence[Sentence]) -> Span | None:
    """Find nothing for a quote that is not verbatim."""
    return None


def _all_with_a_word(reading: AskedReading, own: str, others: Sequence[str]) -> Sequence[int]:
    """Find all texts with a word that the reading has and its own text does not, because any may tell something."""
    missing = distinct_words(reading.interpretation, reading.answer) - distinct_words(reading.question, own)
    return [place for place, other in enumerate(others) if missing & distinct_words(other)]


def _relates_none(one: str, other: str) -> Relation:
    """Tell nothing by the words of two answers."""
    return Relation.UNKNOWN


def _as_it_was_read(answer: str, reading: str, question: str) -> str:
    """Keep a reading."""
    return reading


def _same_words(answer: str, found: Sequence[Collection[str]]) -> int | None:
    """Find the first answer that has a variant in the same words."""
    said = fold(answer)
    return next((place for place, variants in enumerate(found) if said in map(fold, variants)), None)


def _split_none(readings: Sequence[str], weights: Sequence[float]) -> Sides | None:
    """Split no readings."""
    return None


def _finds_no_fault(question: str, rewritten: str, history: Sequence[str]) -> str | None:
    """Accept a rewritten question."""
    return None


def _whole_question(question: str) -> str:
    """Keep a question."""
    return question


@dataclass(frozen=True, slots=True)
class Language:
    """A language, with what is known about it. One of which nothing is known has only a code.

    Attributes:
        code: As in ISO 639: "en".
        of_claims: Checks of whether the whole sentences around a quote assert what it says, for any proof of an answer.
        of_passage: Checks of whether the passage has the answer at all. What these two refuse is no reading.
        doubts_of_sentences: Checks of the whole sentences around a quote. What they name, they only doubt: a large
            model is mostly right there, a small one mostly wrong (docs/methods/quotation.md).
        doubts_of_quote: The same of a quote. If they doubt it, its whole sentences may still pass them.
        leaves_out: Whether a quote leaves out what its sentences deny or limit, so that they are cited instead.
        find_copied: Finds what a quote copies with changes that do not matter, or says in other words, from the quote,
            what was read, the text of the passage and its sentences; None if there is no such part.
        find_lenders: Finds the places of texts that a reading has words of, from what was read, the text that proves
            it, and the other texts; such words may not be in its own text or in the question.
        relate_answers: Compares two answers to a question by their words.
        ask_for: Returns the question instead of a reading that states the answer, from answer, reading and question.
        find_variant: Finds which of several answers, each with its variants, an answer is a variant of.
        split: Splits readings in two by their words, from the readings and how likely each is; None if nothing does.
        find_fault: Says why a rewritten question must not replace the original one, from both and the earlier turns.
        without_asking: Returns a question without the words that ask.
    """

    code: str
    of_claims: tuple[Check, ...] = ()
    of_passage: tuple[Check, ...] = ()
    doubts_of_sentences: tuple[Check, ...] = ()
    doubts_of_quote: tuple[Check, ...] = ()
    leaves_out: Callable[[QuotedPassage], bool] = _leaves_out_nothing
    find_copied: Callable[[str, AskedReading, str, Sequence[Sentence]], Span | None] = _finds_none
    find_lenders: Callable[[AskedReading, str, Sequence[str]], Sequence[int]] = _all_with_a_word
    relate_answers: Callable[[str, str], Relation] = _relates_none
    ask_for: Callable[[str, str, str], str] = _as_it_was_read
    find_variant: Callable[[str, Sequence[Collection[str]]], int | None] = _same_words
    split: Callable[[Sequence[str], Sequence[float]], Sides | None] = _split_none
    find_fault: Callable[[str, str, Sequence[str]], str | None] = _finds_no_fault
    without_asking: Callable[[str], str] = _whole_question


def _leading(span: Span, sentences: Sequence[Sentence]) -> tuple[str, ...]:
    start, end = span
    found: list[str] = []
    lead = ""
    for one in sentences:
        if one.start >= end:
            break
        is_in_proof = one.end > start
        if one.kind is Kind.PROSE:
            if is_in_proof and lead.rstrip("*_").endswith("?"):
                found.append(lead)
            lead = one.text
        elif is_in_proof:
            found += [text for text in (lead, one.header) if text]
            break
    return tuple(found)
