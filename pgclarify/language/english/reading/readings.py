"""Finds the reading of a question that one piece of evidence supports, if there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pgclarify.data.verdicts import AnswerSpan, Reading
from pgclarify.language.english.opposites import spell_negations
from pgclarify.language.english.reading.answer_types import TYPED, AnswerType, expected_type, is_question, plain_kinds
from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.grammar import FINITE_FORMS, parse_clause
from pgclarify.language.english.reading.lists import choose_cell, find_cell, name_cells, people_with, whole_row
from pgclarify.language.english.reading.phrases import joined, plain_text, read_phrase, read_sentence, section_of
from pgclarify.language.english.reading.question_terms import QuestionTerms, with_synonyms
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.english.reading.spans import LIFE, find_spans
from pgclarify.language.english.reading.topics import Topic, in_context
from pgclarify.language.english.stems import stem
from pgclarify.language.english.word_classes import AUXILIARIES, INTERROGATIVES, THIRD_PERSON
from pgclarify.language.english.words import content_stems, coverage, words
from pgclarify.language.sentences import MAX_SENTENCE_CHARS, Kind
from pgclarify.language.words import word_set

# Kinds of answers that are found by their shape.
_MEASURED = {
    AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.DURATION, AnswerType.FREQUENCY, AnswerType.DATE,
    AnswerType.COUNT,
}  # fmt: skip
_LISTED = {Kind.ITEM, Kind.STEP, Kind.ROW}
_MIN_SPECIFIC_WORDS = 3
_MIN_SPECIFIC_STEMS = 2
# A statement about the subject may answer questions of these kinds.
_OPEN = {AnswerType.CLAUSE, AnswerType.NAME, AnswerType.PLACE, AnswerType.LIST}
# Least share of the question's words that a row has with its column, title and headings: all of three words.
_MIN_NAMED = 0.75
# The dates of a life need not be called so: the group of LIFE that answers a question with this stem.
_LIFE_EVENTS = {"born": 1, "die": 2}
_YEAR_DIGITS = 4
_NEGATION = re.compile(r"\b(?:no|not|never|without)\b", re.IGNORECASE)
# No sentence begins with the others.
_SUBJECTS = THIRD_PERSON - {"him", "them"}
_NUMBER = re.compile(r"\s+[^\w\s]?\d")
_BY_WHICH = word_set("by through via with using")
_MAX_ANSWER_CHARS = 240
# A longer answer to "who" is a clause.
_MOST_NAME_WORDS = 7


@dataclass(frozen=True, slots=True)
class Asked:
    """A user's question and its properties.

    Attributes:
        query: The words of the question.
        subject: Stems of its words that say what the answer is about, without those for its kind: "cost", "year".
        kind: The kind of answer that it asks for.
        is_specific: True for a whole question, which is its own reading. False for a few words, whose reading comes
            from the passage.
    """

    query: QuestionTerms
    subject: frozenset[str]
    kind: AnswerType
    is_specific: bool

    @classmethod
    def read(cls, question: str) -> Asked:
        """Read a user's question."""
        query = QuestionTerms.read(question)
        is_whole = is_question(query.text) and len(words(query.text)) >= _MIN_SPECIFIC_WORDS
        kind = expected_type(query.text)
        subject = query.stems - plain_kinds(query.text)
        return cls(
            query, subject or query.stems, kind, is_whole and (len(query.stems) >= _MIN_SPECIFIC_STEMS or kind in TYPED)
        )


def read_evidence(asked: Asked, evidence: Evidence, topic: Topic, passage: str) -> tuple[Reading, bool] | None:
    """Read one piece of evidence.

    Returns:
        The reading and whether its answer has a shape of its own; None if the evidence supports no reading of the
        question.
    """
    if evidence.text.rstrip().endswith("?"):
        return None
    if evidence.kind is Kind.LINE:
        topic = topic.under(evidence.lead)
    if not (evidence.items or evidence.header or is_readable(evidence.text)):
        return None
    return _from_passage(asked, evidence, topic, passage)


