"""Checks a verdict by the words of its quote: the passage must say what the verdict says. No model is called."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.language.catalog import language_of
from pgclarify.language.checks import AskedReading, Check, Language, QuotedPassage, Span
from pgclarify.language.quotes import find_proof
from pgclarify.language.sentences import Sentence, split_sentences
from pgclarify.language.words import folded_words
from pgclarify.prompts.fencing import as_data

# A quote of fewer words is read together with its sentence.
_CLAUSE: Final = 4


@dataclass(frozen=True, slots=True)
class Quoted:
    """The cited part of a passage.

    Attributes:
        quote: As the document spells it.
        start_char: Offset in the document, from 0.
        end_char: Offset after its last character.
        is_repaired: Whether the model's quote had other words than the passage.
        doubt: Why the proof may be none; None if no check doubts it.
    """

    quote: str
    start_char: int
    end_char: int
    is_repaired: bool = False
    doubt: Refusal | None = None


def cite(quote: str, answer: str, passage: Passage) -> Quoted | None:
    """Find a quote in a passage, in whole words; None if the passage does not contain it as a proof of the answer."""
    span = find_proof(quote, answer, passage.content)
    return None if span is None else _quoted(span, passage)


def cite_claim(quote: str, answer: str, asked: str, passage: Passage) -> Quoted | None:
    """Find a quote as `cite` does, and judge it with its sentences, for an answer with other proofs beside it.

    Args:
        quote: The quote.
        answer: The answer, which may rest on several quotes.
        asked: The question that it is for.
        passage: The cited passage.

    Returns:
        What to cite: the quote, or its whole sentences if these limit what it says. None if the passage does not
        contain it, or if its sentences take the answer back.
    """
    span = find_proof(quote, answer, passage.content)
    if span is None:
        return None
    language = language_of(passage.content, asked)
    sentences = split_sentences(passage.content)
    part = QuotedPassage.at(span, passage.content, (), sentences)
    whole = QuotedPassage.at(_widened(span, sentences), passage.content, (), sentences)
    read = AskedReading(asked, answer, asked)
    if _refusal(language.of_claims, read, whole, frozenset(Refusal)) is not None:
        return None
    cited = whole if language.leaves_out(part) else part
    return _quoted(cited.span, passage)


def check_quote(
    reading: Reading, question: str, passage: Passage, checks: Collection[Refusal] = frozenset(Refusal)
) -> Quoted | Refusal:
    """Check that a passage gives the answer of a reading, with the quote as proof.

    A quote in English may say a sentence of the passage in other words. Then this is the proof.

    Words are only compared if the passage is in English, or if the question is and nothing tells that the passage is
    not. Otherwise it suffices that the passage contains the quote and, if the question is not in English either, that
    the answer is in the passage's words. If the question about an English passage is in another language, only the
    answer is compared.

    Args:
        reading: The reading of the passage.
        question: The question.
        passage: The cited passage.
        checks: Which checks are made besides the first one, which is always made. For measurements.

    Returns:
        What to cite, in the words of the document: the quote, or its whole sentences if the quote alone proves nothing;
        with the doubt of a check, if one doubts the proof. Or why the verdict is refused.

    Source: VERDICT, §4.1 asks for the evidence; the checks are ours.
    """
    return check_quote_in(language_of(passage.content, question), reading, question, passage, checks)


def check_quote_in(
    language: Language,
    reading: Reading,
    question: str,
    passage: Passage,
    checks: Collection[Refusal] = frozenset(Refusal),
) -> Quoted | Refusal:
    """Check a quote as `check_quote` does, with the checks of one language."""
    asked = AskedReading(reading.interpretation, reading.answer, question)
    sentences = split_sentences(passage.content)
    span = find_proof(reading.quote, reading.answer, passage.content)
    is_repaired = span is None
    # A passage with marks of chat templates is shown with these broken: only a quote without them is the passage's.
    if span is None and as_data(passage.content) == passage.content:
        span = language.find_copied(reading.quote, asked, passage.content, sentences)
    if span is None:
        return Refusal.UNPROVEN
    headings = tuple(text for text in (passage.title, passage.heading) if text)
    whole = QuotedPassage.at(_widened(span, sentences), passage.content, headings, sentences)
    refusal = _refusal((*language.of_claims, *language.of_passage), asked, whole, checks)
    if refusal is not None:
        return refusal
    doubt = _refusal(language.doubts_of_sentences, asked, whole, checks)
    part = QuotedPassage.at(span, passage.content, headings, sentences)
    words = folded_words(part.quote)
    is_short = Refusal.FRAGMENT in checks and len(words) < _CLAUSE
    stands_alone = not is_short and not language.leaves_out(part)
    if stands_alone and _refusal(language.doubts_of_quote, asked, part, checks) is None:
        return replace(_quoted(span, passage, is_repaired=is_repaired), doubt=doubt)
    if doubt is None:
        doubt = _refusal(language.doubts_of_quote, asked, whole, checks)
        doubt = Refusal.FRAGMENT if doubt is not None and is_short else doubt
    return replace(_quoted(whole.span, passage, is_repaired=is_repaired), doubt=doubt)


def _refusal(
    made: Sequence[Check], asked: AskedReading, passage: QuotedPassage, wanted: Collection[Refusal]
) -> Refusal | None:
    """Return the first wanted reason why a passage does not prove a reading; None if it may."""
    refusals = (check(asked, passage) for check in made)
    return next((refusal for refusal in refusals if refusal in wanted), None)


def _widened(span: Span, sentences: Sequence[Sentence]) -> Span:
    """Extend a span to whole sentences."""
    start, end = span
    touched = [one for one in sentences if one.start < end and start < one.end]
    first = min([start, *(one.start for one in touched)])
    last = max([end, *(one.end for one in touched)])
    return first, last


def _quoted(span: Span, passage: Passage, *, is_repaired: bool = False) -> Quoted:
    start, end = span
    return Quoted(passage.content[start:end], passage.start_char + start, passage.start_char + end, is_repaired)
