"""Finds the reading of a question that one piece of evidence supports, if there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pgclarify.data.verdicts import AnswerSpan, Reading
from pgclarify.language.sentences import MAX_SENTENCE_CHARS, Kind
from pgclarify.language.words import content_stems, coverage, words
from pgclarify.providers.extractive.answer_types import TYPED, AnswerType, expected_type, is_question, plain_kinds
from pgclarify.providers.extractive.drafts import Draft
from pgclarify.providers.extractive.evidence import Evidence
from pgclarify.providers.extractive.grammar import is_base_verb
from pgclarify.providers.extractive.lists import draft_row, draft_steps, find_cell
from pgclarify.providers.extractive.phrases import plain_text, read_phrase, read_sentence, stands_below
from pgclarify.providers.extractive.readable import is_readable
from pgclarify.providers.extractive.scoring import QuestionTerms
from pgclarify.providers.extractive.spans import find_spans
from pgclarify.providers.extractive.statements import draft_readings
from pgclarify.providers.extractive.topics import Topic, in_context, stand_alone

# Kinds of answers that say more than "yes" or a clause.
_TELLING = TYPED | {AnswerType.STEPS}
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
# Least share of the question's words that a reading has.
_MIN_RELEVANCE = 0.5
# Least share of the question's words that the reading has together with its quote and the headings above it.
_MIN_SAID = 0.6
_FEW = 3
_MAX_ANSWER_CHARS = 240


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
    if evidence.text.rstrip().endswith("?") or _is_personal(evidence.text):
        return None
    if evidence.kind is Kind.LINE:
        topic = topic.under(evidence.lead)
    if not (evidence.items or evidence.header or is_readable(evidence.text)):
        return None
    return _from_passage(asked, evidence, topic, passage)


def _is_personal(text: str) -> bool:
    """Return whether the writer tells a personal story, which need not be true for other people."""
    return '"' not in text and any(word.text in ("I", "I'm", "I've", "I\u2019m", "I\u2019ve") for word in words(text))


def read_span(asked: Asked, span: AnswerSpan, pieces: Sequence[Evidence], topic: Topic, passage: str) -> Reading | None:
    """Make a reading of the user's own question, with the trained reader's span as answer, and its sentences as quote.

    Returns:
        The reading. None if the text at the span is no sentence, is too long for a quote, or is a personal story. None
        too if the answer says no more than the question, or cuts a piece of code; or if the sentence lacks a word of
        the question that the passage has elsewhere.
    """
    around = [piece for piece in pieces if not piece.items and piece.start < span.end and span.start < _end(piece)]
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
    if not is_sentence or len(quote) > MAX_SENTENCE_CHARS or _is_personal(quote):
        return None
    ends = _with_bounds(asked, quote, max(span.start - start, 0), min(span.end - start, len(quote)))
    answer = _tidy(_with_marks(quote, *ends))
    if answer.count(".") == 1:
        # The full stop of the sentence; "a.m." has two.
        answer = answer.removesuffix(".")
    if not answer or content_stems(answer) <= asked.query.stems:
        return None
    unsaid = asked.subject - topic.stems - content_stems(quote)
    if not unsaid.isdisjoint(content_stems(passage)):
        # The passage says it of something else: "the Petrel carries no cars" below "the Sula carries 14 cars".
        return None
    # The reader is surer of a sentence than it should be if that lacks words of the question.
    return Reading(_own_question(asked, answer, topic), answer, quote, is_weak=bool(unsaid))


def read_cell(asked: Asked, pieces: Sequence[Evidence], topic: Topic) -> tuple[Reading, Evidence] | None:
    """Make a reading of the user's own question, with a cell of a table or a labeled value as answer."""
    found = find_cell(asked.query.text, asked.subject, asked.kind, pieces, topic)
    if found is None:
        return None
    piece, value = found
    return Reading(_own_question(asked, value, topic), _tidy(value), piece.text), piece


def _own_question(asked: Asked, answer: str, topic: Topic) -> str:
    """Return the user's question, with the policy or plan that the passage is about."""
    question = f"{asked.query.text[0].upper()}{asked.query.text[1:].rstrip(' ?.!')}?"
    is_scheme_itself = content_stems(answer) <= content_stems(topic.scheme)
    return stand_alone(topic, question) if topic.scheme and not is_scheme_itself else question


