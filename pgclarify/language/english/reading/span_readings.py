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
from pgclarify.language.english.reading.grammar import FINITE_FORMS
from pgclarify.language.english.reading.lists import choose_cell, name_cells
from pgclarify.language.english.reading.neighbors import is_of_neighbor, is_said_elsewhere
from pgclarify.language.english.reading.phrases import tidy
from pgclarify.language.english.reading.question_terms import with_synonyms
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.english.reading.spans import LIFE, MEASURED, Span, find_spans
from pgclarify.language.english.reading.topics import Topic
from pgclarify.language.english.stems import stem
from pgclarify.language.english.word_classes import AUXILIARIES, INTERROGATIVES, THIRD_PERSON
from pgclarify.language.english.words import Word, all_stems, content_stems, lower_words, words
from pgclarify.language.sentences import MAX_SENTENCE_CHARS, Kind

_LISTED: Final = {Kind.ITEM, Kind.STEP, Kind.ROW}
# The dates of a life need not be called so: the group of LIFE that answers a question with this stem.
_LIFE_EVENTS: Final = {"born": 1, "die": 2}
_YEAR_DIGITS: Final = 4
# These are between the cells of a row.
_CELL_MARKS: Final = ("|", "; ")
_POINTING: Final = ("the", "this")
# A longer answer to "who" is a clause.
_MOST_NAME_WORDS: Final = 7
# What a number counts if the question does not say it.
_COUNTED: Final = {"inhabitant", "peopl"}


def read_span(asked: Asked, span: AnswerSpan, pieces: Sequence[Evidence], topic: Topic, passage: str) -> Reading | None:
    """Make a reading of the user's own question, with the trained reader's span as answer, and its sentences as quote.

    Returns:
        The reading. None if the text at the span is no sentence, or is too long for a quote; if several cells of a row
        have a value of the kind that is asked for; if the answer says no more than the question, or cuts a piece of
        code; or if the sentence lacks a word of the question that the passage has elsewhere.
    """
    event = _life_event(asked, passage, span)
    begin, end = event or (span.start, span.end)
    around = _pieces_around(pieces, passage, begin, end)
    if not around:
        return None
    piece = around[0]
    quote = passage[piece.start : around[-1].end]
    is_sentence = all(one.header or is_readable(one.text) for one in around)
    if not is_sentence or len(quote) > MAX_SENTENCE_CHARS:
        return None
    start = max(begin - piece.start, 0)
    stop = min(end - piece.start, len(quote))
    chosen = None
    if piece.header and any(mark in quote[1 : end - piece.start] for mark in _CELL_MARKS):
        # The reader finds the row, and the question its column: "How much memory does release 4 need?"
        chosen = choose_cell(asked.query.stems, piece)
    cell, column = chosen or ("", "")
    if not cell and _has_several_values(asked, piece):
        # A row with several prices, or dates: if the question names the column, `read_cell` has answered.
        return None
    if not event:
        start, stop = _with_bounds(asked, quote, start, stop)
    answer = tidy(cell or _with_marks(quote, start, stop))
    answer = _without_full_stop(answer)
    is_row = piece.header != "" and any(mark in answer for mark in _CELL_MARKS)
    if not answer or is_row or content_stems(answer) <= asked.query.stems:
        return None
    said = _stems_above(asked, pieces, piece, topic, quote)
    said |= content_stems(f"{quote} {column}")
    if event:
        said |= _LIFE_EVENTS.keys()
    unsaid = asked.subject - with_synonyms(said)
    if is_of_neighbor(asked, said) or is_said_elsewhere(asked, unsaid, passage):
        # The passage says it of something else: "the Petrel carries no cars" below "the Sula carries 14 cars".
        return None
    answer = _with_noun(asked, quote, answer)
    return Reading(asked.as_question, answer, quote)


def _life_event(asked: Asked, passage: str, span: AnswerSpan) -> tuple[int, int] | None:
    """Return the ends of the date that is asked for, if a span is in the dates of a life, or is the year of one."""
    told = passage[span.start : span.end]
    year = told[-_YEAR_DIGITS:]
    for event, group in _LIFE_EVENTS.items():
        if event not in asked.subject:
            continue
        for life in LIFE.finditer(passage):
            date = life[group]
            start, end = life.span()
            is_inside = start < span.end and span.start < end
            is_of_year = date[-_YEAR_DIGITS:] == year
            is_fuller = is_of_year and len(date) > len(told)
            if is_fuller or is_inside:
                return life.span(group)
    return None


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


