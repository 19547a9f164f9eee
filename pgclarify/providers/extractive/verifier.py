"""A verifier without a language model: a small network judges sentences for a few words, another reads answers."""

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
from pgclarify.language.english.reading.answer_types import TYPED, AnswerType
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.phrases import plain_text, read_label, section_of
from pgclarify.language.english.reading.readings import read_cell, read_evidence, read_reply
from pgclarify.language.english.reading.relevance import is_relevant
from pgclarify.language.english.reading.span_readings import read_span
from pgclarify.language.english.reading.topics import Topic
from pgclarify.language.english.stems import stem
from pgclarify.language.english.words import content_stems, coverage, words
from pgclarify.language.languages import is_foreign
from pgclarify.language.sentences import MAX_CHARS, MAX_SENTENCE_CHARS
from pgclarify.protocols import Embedder, PassageReader, Sending
from pgclarify.providers.extractive.best_sentence import SHARE_OF_BEST, ByRules, Place, best_sentence, with_row
from pgclarify.providers.extractive.scoring import (
    LEAST_READ,
    THRESHOLD,
    between,
    probability_of_span,
)
from pgclarify.providers.extractive.whole_thoughts import Judged

T = TypeVar("T")

MODEL: Final = "extractive-1"
PROMPT_VERSION: Final = "extractive-46"
"""Changes with every change of the verifier's results, so that old completions are not reused."""

MAX_ENCODED: Final = 8
"""Most pieces of one passage that are embedded: those that share most words with the question."""

# What an answer with a shape, such as a sum or a list, adds to the similarity of its sentence.
_SHAPE: Final = 0.15

_PURPOSE: Final = "verdict"

_BY_RULES: Final = (AnswerType.STEPS, AnswerType.DEFINITION)
# The answer to such a question is a whole sentence or list, and no part of it.
_WHOLE: Final = (AnswerType.STEPS, AnswerType.YES_NO)
_TEXTS: Final = ("interpretation", "answer", "quote")
_ABSTENTIONS: Final = (("is_foreign", StopCode.LANGUAGE), ("is_improbable", StopCode.THRESHOLD))