def read_span(asked: Asked, span: AnswerSpan, pieces: Sequence[Evidence], topic: Topic, passage: str) -> Reading | None:
    """Make a reading of the user's own question, with the trained reader's span as answer, and its sentences as quote.

    Returns:
        The reading. None if the text at the span is no sentence, or is too long for a quote; if several cells of a row
        have a value of the kind that is asked for; if the answer says no more than the question, or cuts a piece of
        code; or if the sentence lacks a word of the question that the passage has elsewhere.
    """
    event = _life_event(asked, passage, span)
    begin, end = event or (span.start, span.end)
    around = [piece for piece in pieces if not piece.items and piece.start < end and begin < _end(piece)]
    if not around:
        return None
    is_list = all(piece.kind in _LISTED for piece in around)
    if not is_list or any(passage[_end(one) : other.start].strip() for one, other in pairwise(around)):
        # An answer does not go on in the next sentence. Between items, a heading or code may stand.
        around = around[:1]
    if around[0].kind is Kind.LINE:
        topic = topic.under(around[0].lead)
    start = around[0].start
    quote = passage[start : _end(around[-1])]
    is_sentence = all(piece.header or is_readable(piece.text) for piece in around)
    if not is_sentence or len(quote) > MAX_SENTENCE_CHARS:
        return None
    cell = column = ""
    if "|" in quote[1 : end - start] and (chosen := choose_cell(asked.query.stems, around[0])):
        # The reader finds the row, and the question its column: "How much memory does release 4 need?"
        cell, column = chosen
    if not cell and around[0].header and sum(bool(find_spans(one, asked.kind)) for _, one in name_cells(around[0])) > 1:
        # A row with several prices, or dates: if the question names the column, `read_cell` has answered.
        return None
    if not _has_other_noun(asked.query.text, quote):
        # The first sentence says what a passage is about, too: "The depot was built in 1923" need not repeat it.
        first = pieces[0].lead if pieces[0].items else pieces[0].text
        topic = replace(topic, stems=topic.stems | content_stems(first))
    place = pieces.index(around[0])
    while place and _leans(pieces[place].text, asked):
        # "He was born in Oby": the sentence before says who.
        place -= 1
        topic = replace(topic, stems=topic.stems | content_stems(pieces[place].text))
    ends = max(begin - start, 0), min(end - start, len(quote))
    ends = ends if event else _with_bounds(asked, quote, *ends)
    answer = _tidy(cell or _with_marks(quote, *ends))
    if answer.count(".") == 1:
        # The full stop of the sentence; "a.m." has two.
        answer = answer.removesuffix(".")
    if not answer or (around[0].header and "|" in answer) or content_stems(answer) <= asked.query.stems:
        return None
    said = topic.stems | content_stems(f"{quote} {column}") | (_LIFE_EVENTS.keys() if event else set())
    unsaid = asked.subject - with_synonyms(said)
    verbs = {one.stem for one in words(asked.query.text) if one.lower.endswith("ed") or one.lower in FINITE_FORMS}
    if unsaid & content_stems(passage) - verbs or any(one[0].isdigit() for one in unsaid):
        # The passage says it of something else: "the Petrel carries no cars" below "the Sula carries 14 cars".
        return None
    # The reader is surer of a sentence than it should be if that lacks words of the question.
    return Reading(own_question(asked), _with_noun(asked, quote, answer), quote, is_weak=bool(unsaid))


def _leans(sentence: str, asked: Asked) -> bool:
    """Return whether a sentence begins with a pronoun, or with a noun of the question that an earlier one names."""
    found = [word.lower for word in words(sentence)[:2]] or [""]
    return found[0] in _SUBJECTS or (found[0] in ("the", "this") and stem(found[-1]) in asked.query.stems)


