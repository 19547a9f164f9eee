"""A verifier without a language model: rules handle queries of a few words, a small network whole questions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar, cast

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import InvalidReply
from pgclarify.language.checks import AskedReading, QuotedPassage
from pgclarify.language.english.checks import check_proof_is_to_the_point
from pgclarify.language.english.reading.answer_types import TYPED, AnswerType, is_question
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.evidence import Evidence, gather_evidence
from pgclarify.language.english.reading.phrases import plain_text, read_label, read_whole, section_of, tidy
from pgclarify.language.english.reading.readings import read_cell, read_evidence, read_reply
from pgclarify.language.english.reading.relevance import is_relevant
from pgclarify.language.english.reading.span_readings import read_span
from pgclarify.language.english.reading.topics import Topic, read_topic
from pgclarify.language.english.stems import stem
from pgclarify.language.english.words import content_stems, coverage, words
from pgclarify.language.languages import is_foreign
from pgclarify.language.quotes import find_quote
from pgclarify.language.sentences import MAX_CHARS, MAX_SENTENCE_CHARS, Kind, split_sentences
from pgclarify.protocols import Embedder, PassageReader, Sending
from pgclarify.providers.extractive.scoring import LIKELY, THRESHOLD, probability_of_span

T = TypeVar("T")

MODEL: Final = "extractive-1"
PROMPT_VERSION: Final = "extractive-38"
"""Changes with every change of the verifier's results, so that old completions are not reused."""

MAX_ENCODED: Final = 8
"""Most pieces of one passage that are embedded: those that share most words with the question."""

# What an answer with a shape, such as a sum or a list, adds to the similarity of its sentence.
_SHAPE: Final = 0.15

_PURPOSE: Final = "verdict"

_BY_RULES: Final = (AnswerType.STEPS, AnswerType.YES_NO, AnswerType.DEFINITION)
_TEXTS: Final = ("interpretation", "answer", "quote")
_ABSTENTIONS: Final = (("is_foreign", StopCode.LANGUAGE), ("is_improbable", StopCode.THRESHOLD))