class ExtractiveVerifier:
    """Judges passages by rules, by small trained networks and by embeddings. Implements protocols.Completer.

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
        reading = best[1] if best and best[0] >= LEAST_READ else None
        reply: dict[str, object] = {name: getattr(reading, name) if reading else None for name in _TEXTS}
        reply["score"] = reading.score if reading else None
        reply["is_improbable"] = best is not None and reading is None
        reply["is_foreign"] = _is_foreign(question, content)
        latency_ms = (time.perf_counter() - started) * 1000.0
        return Completion(json.dumps(reply, ensure_ascii=False), 0, 0, latency_ms)

    async def rate(self, question: str, passage: Passage) -> tuple[float, Reading] | None:
        """Find the best reading of a passage, with any score.

        Returns:
            The score, and the reading; None if the passage has no reading. If the score is at least LEAST_READ, the
            reading is the verdict on the passage. It is the probability of the judge of sentences; 1 for a cell and for
            a reply to the same question; for steps and definitions, the similarity of question and sentence, in
            [-1, 1], and _SHAPE more for a shape.

        Raises:
            EmbeddingError: If the embedding model fails.
        """
        return await self._find_best(question, passage.title, passage.heading, passage.content)

    async def _find_best(
        self, question: str, title: str | None, heading: str | None, content: str
    ) -> tuple[float, Reading] | None:
        if _is_foreign(question, content):
            return None
        asked, place = Asked.read(question), Place.of(title, heading, content[:MAX_CHARS])
        shared = _shared(asked, place.pieces, place.topic, place.content)
        if not shared:
            return None
        reply = read_reply(asked, place.pieces, place.topic, place.content)
        is_said = asked.kind is not AnswerType.YES_NO or (reply and reply.answer.lower().startswith(("yes", "no")))
        if reply and is_said and asked.kind not in TYPED:
            return 1.0, reply
        found = await (self._find_answer if asked.is_specific else self._find_sentence)(asked, shared, place)
        return (1.0, reply) if reply and (found is None or found[0] < THRESHOLD) else found

    async def _find_sentence(
        self, asked: Asked, shared: Sequence[Evidence], place: Place
    ) -> tuple[float, Reading] | None:
        """Return what most probably answers a few words."""
        found = await self._read_by_rules(asked, shared, place.topic, place.content)
        by_rules = found if found and found.score >= THRESHOLD else None
        judged = with_row(by_rules, await self._judge(asked, place))
        best = best_sentence(asked, by_rules, judged, place)
        if best is None and by_rules:
            told = max((told for piece, told in judged if by_rules.overlaps(piece)), default=0.0)
            return told, replace(by_rules.reading, score=told)
        return best

    async def _find_answer(
        self, asked: Asked, shared: Sequence[Evidence], place: Place
    ) -> tuple[float, Reading] | None:
        """Return the answer to a whole question: steps and definitions that rules find, or what is likeliest.

        The judge of sentences says how likely it is. If the trained reader finds a part of that sentence, or of one
        that is hardly less likely, the part is the answer.
        """
        if asked.kind in _BY_RULES:
            found = await self._read_by_rules(asked, shared, place.topic, place.content)
            if found and found.score >= THRESHOLD and asked.query.stems <= _told(found.reading, place):
                return found.score, found.reading
        if asked.kind is AnswerType.DEFINITION:
            return None
        if asked.kind in _WHOLE:
            return best_sentence(asked, None, await self._judge(asked, place), place)
        cell = read_cell(asked, place.pieces, place.topic)
        if cell and is_relevant(asked, *cell):
            return 1.0, cell[0]
        judged = await self._judge(asked, place)
        whole = best_sentence(asked, None, judged, place)
        told, part = await self._read_span(asked, judged, place)
        is_as_likely = part and (whole is None or told >= SHARE_OF_BEST * whole[0])
        return (part.score or 0.0, part) if part and is_as_likely else whole

    async def _judge(self, asked: Asked, place: Place) -> list[Judged]:
        """Return the pieces, each with the probability that it answers."""
        sentences = [(piece.start, piece.end) for piece in place.pieces]
        told = await self._reader.judge(asked.query.text, place.topic.text, place.content, sentences)
        return [*zip(place.pieces, told, strict=True)]

    async def _read_by_rules(
        self, asked: Asked, shared: Sequence[Evidence], topic: Topic, content: str
    ) -> ByRules | None:
        """Return the reading with the highest score of those that rules find in single sentences."""
        shortlist = _shortlist(asked, shared, topic, content)
        if not shortlist:
            return None
        contexts = [_context(asked, evidence, topic, content) for evidence, _, _ in shortlist]
        similarities = await self._similarities(asked, contexts)
        scored = [
            ByRules(similarity + _SHAPE * has_shape, reading, evidence)
            for (evidence, reading, has_shape), similarity in zip(shortlist, similarities, strict=True)
        ]
        # "Mayor" asks for the line "Mayor: Ina Holm", and not for "Deputy mayor: Ole Lund".
        labels = [read_label(evidence, plain_text(evidence.text)) for evidence, _, _ in shortlist]
        exact = [
            one
            for one, label in zip(scored, labels, strict=True)
            if label and content_stems(label[0]) == asked.query.stems
        ]
        return max(exact or scored, key=lambda one: one.score)

    async def _read_span(self, asked: Asked, judged: Sequence[Judged], place: Place) -> tuple[float, Reading | None]:
        """Return how probably the sentence of the trained reader's span answers, and the reading if it is sure of it.

        The score of the reading is that probability, or if it is more, the mean of both networks, of their log-odds.
        """
        span = await self._reader.read(asked.query.text, place.topic.text, place.content)
        reading = span and read_span(asked, span, place.pieces, place.topic, place.content)
        if not span or not reading or not is_relevant(asked, reading):
            return 0.0, None
        (similarity,) = await self._similarities(asked, [reading.quote])
        probability = probability_of_span(span, similarity)
        if probability < THRESHOLD:
            return 0.0, None
        told = max((told for piece, told in judged if piece.overlaps(span.start, span.end)), default=0.0)
        return told, replace(reading, score=max(told, between(told, probability)))

    async def _similarities(self, asked: Asked, texts: Sequence[str]) -> list[float]:
        vectors = await self._embedder.encode([asked.query.text, *texts])
        return [float(similarity) for similarity in vectors[1:] @ vectors[0]]


def _told(reading: Reading, place: Place) -> frozenset[str]:
    """Return the stems of a reading's quote, title and headings."""
    return place.topic.stems | content_stems(reading.quote)


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
