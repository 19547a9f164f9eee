"""The sentence of a passage that most probably answers, as a reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pgclarify.data.verdicts import Reading
from pgclarify.language.checks import AskedReading, QuotedPassage
from pgclarify.language.english.checks import check_proof_is_to_the_point
from pgclarify.language.english.reading.answer_types import TYPED, AnswerType
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.evidence import Evidence, gather_evidence
from pgclarify.language.english.reading.neighbors import is_of_neighbor, is_said_elsewhere
from pgclarify.language.english.reading.phrases import read_whole, tidy
from pgclarify.language.english.reading.question_terms import with_synonyms
from pgclarify.language.english.reading.relevance import has_measure
from pgclarify.language.english.reading.spans import MEASURED
from pgclarify.language.english.reading.topics import Topic, read_topic
from pgclarify.language.english.support import unmentioned_names
from pgclarify.language.english.words import content_stems, lower_words
from pgclarify.language.quotes import find_quote
from pgclarify.language.sentences import Kind, split_sentences
from pgclarify.providers.extractive.scoring import LEAST_OF_ROW, LEAST_READ, THRESHOLD
from pgclarify.providers.extractive.whole_thoughts import Judged, whole_thought, with_sentence_before

# A sentence in the words of the question is preferred to one that is at most twice as probable.
SHARE_OF_BEST: Final = 0.5


@dataclass(frozen=True, slots=True)
class Place:
    """A passage as the methods read it.

    Attributes:
        headings: Title and headings as they are stored, without those that are missing.
    """

    content: str
    headings: tuple[str, ...]
    topic: Topic
    pieces: Sequence[Evidence]

    @classmethod
    def of(cls, title: str | None, heading: str | None, content: str) -> Place:
        """Read title, heading and text."""
        headings = tuple(text for text in (title, heading) if text)
        return cls(content, headings, read_topic(title, heading), gather_evidence(content))


@dataclass(frozen=True, slots=True)
class ByRules:
    """What the rules read in a piece of a passage; the score is not a probability."""

    score: float
    reading: Reading
    evidence: Evidence

    def overlaps(self, piece: Evidence) -> bool:
        """Whether it shares a character with a piece."""
        return self.evidence.overlaps(piece.start, piece.end)

    def covers(self, piece: Evidence) -> bool:
        """Whether a piece is in it."""
        return self.evidence.start <= piece.start and piece.end <= self.evidence.end


def with_row(by_rules: ByRules | None, judged: Sequence[Judged]) -> Sequence[Judged]:
    """Let the row that the rules read stand for all rows of the passage, with a probability at which it is shown.

    The judge was trained on sentences, and knows little of the columns of a table.
    """
    if by_rules is None or by_rules.evidence.kind is not Kind.ROW:
        return judged
    told = max([LEAST_OF_ROW, *(told for piece, told in judged if piece.kind is Kind.ROW)])
    return [(by_rules.evidence, told), *(one for one in judged if one[0].kind is not Kind.ROW)]


def best_sentence(
    asked: Asked,
    by_rules: ByRules | None,
    judged: Sequence[Judged],
    place: Place,
) -> tuple[float, Reading] | None:
    """Return the sentence that most probably answers, if that is likely enough and about what is asked, as a reading.

    Neighbours that answer, too, belong to it. What the rules read there is its label, and unless neighbours say more,
    the answer, which is better put: it may be the whole list, or only a part of the sentence. "Multi-factor
    authentication" may be what a passage calls two-factor authentication: if none of the most probable sentences is to
    the point in the words of the question, the first is read that the innermost heading names.
    """
    # A whole question says enough for the judge to be surer.
    least = THRESHOLD if asked.is_specific else LEAST_READ
    likely = sorted((one for one in judged if one[1] >= least), key=lambda one: -one[1])
    most = likely[0][1] if likely else 0.0
    for piece, told in likely:
        if told < SHARE_OF_BEST * most:
            break
        known = by_rules if by_rules and by_rules.overlaps(piece) else None
        for evidence in _thoughts(asked, piece, judged, place):
            if known and (evidence is piece or known.covers(evidence)):
                return told, replace(known.reading, score=told)
            reading = _read_whole(asked, asked.query.bare, evidence, place)
            if reading and known:
                reading = replace(reading, interpretation=known.reading.interpretation)
            if reading and _is_fit(asked, reading, evidence, place):
                return told, replace(reading, score=told)
        # "They may be split" says too little alone, and is better than nothing.
        reading = _read_whole(asked, asked.query.bare, piece, place, may_point=True) if asked.is_specific else None
        if reading and _is_fit(asked, reading, piece, place):
            return told, replace(reading, score=told)
    if asked.is_specific:
        return None
    for piece, told in likely:
        for evidence in _thoughts(asked, piece, judged, place):
            if reading := _read_whole(asked, place.topic.name, evidence, place):
                return told, replace(reading, score=told)
    return None


def _thoughts(asked: Asked, piece: Evidence, judged: Sequence[Judged], place: Place) -> tuple[Evidence, ...]:
    """Return a sentence with its neighbours, and the sentence alone, in case that they say nothing together.

    Of a whole question, the sentence after the one before it comes last, which says what "they" are.

    The answer to a question for yes or no, or for a value or a name, is one sentence.
    """
    is_single = asked.is_specific and (asked.kind is AnswerType.YES_NO or asked.kind in TYPED)
    thought = piece if is_single else whole_thought(piece, judged, place.content)
    several = (piece,) if thought is piece else (thought, piece)
    # A sentence that stands alone is not about what the one before it names.
    stands_alone = not asked.is_specific or _read_whole(asked, asked.query.bare, piece, place) is not None
    before = None if stands_alone else with_sentence_before(piece, judged, place.content)
    return several if before is None else (*several, before)


def _is_fit(asked: Asked, reading: Reading, piece: Evidence, place: Place) -> bool:
    """Whether a reading is about what is asked: one of a few words has all of them.

    That of a whole question has its names, and a measure if one is asked for, which is not of a neighbor. Otherwise
    the judge needs no words in common.
    """
    if not asked.is_specific:
        return _is_to_the_point(asked, reading, place)
    told = "\n".join([*place.headings, piece.lead, piece.header, piece.text])
    if unmentioned_names(asked.query.text, told) or not has_measure(asked, piece.text):
        return False
    if asked.kind not in MEASURED:
        return True
    said = content_stems(told)
    # "A Lumo lamp costs 89 dollars" beside "the Vega shelf" tells the price of no shelf.
    unsaid = asked.subject - with_synonyms(said)
    return not (is_of_neighbor(asked, said) or is_said_elsewhere(asked, unsaid, place.content))


def _read_whole(asked: Asked, name: str, piece: Evidence, place: Place, *, may_point: bool = False) -> Reading | None:
    """Return a whole piece as the answer to a whole question, or to a topic of this name.

    "Yes" below another question answers that one. A question is no answer.
    """
    if not name:
        return None
    # "Dogs are not allowed" says all that "Are dogs allowed?" asks for.
    asks_yes_no = asked.is_specific and asked.kind is AnswerType.YES_NO
    whole = read_whole("" if asks_yes_no else name, piece, place.topic, may_point=may_point)
    answers_another = place.topic.name.endswith("?") or place.content[: piece.start].rstrip().endswith("?")
    # Whether the document asks the same question was looked at before.
    if whole is None or whole.answer.endswith("?") or (answers_another and _is_reply(whole.answer)):
        return None
    text = asked.as_question if asked.is_specific else whole.text
    return Reading(text, tidy(whole.answer), whole.quote)


def _is_reply(answer: str) -> bool:
    """Whether an answer begins with yes or no, which answers the question above it and no other one."""
    return lower_words(answer)[:1] in (["yes"], ["no"])


def _is_to_the_point(asked: Asked, reading: Reading, place: Place) -> bool:
    """Whether the check of verdicts will find what is asked in the quote: if not, another sentence may answer."""
    span = find_quote(reading.quote, place.content)
    if span is None:
        return False
    of = AskedReading(reading.interpretation, reading.answer, asked.query.text)
    quoted = QuotedPassage.at(span, place.content, place.headings, split_sentences(place.content))
    return check_proof_is_to_the_point(of, quoted) is None