class ExtractiveVerifier:
    """Judges passages by rules, by the trained reader and by sentence embeddings. Implements protocols.Completer.

    Args:
        embedder: The model that compares the question with sentences. Its name is part of every request, so that
            completions of different models are not confused.
        reader: The networks that read a passage together with a question.
    """

    def __init__(self, embedder: Embedder, reader: PassageReader) -> None:
        self._embedder = embedder
        self._reader = reader

    @property
    def provider(self) -> str:
        """Return "extractive"."""
        return "extractive"

    @property
    def model(self) -> str:
        """Return the name of the method and its version."""
        return MODEL

    @property
    def turns_free(self) -> None:
        """Return None, because no call is sent."""

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Accept only verdicts. The rules read the inputs of the prompt, and not its text."""
        if call.purpose != _PURPOSE:
            return None
        # The result of the rules has the type that a verdict is read as.
        read = cast("Callable[[Completion], T]", _read)
        return replace(call, version=PROMPT_VERSION, messages=(), reminder=None, read=read)

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Make the request of a verdict for the rules; a retry is the same input as sample 1."""
        return CompletionRequest(
            purpose=call.purpose,
            model=MODEL,
            parameters={"embedding_model": self._embedder.model},
            prompt_version=call.version,
            messages=call.messages,
            sample=call.sample,
            payload=call.payload,
            document_ids=call.document_ids,
        )

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Judge the passage in the request. Nothing is sent.

        Raises:
            EmbeddingError: If the embedding model fails.
        """
        started = time.perf_counter()
        payload = request.payload or {}
        question, content = payload["question"], payload["content"]
        best = await self._find_best(question, payload["title"], payload["heading"], content)
        reading = best[1] if best and best[0] >= THRESHOLD else None
        reply: dict[str, object] = {name: getattr(reading, name) if reading else None for name in _TEXTS}
        reply["score"] = reading.score if reading else None
        reply["is_improbable"] = best is not None and reading is None
        reply["is_foreign"] = _is_foreign(question, content)
        latency_ms = (time.perf_counter() - started) * 1000.0
        return Completion(json.dumps(reply, ensure_ascii=False), 0, 0, latency_ms)

    async def rate(self, question: str, passage: Passage) -> tuple[float, Reading] | None:
        """Find the best reading of a passage, with any score.

        Returns:
            The score, and the reading; None if the passage has no reading. If the score is at least THRESHOLD, the
            reading is the verdict on the passage. It is a probability for a span of the trained reader, 1 for a cell,
            and for others the similarity of question and sentence, in [-1, 1], and _SHAPE more for a shape.

        Raises:
            EmbeddingError: If the embedding model fails.
        """
        return await self._find_best(question, passage.title, passage.heading, passage.content)

    async def _find_best(
        self, question: str, title: str | None, heading: str | None, content: str
    ) -> tuple[float, Reading] | None:
        if _is_foreign(question, content):
            return None
        content = content[:MAX_CHARS]
        asked = Asked.read(question)
        topic = read_topic(title, heading)
        pieces = gather_evidence(content)
        shared = _shared(asked, pieces, topic, content)
        if not shared:
            return None
        reply = read_reply(asked, pieces, topic, content)
        is_said = asked.kind is not AnswerType.YES_NO or (reply and reply.answer.lower().startswith(("yes", "no")))
        if reply and is_said and asked.kind not in TYPED:
            return 1.0, reply
        headings = tuple(text for text in (title, heading) if text)
        find = self._find_answer if asked.is_specific else self._find_sentence
        found = await find(asked, shared, pieces, topic, headings, content)
        return (1.0, reply) if reply and (found is None or found[0] < THRESHOLD) else found

    async def _find_sentence(
        self,
        asked: Asked,
        shared: Sequence[Evidence],
        pieces: Sequence[Evidence],
        topic: Topic,
        headings: tuple[str, ...],
        content: str,
    ) -> tuple[float, Reading] | None:
        """Return what most probably answers a few words."""
        found = await self._read_by_rules(asked, shared, topic, content)
        by_rules = found[1] if found and found[0] >= THRESHOLD else None
        judged = await self._judge(asked, pieces, topic, content)
        return _of_row(by_rules, judged) or _best_judged(asked, by_rules, judged, topic, headings, content)

    async def _find_answer(
        self,
        asked: Asked,
        shared: Sequence[Evidence],
        pieces: Sequence[Evidence],
        topic: Topic,
        headings: tuple[str, ...],
        content: str,
    ) -> tuple[float, Reading] | None:
        """Return the answer to a whole question: of the rules, which are better at some kinds, or of the reader."""
        if asked.kind not in _BY_RULES:
            return await self._read_span(asked, pieces, topic, content)
        found = await self._read_by_rules(asked, shared, topic, content)
        if found and found[0] >= THRESHOLD and asked.query.stems <= topic.stems | content_stems(found[1].quote):
            return found
        if asked.kind is not AnswerType.YES_NO:
            return None
        judged = await self._judge(asked, pieces, topic, content)
        return _best_judged(asked, None, judged, topic, headings, content)

    async def _judge(
        self, asked: Asked, pieces: Sequence[Evidence], topic: Topic, content: str
    ) -> list[tuple[Evidence, float]]:
        """Return the pieces, each with the probability that it answers."""
        places = [(piece.start, piece.end) for piece in pieces]
        return [*zip(pieces, await self._reader.judge(asked.query.text, topic.text, content, places), strict=True)]

    async def _read_by_rules(
        self, asked: Asked, shared: Sequence[Evidence], topic: Topic, content: str
    ) -> tuple[float, Reading] | None:
        """Return the reading with the highest score of those that rules find in single sentences."""
        shortlist = _shortlist(asked, shared, topic, content)
        if not shortlist:
            return None
        contexts = [_context(asked, evidence, topic, content) for evidence, _, _ in shortlist]
        similarities = await self._similarities(asked, contexts)
        scored = [
            (similarity + _SHAPE * has_shape, reading)
            for (_, reading, has_shape), similarity in zip(shortlist, similarities, strict=True)
        ]
        # "Mayor" asks for the line "Mayor: Ina Holm", and not for "Deputy mayor: Ole Lund".
        labels = [read_label(evidence, plain_text(evidence.text)) for evidence, _, _ in shortlist]
        exact = [
            one
            for one, label in zip(scored, labels, strict=True)
            if label and content_stems(label[0]) == asked.query.stems
        ]
        return max(exact or scored, key=lambda pair: pair[0])

    async def _read_span(
        self, asked: Asked, pieces: Sequence[Evidence], topic: Topic, content: str
    ) -> tuple[float, Reading] | None:
        """Return the reading of the span that the trained reader finds in the whole passage."""
        cell = read_cell(asked, pieces, topic)
        if cell and is_relevant(asked, *cell):
            return 1.0, cell[0]
        span = await self._reader.read(asked.query.text, topic.text, content)
        reading = span and read_span(asked, span, pieces, topic, content)
        if not span or not reading or not is_relevant(asked, reading):
            return None
        (similarity,) = await self._similarities(asked, [reading.quote])
        score = probability_of_span(span, similarity)
        return score, replace(reading, score=score)

    async def _similarities(self, asked: Asked, texts: Sequence[str]) -> list[float]:
        vectors = await self._embedder.encode([asked.query.text, *texts])
        return [float(similarity) for similarity in vectors[1:] @ vectors[0]]


def _of_row(by_rules: Reading | None, judged: Sequence[tuple[Evidence, float]]) -> tuple[float, Reading] | None:
    """Return what the rules read in a row by the names of its columns: the judge was trained on sentences."""
    if by_rules is None:
        return None
    told = [told for piece, told in judged if piece.kind is Kind.ROW and piece.text == by_rules.quote]
    score = max([THRESHOLD, *told])
    return (score, replace(by_rules, score=score)) if told else None


def _best_judged(
    asked: Asked,
    by_rules: Reading | None,
    judged: Sequence[tuple[Evidence, float]],
    topic: Topic,
    headings: tuple[str, ...],
    content: str,
) -> tuple[float, Reading] | None:
    """Return the sentence that most probably answers, if that is likely enough and to the point, as a reading.

    What the rules read there is better put: it may be the whole list, or only a part of the sentence. "Multi-factor
    authentication" may be what a passage calls two-factor authentication, so if no sentence is to the point, one is
    that the innermost heading names.
    """
    least = LIKELY if asked.is_specific else THRESHOLD
    likely = sorted((one for one in judged if one[1] >= least), key=lambda one: -one[1])
    for name in (asked.query.bare,) if asked.is_specific else (asked.query.bare, topic.name):
        for piece, told in likely:
            if by_rules and _overlaps(by_rules.quote, piece, content):
                return told, replace(by_rules, score=told)
            reading = _read_whole(asked, name, piece, topic, content)
            if reading and _is_to_the_point(asked, reading, headings, content):
                return told, replace(reading, score=told)
    return None


def _overlaps(quote: str, piece: Evidence, content: str) -> bool:
    start = content.find(quote)
    return start >= 0 and piece.overlaps(start, start + len(quote))


def _read_whole(asked: Asked, name: str, piece: Evidence, topic: Topic, content: str) -> Reading | None:
    """Return a whole piece as the answer to a question for yes or no, or to a topic of this name."""
    whole = read_whole(name, piece, topic) if name else None
    answers_another = topic.name.endswith("?") or content[: piece.start].rstrip().endswith("?")
    # Whether the document asks the same question was looked at before.
    if whole is None or (answers_another and is_question(asked.query.text)):
        return None
    text = asked.as_question if asked.is_specific else whole.text
    return Reading(text, tidy(whole.answer), whole.quote)


def _is_to_the_point(asked: Asked, reading: Reading, headings: tuple[str, ...], content: str) -> bool:
    """Whether the check of verdicts will find what is asked in the quote: if not, another sentence may answer."""
    span = find_quote(reading.quote, content)
    if span is None:
        return False
    of = AskedReading(reading.interpretation, reading.answer, asked.query.text)
    return check_proof_is_to_the_point(of, QuotedPassage.at(span, content, headings, split_sentences(content))) is None


def _is_foreign(question: str, content: str) -> bool:
    """Whether a text is not in English. Rules and reader know only that, and would put English words around others."""
    return is_foreign(question) or is_foreign(content)


def _read(completion: Completion) -> Reading | StopCode:
    """Parse the reading, or the reason why there is none: language, threshold (improbable), or no_language_model."""
    try:
        reply = json.loads(completion.reply)
        interpretation, answer, quote = (reply[name] for name in _TEXTS)
        score = reply["score"]
        reason = next((code for name, code in _ABSTENTIONS if reply[name]), StopCode.NO_LANGUAGE_MODEL)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidReply("the reply is not that of the extractive verifier") from error
    if interpretation is None and answer is None and quote is None:
        return reason
    if not (isinstance(interpretation, str) and isinstance(answer, str) and isinstance(quote, str)):
        raise InvalidReply("the reply is not that of the extractive verifier")
    return Reading(interpretation, answer, quote, score)


def _context(asked: Asked, evidence: Evidence, topic: Topic, content: str) -> str:
    """Return a piece with its context for the comparison: a heading, an introduction or a question."""
    if section := section_of(asked.query, evidence, topic, content):
        return f"{section}\n{evidence.text}"
    if evidence.items:
        return evidence.text if evidence.lead else f"{topic.name}\n{evidence.text}"
    # The header is cut, because a long one would be compared with every row of its table.
    lead = evidence.lead or evidence.header[:MAX_SENTENCE_CHARS]
    return f"{lead} {evidence.text}" if lead else evidence.text


def _shared(asked: Asked, pieces: Sequence[Evidence], topic: Topic, content: str) -> list[Evidence]:
    """Return the pieces that share words with the question, also by their headings; most words first."""
    shared = []
    for piece in pieces:
        stems = frozenset(stem(word.lower) for word in words(_context(asked, piece, topic, content)))
        known = coverage(asked.query.stems, stems | topic.stems)
        if known > 0.0:
            shared.append((known, coverage(asked.query.stems, stems), piece))
    shared.sort(key=lambda one: one[:2], reverse=True)
    return [piece for _, _, piece in shared]


def _shortlist(
    asked: Asked, shared: Sequence[Evidence], topic: Topic, content: str
) -> list[tuple[Evidence, Reading, bool]]:
    """Return the first pieces that support a reading."""
    kept: list[tuple[Evidence, Reading, bool]] = []
    for piece in shared[: 3 * MAX_ENCODED]:
        found = read_evidence(asked, piece, topic, content)
        if found:
            kept.append((piece, *found))
        if len(kept) == MAX_ENCODED:
            break
    return kept