def _stems_above(asked: Asked, pieces: Sequence[Evidence], piece: Evidence, topic: Topic, quote: str) -> frozenset[str]:
    """Return the stems of what stands above a sentence, and says what it is about."""
    if piece.kind is Kind.LINE:
        topic = topic.under(piece.lead)
    stems = topic.stems
    if not _has_other_noun(asked.query.text, quote):
        # The first sentence says what a passage is about, too: "The depot was built in 1923" need not repeat it.
        first = pieces[0]
        text = first.lead if first.items else first.text
        stems |= content_stems(text)
    place = pieces.index(piece)
    while place and _leans(pieces[place].text, asked):
        # "He was born in Oby": the sentence before says who.
        place -= 1
        stems |= content_stems(pieces[place].text)
    return stems


def _leans(sentence: str, asked: Asked) -> bool:
    """Return whether a sentence begins with a pronoun, or with a noun of the question that an earlier one names."""
    found = lower_words(sentence)[:2]
    if not found:
        return False
    first, last = found[0], found[-1]
    if first in THIRD_PERSON:
        return True
    return first in _POINTING and stem(last) in asked.query.stems


def _has_other_noun(question: str, quote: str) -> bool:
    """Return whether a sentence has another noun behind a word of the question: "lost card" for "lost book"."""
    there = all_stems(quote)
    led = {word for word, _ in _pairs(quote)}
    pairs = _pairs(question)
    return any(noun not in there and word in led for word, noun in pairs)


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the stems of words with meaning that only a blank separates."""
    pairs: list[tuple[str, str]] = []
    for one, two in pairwise(words(text)):
        gap = text[one.end : two.start]
        if gap == " " and one.is_content and _is_noun(two):
            pairs.append((one.stem, two.stem))
    return pairs


def _is_noun(word: Word) -> bool:
    return word.is_content and word.lower not in FINITE_FORMS


def _with_bounds(asked: Asked, quote: str, start: int, end: int) -> tuple[int, int]:
    """Return the ends of an answer, moved so that a sum keeps its "up to", and that "who" has a name and no clause."""
    number = len(words(quote[start:end]))
    if asked.kind is AnswerType.PERSON and number > _MOST_NAME_WORDS:
        return _bounds_of_name(asked, quote, start, end)
    if asked.kind in MEASURED:
        return _bounds_of_measure(quote, start, end)
    return start, end


def _bounds_of_name(asked: Asked, quote: str, start: int, end: int) -> tuple[int, int]:
    """Return the ends of a name in quote[start:end] that is not in the question; these two if there is none."""
    new: list[Span] = []
    for name in find_spans(quote, AnswerType.PERSON):
        stems = content_stems(name.of(quote))
        if name.overlaps(start, end) and stems.isdisjoint(asked.query.stems):
            new.append(name)
    if not new:
        return start, end
    # A clause that begins with a name is about it.
    is_about = new[0].start == start
    place = 0 if is_about else -1
    name = new[place]
    return name.start, name.end


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
    if not after:
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


def _with_marks(quote: str, start: int, end: int) -> str:
    """Return the answer with the missing mark of a pair, if it is directly beside it; "" if code is still cut."""
    for opening, closing in ("()", "[]", "``", '""'):
        if not _is_cut(quote[start:end], opening, closing):
            continue
        after = quote[end : end + 1]
        if after == closing:
            end += 1
        elif start and quote[start - 1] == opening:
            start -= 1
    answer = quote[start:end]
    return "" if answer.count("`") % 2 else answer


def _is_cut(answer: str, opening: str, closing: str) -> bool:
    if opening == closing:
        return answer.count(opening) % 2 == 1
    return answer.count(opening) != answer.count(closing)


def _without_full_stop(answer: str) -> str:
    """Return an answer without the full stop of the sentence; "a.m." has two."""
    return answer.removesuffix(".") if answer.count(".") == 1 else answer
