"""Makes a reading of the span that the trained reader found in a passage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from pgclarify.data.verdicts import AnswerSpan, Reading
from pgclarify.language.english.reading.answer_types import AnswerType
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.lists import name_cells
from pgclarify.language.english.reading.neighbors import is_of_neighbor, is_said_elsewhere
from pgclarify.language.english.reading.phrases import tidy
from pgclarify.language.english.reading.question_terms import with_synonyms
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.english.reading.spans import MEASURED, find_spans
from pgclarify.language.english.reading.topics import Topic
from pgclarify.language.english.stems import stem
from pgclarify.language.english.word_classes import AUXILIARIES, INTERROGATIVES
from pgclarify.language.english.words import content_stems, words
from pgclarify.language.sentences import MAX_SENTENCE_CHARS, Kind

_LISTED: Final = {Kind.ITEM, Kind.STEP, Kind.ROW}
# These are between the cells of a row.
_CELL_MARKS: Final = ("|", "; ")
# What a number counts if the question does not say it.
_COUNTED: Final = {"inhabitant", "peopl"}


def read_span(asked: Asked, span: AnswerSpan, pieces: Sequence[Evidence], topic: Topic, passage: str) -> Reading | None:
    """Make a reading of the user's own question, with the trained reader's span as answer, and its sentences as quote.

    Returns:
        The reading. None if the text at the span is no sentence, or is too long for a quote; if several cells of a row
        have a value of the kind that is asked for, or the answer has several cells; if the answer says no more than the
        question, or cuts a piece of code; or if the sentence lacks a word of the question that the passage has
        elsewhere.
    """
    around = _pieces_around(pieces, passage, span.start, span.end)
    if not around:
        return None
    piece = around[0]
    quote = passage[piece.start : around[-1].end]
    is_sentence = all(one.header or is_readable(one.text) for one in around)
    if not is_sentence or len(quote) > MAX_SENTENCE_CHARS:
        return None
    if _has_several_values(asked, piece):
        # A row with several prices, or dates: if the question names the column, `read_cell` has answered.
        return None
    start = max(span.start - piece.start, 0)
    end = min(span.end - piece.start, len(quote))
    if asked.kind in MEASURED:
        start, end = _bounds_of_measure(quote, start, end)
    answer = _without_full_stop(tidy(_with_closing_mark(quote, start, end)))
    is_row = piece.header != "" and any(mark in answer for mark in _CELL_MARKS)
    cuts_code = answer.count("`") % 2 == 1
    if is_row or cuts_code or content_stems(answer) <= asked.query.stems:
        return None
    said = _stems_above(pieces, piece, topic) | content_stems(quote)
    unsaid = asked.subject - with_synonyms(said)
    if is_of_neighbor(asked, said) or is_said_elsewhere(asked, unsaid, passage):
        # The passage says it of something else: "the Petrel carries no cars" below "the Sula carries 14 cars".
        return None
    return Reading(asked.as_question, _with_noun(asked, quote, answer), quote)


def _pieces_around(pieces: Sequence[Evidence], passage: str, begin: int, end: int) -> Sequence[Evidence]:
    """Return the pieces that passage[begin:end] is in: one, or several items that follow each other."""
    around = [piece for piece in pieces if not piece.items and piece.overlaps(begin, end)]
    is_list = all(piece.kind in _LISTED for piece in around)
    for one, other in pairwise(around):
        gap = passage[one.end : other.start]
        if not is_list or gap.strip():
            # An answer does not go on in the next sentence. Between items, a heading or code may stand.
            return around[:1]
    return around


def _has_several_values(asked: Asked, row: Evidence) -> bool:
    """Return whether several cells of a row have a value of the kind that is asked for."""
    if not row.header:
        return False
    values = [cell for _, cell in name_cells(row) if find_spans(cell, asked.kind)]
    return len(values) > 1


def _stems_above(pieces: Sequence[Evidence], piece: Evidence, topic: Topic) -> frozenset[str]:
    """Return the stems of what stands above a sentence, and says what it is about: also the first sentence."""
    if piece.kind is Kind.LINE:
        topic = topic.under(piece.lead)
    first = pieces[0]
    return topic.stems | content_stems(first.lead if first.items else first.text)


def _bounds_of_measure(quote: str, start: int, end: int) -> tuple[int, int]:
    """Return the ends of quote[start:end], moved so that no date or sum is cut, and that a year has its date."""
    starts, ends = [start], [end]
    for kind in MEASURED:
        for span in find_spans(quote, kind):
            if span.overlaps(start, end):
                starts.append(span.start)
                ends.append(span.end)
    start, end = min(starts), max(ends)
    answer = quote[start:end]
    if answer.isdigit():
        # The fullest form of a year is its date: "Ina Holm, born 1941 (19 March 1941)".
        for date in find_spans(quote, AnswerType.DATE):
            _, *rest = date.of(quote).split()
            if answer in rest:
                return date.start, date.end
    return start, end


def _with_noun(asked: Asked, quote: str, answer: str) -> str:
    """Return an answer with the noun that the question asks for, if that is the next word: "16 clubs"."""
    after = re.search(rf"{re.escape(answer)} ([^\W\d_]+)\b", quote)
    if not after or asked.kind is AnswerType.PERSON:
        return answer
    noun = after[1].lower()
    return after[0] if stem(noun) in _asked_nouns(asked.query.text) else answer


def _asked_nouns(question: str) -> AbstractSet[str]:
    """Return the stems of the words between "how many" and the verb, or of what a number counts without them."""
    found = words(question)
    asking = [place for place, word in enumerate(found) if word.lower in INTERROGATIVES]
    start = asking[0] if asking else 0
    nouns = set[str]()
    for place, word in enumerate(found[start:]):
        is_verb = word.lower in AUXILIARIES
        if place > 0 and is_verb:
            break
        if word.is_content:
            nouns.add(word.stem)
    return nouns or _COUNTED


def _with_closing_mark(quote: str, start: int, end: int) -> str:
    """Return the answer with the bracket that closes its own one, if that follows: "0.9 (beta)"."""
    for opening, closing in ("()", "[]"):
        answer = quote[start:end]
        if answer.count(opening) > answer.count(closing) and quote.startswith(closing, end):
            end += 1
    return quote[start:end]


def _without_full_stop(answer: str) -> str:
    """Return an answer without the full stop of the sentence; "a.m." has two."""
    return answer.removesuffix(".") if answer.count(".") == 1 else answer