def _has_other_noun(question: str, quote: str) -> bool:
    """Return whether a sentence has another noun behind a word of the question: "lost card" for "lost book"."""
    pairs, there = _pairs(quote), frozenset(word.stem for word in words(quote))
    return any(noun not in there and any(one == word for one, _ in pairs) for word, noun in _pairs(question))


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the stems of words with meaning that only a blank separates."""
    return [
        (one.stem, two.stem)
        for one, two in pairwise(words(text))
        if one.is_content and two.is_content and text[one.end : two.start] == " " and two.lower not in FINITE_FORMS
    ]


def read_cell(asked: Asked, pieces: Sequence[Evidence], topic: Topic) -> tuple[Reading, str] | None:
    """Make a reading of the user's own question, with a cell of a table or a labeled value as answer.

    Returns:
        The reading and the name of the cell's column; None if the question names no cell.
    """
    found = find_cell(asked.query.text, asked.subject, asked.kind, pieces, topic)
    if found is None:
        return None
    piece, value, column = found
    return Reading(own_question(asked), _tidy(value), piece.text), column


def read_reply(asked: Asked, pieces: Sequence[Evidence], topic: Topic, passage: str) -> Reading | None:
    """Make a reading of the user's own question from what stands first below the same question in the document."""
    # Most passages have no question, and looking above each sentence takes long.
    for piece in pieces if "?" in f"{topic.title}{passage}" else ():
        above = piece.lead if piece.lead.endswith("?") else section_of(asked.query, piece, topic, passage)
        if above.endswith("?") and _is_same(asked, above) and (piece.items or is_readable(piece.text)):
            answer = joined(piece.items) if piece.items else piece.text.rstrip(" .")
            return Reading(own_question(asked), _tidy(answer), piece.text)
    return None


def _is_same(asked: Asked, question: str) -> bool:
    """Return whether a question asks for the same kind of answer in the same words, with the same negations."""
    told = Asked.read(question)
    here, there = (_NEGATION.findall(spell_negations(one)) for one in (question, asked.query.text))
    return (told.query.stems, told.kind) == (asked.query.stems, asked.kind) and here == there


def own_question(asked: Asked) -> str:
    """Return the user's question with a capital and a question mark."""
    return f"{asked.query.text[0].upper()}{asked.query.text[1:].rstrip(' ?.!')}?"


def _life_event(asked: Asked, passage: str, span: AnswerSpan) -> tuple[int, int] | None:
    """Return the ends of the date that is asked for, if a span is in the dates of a life, or is the year of one."""
    told = passage[span.start : span.end]
    for event, group in _LIFE_EVENTS.items():
        for life in LIFE.finditer(passage) if event in asked.subject else ():
            is_fuller = len(life[group]) > len(told) and told[-_YEAR_DIGITS:] == life[group][-_YEAR_DIGITS:]
            if is_fuller or (life.start() < span.end and span.start < life.end()):
                return life.span(group)
    return None


def _with_bounds(asked: Asked, quote: str, start: int, end: int) -> tuple[int, int]:
    """Return the ends of an answer, moved so that a sum keeps its "up to", and that "who" has a name and no clause."""
    if asked.kind is AnswerType.PERSON and len(words(quote[start:end])) > _MOST_NAME_WORDS:
        names = [span for span in find_spans(quote, AnswerType.PERSON) if span.start < end and start < span.end]
        new = [one for one in names if asked.query.stems.isdisjoint(content_stems(quote[one.start : one.end]))]
        # A clause that begins with a name is about it.
        place = 0 if new and new[0].start == start else -1
        return (new[place].start, new[place].end) if new else (start, end)
    if asked.kind not in _MEASURED:
        return start, end
    spans = [span for kind in _MEASURED for span in find_spans(quote, kind) if span.start < end and start < span.end]
    # No date or sum is cut, and the fullest form of a year is its date: "Ina Holm, born 1941 (19 March 1941)".
    start, end = min([start, *(span.start for span in spans)]), max([end, *(span.end for span in spans)])
    dates = find_spans(quote, AnswerType.DATE) if quote[start:end].isdigit() else ()
    full = next((span for span in dates if quote[start:end] in quote[span.start : span.end].split()[1:]), None)
    return (full.start, full.end) if full else (start, end)


def _with_noun(asked: Asked, quote: str, answer: str) -> str:
    """Return an answer with the noun that the question asks for, if that is the next word: "16 clubs"."""
    found = words(asked.query.text)
    start = next((place for place, word in enumerate(found) if word.lower in INTERROGATIVES), 0)
    stop = next((place for place, word in enumerate(found) if place > start and word.lower in AUXILIARIES), None)
    nouns = {word.stem for word in found[start:stop] if word.is_content} or {"inhabitant", "peopl"}
    after = re.search(rf"{re.escape(answer)} ([^\W\d_]+)\b", quote)
    return after[0] if after and stem(after[1].lower()) in nouns else answer