def _with_bounds(asked: Asked, quote: str, start: int, end: int) -> tuple[int, int]:
    """Return the ends of an answer, moved so that a sum keeps its "up to"."""
    if asked.kind not in _MEASURED:
        return start, end
    spans = [span for kind in _MEASURED for span in find_spans(quote, kind) if span.start < end and start < span.end]
    # No date or sum is cut, and the fullest form of a year is its date: "Ina Holm, born 1941 (19 March 1941)".
    start, end = min([start, *(span.start for span in spans)]), max([end, *(span.end for span in spans)])
    dates = find_spans(quote, AnswerType.DATE) if quote[start:end].isdigit() else ()
    full = next((span for span in dates if quote[start:end] in quote[span.start : span.end].split()[1:]), None)
    return (full.start, full.end) if full else (start, end)


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
    """Return a question that the evidence answers and that the user may have meant."""
    best: tuple[float, Draft, str] | None = None
    for draft in _drafts(evidence, topic, passage):
        # "Yes" alone says hardly anything about a few words. The passage's own question with its answer says enough.
        if not (_fits(asked.kind, draft.kind) or (draft.is_found and asked.kind is AnswerType.CLAUSE)):
            continue
        is_definition = draft.kind is AnswerType.DEFINITION
        question = draft.question if is_definition else stand_alone(topic, draft.question)
        if draft.is_phrase:
            question = in_context(draft.question, topic)
        # A row without any of the words is about something else, even if the heading of its table has the words.
        if draft.is_phrase and asked.query.stems.isdisjoint(content_stems(f"{draft.question} {draft.answer}")):
            continue
        relevance = coverage(asked.query.stems, content_stems(question))
        said = topic.stems | content_stems(f"{question} {evidence.text}")
        # "Can I check the list?" is not "Is there a list?".
        least = 1.0 if asked.kind is AnswerType.YES_NO else _MIN_RELEVANCE
        if relevance < least or coverage(asked.query.stems, said) < _MIN_SAID:
            continue
        # In a query of a few words, no word may be missing: "coffee for visitors" does not ask about staff coffee.
        is_few = not asked.is_specific and len(asked.query.stems) <= _FEW
        if is_few and not draft.is_found and not asked.query.stems <= topic.stems | content_stems(question):
            continue
        if best is None or relevance > best[0]:
            best = (relevance, draft, question)
    if best is None:
        is_open = not asked.is_specific and asked.kind in _OPEN
        phrase = is_open and (
            read_phrase(asked.query, evidence, topic, passage) or read_sentence(asked.query, evidence, topic)
        )
        return (Reading(phrase.text, _tidy(phrase.answer), phrase.quote), False) if phrase else None
    _, draft, question = best
    return Reading(question, _tidy(draft.answer), evidence.text), draft.kind in _TELLING


def _drafts(evidence: Evidence, topic: Topic, passage: str) -> list[Draft]:
    if evidence.items:
        steps = draft_steps(evidence, topic)
        drafts = [steps] if steps else []
    elif evidence.header:
        drafts = draft_row(evidence)
    else:
        drafts = [*draft_readings(evidence, topic, passage)]
    question = _question_before(evidence, topic, passage)
    found = _draft_found(question, evidence, drafts) if question else None
    if found is None:
        return drafts
    # "Yes" and whole sentences say less than a sum or a time.
    return [found, *drafts] if found.kind in _TELLING else [*drafts, found]


def _draft_found(question: str, evidence: Evidence, drafts: list[Draft]) -> Draft | None:
    """Return the question that the passage itself asks, if the next text answers it."""
    kind = expected_type(question)
    if kind in TYPED:
        fitting = (draft.answer for draft in drafts if draft.kind in TYPED and _fits(kind, draft.kind))
        answer = next(fitting, "")
        span = None if answer or evidence.items else next(iter(find_spans(evidence.text, kind)), None)
        if span:
            answer = evidence.text[span.start : span.end]
        return Draft(question, answer, kind, is_found=True) if answer else None
    if evidence.items:
        return Draft(question, "; ".join(evidence.items), kind, is_found=True)
    # Definitions are only found as definitions. A text without an end, such as "to do so, run the command", says
    # nothing.
    if kind is AnswerType.DEFINITION or not evidence.text.rstrip("*_\"')").endswith((".", "!")):
        return None
    first = words(evidence.text[:40])
    if kind is AnswerType.YES_NO and not (first and first[0].lower in ("yes", "no")):
        return None
    is_command = bool(first) and is_base_verb(first[0].lower)
    if kind is AnswerType.STEPS and not is_command and not content_stems(question) & content_stems(evidence.text):
        return None
    return Draft(question, evidence.text, kind, is_found=True)


def _question_before(evidence: Evidence, topic: Topic, passage: str) -> str:
    """Return the one question directly above: the sentence before, or the heading."""
    before = evidence.before.strip("*_ ")
    heading = topic.text.split(" > ")[-1]
    # A passage without its heading continues a section. The title stands above all sections.
    is_below = not before and (not topic.headings or stands_below(heading, evidence, passage))
    for text in (before, heading if is_below else ""):
        question = re.sub(r"^(?:Q|Question)\s?\d{0,3}[:.]\s{1,5}", "", text)
        is_one = question.endswith("?") and not re.search(r"[.?!] ", question)
        if is_one and is_question(question) and len(words(question)) >= 3:
            return " ".join(question.split())
    return ""


def _fits(wanted: AnswerType, given: AnswerType) -> bool:
    """Return whether an answer of a kind fits a question. A question without a kind takes all but "yes" and "no"."""
    return wanted is given or (wanted in (AnswerType.CLAUSE, AnswerType.NAME) and given is not AnswerType.YES_NO)


def _tidy(answer: str) -> str:
    """Return an answer on one line, shortened to about two lines, without punctuation at its ends."""
    answer = plain_text(answer).strip(" ,;:")
    if len(answer) > _MAX_ANSWER_CHARS:
        answer = answer[: answer.rfind(" ", 0, _MAX_ANSWER_CHARS)] + " …"
    return answer
