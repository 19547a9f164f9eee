"""Finds the reading of a question that one piece of evidence supports, if there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress
from typing import Final

from pgclarify.data.verdicts import Reading
from pgclarify.language.english.opposites import spell_negations
from pgclarify.language.english.reading.answer_types import AnswerType, is_question
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.lists import find_cell, name_cells, people_with, whole_row
from pgclarify.language.english.reading.phrases import joined, read_phrase, section_of, tidy
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.english.reading.spans import MEASURED, find_spans
from pgclarify.language.english.reading.topics import Topic, in_context
from pgclarify.language.english.word_classes import EXCLUSIONS, NEGATIONS
from pgclarify.language.english.words import content_stems, coverage
from pgclarify.language.sentences import Kind

# A statement about the subject may answer questions of these kinds.
_OPEN: Final = {AnswerType.CLAUSE, AnswerType.NAME, AnswerType.PLACE, AnswerType.LIST}
# Least share of the question's words that a row has with its column, title and headings: all of three words.
_MIN_NAMED: Final = 0.75
_NEGATION: Final = re.compile(rf"\b(?:{'|'.join(sorted(NEGATIONS | EXCLUSIONS))})\b", re.IGNORECASE)


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


def read_cell(asked: Asked, pieces: Sequence[Evidence], topic: Topic) -> tuple[Reading, str] | None:
    """Make a reading of the user's own question, with a cell of a table or a labeled value as answer.

    Returns:
        The reading and the name of the cell's column; None if the question names no cell.
    """
    found = find_cell(asked.query.text, asked.subject, asked.kind, pieces, topic)
    if found is None:
        return None
    piece, value, column = found
    return Reading(asked.as_question, tidy(value), piece.text), column


def read_reply(asked: Asked, pieces: Sequence[Evidence], topic: Topic, passage: str) -> Reading | None:
    """Make a reading of the user's own question from what stands first below the same question in the document."""
    if "?" not in topic.title and "?" not in passage:
        # Most passages have no question, and looking above each sentence takes long.
        return None
    for piece in pieces:
        above = piece.lead
        if not above.endswith("?"):
            above = section_of(asked.query, piece, topic, passage)
        if not above.endswith("?") or not _is_same(asked, above):
            continue
        answer = ""
        if piece.items:
            answer = joined(piece.items)
        elif is_readable(piece.text):
            answer = piece.text.rstrip(" .")
        if answer:
            return Reading(asked.as_question, tidy(answer), piece.text)
    return None


def _is_same(asked: Asked, question: str) -> bool:
    """Return whether a question asks for the same kind of answer in the same words, with the same negations."""
    told = Asked.read(question)
    if told.query.stems != asked.query.stems or told.kind is not asked.kind:
        return False
    return _negations(question) == _negations(asked.query.text)


def _negations(text: str) -> list[str]:
    return _NEGATION.findall(spell_negations(text))


def _from_passage(asked: Asked, evidence: Evidence, topic: Topic, passage: str) -> tuple[Reading, bool] | None:
    """Return what the evidence says about the words of the question, and whether the answer has a measure."""
    query, kind = asked.query, asked.kind
    is_open = not asked.is_specific and kind in _OPEN
    if evidence.header:
        return _from_row(asked, evidence, topic) if is_open else None
    phrase = None
    is_of_steps = kind is AnswerType.STEPS and bool(evidence.items)
    if is_open or is_of_steps or kind is AnswerType.DEFINITION:
        phrase = read_phrase(query, evidence, topic, passage)
    if phrase is None:
        return None
    text = phrase.text
    if is_question(query.text):
        text = asked.as_question
    has_shape = bool(evidence.items) or _has_measure(phrase.answer)
    reading = Reading(text, tidy(phrase.answer), phrase.quote)
    return reading, has_shape


def _from_row(asked: Asked, row: Evidence, topic: Topic) -> tuple[Reading, bool] | None:
    """Return the cell whose row and column have most words of the question; the rest are in title and headings."""
    wanted = asked.query.stems
    if people := people_with(wanted, row):
        return Reading(in_context(asked.query.bare, topic), people[0], row.text), False
    cells = name_cells(row)
    shares = [_share(wanted, name, topic) for name, _ in cells]
    best = max(shares, default=0.0)
    if not best:
        return None
    leading = [*compress(cells, [share == best for share in shares])]
    # If no column is named, the whole row answers.
    name, cell = leading[0] if len(leading) == 1 else whole_row(row)
    reading = Reading(in_context(name, topic), tidy(cell), row.text)
    return reading, _has_measure(cell)


def _share(wanted: frozenset[str], name: str, topic: Topic) -> float:
    """Return the share of a question's words that a cell's name has; 0 if the words are not named here."""
    stems = content_stems(name)
    # The heading of a table may have all words, and its rows none.
    is_named = coverage(wanted, stems | topic.stems) >= _MIN_NAMED
    if not is_named or stems.isdisjoint(wanted):
        return 0.0
    return coverage(wanted, stems)


def _has_measure(answer: str) -> bool:
    return any(find_spans(answer, kind) for kind in MEASURED)