def _with_marks(quote: str, start: int, end: int) -> str:
    """Return the answer with the missing mark of a pair, if it is directly beside it; "" if code is still cut."""
    for opening, closing in ("()", "[]", "``", '""'):
        answer = quote[start:end]
        is_cut = (
            answer.count(opening) != answer.count(closing) if opening != closing else answer.count(opening) % 2 == 1
        )
        if is_cut and quote[end : end + 1] == closing:
            end += 1
        elif is_cut and start and quote[start - 1] == opening:
            start -= 1
    answer = quote[start:end]
    return "" if answer.count("`") % 2 else answer


def _end(piece: Evidence) -> int:
    return piece.start + len(piece.text)


def _from_passage(asked: Asked, evidence: Evidence, topic: Topic, passage: str) -> tuple[Reading, bool] | None:
    """Return what the evidence says about the words of the question, and whether the answer has a measure."""
    query, is_open = asked.query, not asked.is_specific and asked.kind in _OPEN
    if evidence.header:
        return _from_row(asked, evidence, topic) if is_open else None
    phrase = None
    if is_open or asked.kind is AnswerType.DEFINITION or (evidence.items and asked.kind is AnswerType.STEPS):
        phrase = read_phrase(query, evidence, topic, passage)
    is_way = asked.kind is AnswerType.STEPS and _is_way(asked, evidence, topic)
    if phrase is None and (is_open or is_way or asked.kind is AnswerType.YES_NO):
        phrase = read_sentence(query, evidence, topic)
    if phrase is None:
        return None
    text = own_question(asked) if is_question(query.text) else phrase.text
    return Reading(text, _tidy(phrase.answer), phrase.quote), bool(evidence.items) or _has_measure(phrase.answer)


def _from_row(asked: Asked, row: Evidence, topic: Topic) -> tuple[Reading, bool] | None:
    """Return the cell whose row and column have most words of the question; the rest are in title and headings."""
    wanted = asked.query.stems
    if people := people_with(wanted, row):
        return Reading(in_context(asked.query.text.strip(" ?.!"), topic), people[0], row.text), False
    named = [(content_stems(name), name, cell) for name, cell in name_cells(row)]
    # The heading of a table may have all words, and its rows none.
    named = [one for one in named if one[0] & wanted and coverage(wanted, one[0] | topic.stems) >= _MIN_NAMED]
    if not named:
        return None
    best = max(coverage(wanted, one[0]) for one in named)
    (name, cell), *others = [(name, cell) for stems, name, cell in named if coverage(wanted, stems) == best]
    if others:
        # No column is named, so the whole row answers.
        name, cell = whole_row(row)
    return Reading(in_context(name, topic), _tidy(cell), row.text), _has_measure(cell)


def _is_way(asked: Asked, evidence: Evidence, topic: Topic) -> bool:
    """Return whether a sentence says how a task is done: with a command, or with "by", "through" and the like."""
    found = words(evidence.text)
    told = [word.stem for word in found]
    task = next((word.stem for word in words(asked.query.text) if word.is_content), "")
    # One step of several is not the whole way. A title stands above other tasks, too: "Installing" above "Removing".
    if evidence.kind is Kind.STEP or task not in {*told, *content_stems(topic.name)}:
        return False
    clause = parse_clause(evidence.text)
    if told[0] == "to" or (clause and clause.subject == "you" and clause.verb.start == found[0].start):
        return True
    # "Theft by others must be reported" does not say how, and "raises it by 5 percent" says by how much.
    after = found[told.index(task) + 1 :] if task in told else ()
    return any(one.lower in _BY_WHICH and not _NUMBER.match(evidence.text, one.end) for one in after)


def _has_measure(answer: str) -> bool:
    return any(find_spans(answer, kind) for kind in _MEASURED)


def _tidy(answer: str) -> str:
    """Return an answer on one line, shortened to about two lines, without punctuation at its ends."""
    answer = plain_text(answer).strip(" ,;:|")
    if len(answer) > _MAX_ANSWER_CHARS:
        answer = answer[: answer.rfind(" ", 0, _MAX_ANSWER_CHARS)] + " …"
    return answer
