"""A verifier with no language model: rules read a few words, and a small network reads whole questions."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar, cast

from pgclarify.errors import InvalidReply
from pgclarify.language.languages import is_foreign
from pgclarify.language.sentences import MAX_CHARS, MAX_SENTENCE_CHARS
from pgclarify.language.stems import stem
from pgclarify.language.words import coverage, words
from pgclarify.model import Passage, Reading
from pgclarify.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.protocols import Begin, Embedder, SpanReader
from pgclarify.providers.extractive.answer_types import AnswerType
from pgclarify.providers.extractive.evidence import Evidence, gather_evidence
from pgclarify.providers.extractive.phrases import opens_section
from pgclarify.providers.extractive.readings import Asked, read_evidence, read_span
from pgclarify.providers.extractive.relevance import is_relevant
from pgclarify.providers.extractive.scoring import THRESHOLD, features, probability, probability_of_span
from pgclarify.providers.extractive.topics import Topic, read_topic
from pgclarify.vocabulary import StopCode

T = TypeVar("T")

MODEL: Final = "extractive-1"
PROMPT_VERSION: Final = "extractive-10"
"""Changes with every change of what the verifier makes of a passage, so that old completions are not served."""

MAX_ENCODED: Final = 8
"""Most pieces of one passage that are embedded; those that share most words with the question."""

_PURPOSE: Final = "verdict"

_GOES_ON: Final = re.compile(r"(?:It|They|This|That|These|Those|He|She|Its|Their|His|Her)\b")
"""A sentence that begins so says nothing without the one before it."""

_BY_RULES: Final = (AnswerType.STEPS, AnswerType.YES_NO, AnswerType.DEFINITION)
_TEXTS: Final = ("interpretation", "answer", "quote")


class ExtractiveVerifier:
    """Judges passages by rules, by a reader of spans and by sentence embeddings. Implements protocols.Completer.

    Args:
        embedder: The model that compares the question with sentences. Its name is part of every request, so that a
            completion made with another one is not taken for this one's.
        reader: What reads a passage for a whole question.
    """

    def __init__(self, embedder: Embedder, reader: SpanReader) -> None:
        self._embedder = embedder
        self._reader = reader

    @property
    def provider(self) -> str:
        """Always extractive."""
        return "extractive"

    @property
    def model(self) -> str:
        """Name of the method and its version."""
        return MODEL

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Take a verdict, and nothing else: the rules read what the prompt is rendered from, not its text."""
        if call.purpose != _PURPOSE:
            return None
        # What a verdict is read as is what the rules give.
        read = cast("Callable[[Completion], T]", _read)
        return replace(call, version=PROMPT_VERSION, messages=(), reminder=None, read=read)

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Address a verdict to the rules; a retry is the same input as sample 1."""
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

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Judge the passage in the request.

        Raises:
            EmbeddingError: If the embedding model fails.
        """
        if begin is not None:
            await begin()
        started = time.perf_counter()
        payload = request.payload or {}
        best = await self._most_probable(payload["question"], payload["title"], payload["heading"], payload["content"])
        reading = best[1] if best and best[0] >= THRESHOLD else None
        reply: dict[str, object] = {name: getattr(reading, name) if reading else None for name in _TEXTS}
        reply["is_weak"] = reading is not None and reading.is_weak
        reply["is_improbable"] = best is not None and reading is None
        latency_ms = (time.perf_counter() - started) * 1000.0
        return Completion(json.dumps(reply, ensure_ascii=False), 0, 0, latency_ms)

    async def rate(self, question: str, passage: Passage) -> tuple[float, Reading] | None:
        """Find the most probable reading of a passage, however improbable.

        Returns:
            How probable it is that it answers the question, in (0, 1), and the reading; None if the passage has none.
            It is the passage's verdict if it is probable enough.

        Raises:
            EmbeddingError: If the embedding model fails.
        """
        return await self._most_probable(question, passage.title, passage.heading, passage.content)

    async def _most_probable(
        self, question: str, title: str | None, heading: str | None, content: str
    ) -> tuple[float, Reading] | None:
        content = content[:MAX_CHARS]
        # Neither the rules nor the reader know another language: they would put English words around foreign ones.
        if is_foreign(question) or is_foreign(content):
            return None
        asked = Asked.read(question)
        topic = read_topic(title, heading, content)
        pieces = gather_evidence(content)
        shared = _shared(asked, pieces, topic, content)
        if not shared:
            return None
        # The rules know what is to be done, what is allowed and what a thing is; of the rest the reader knows more.
        if asked.is_specific and asked.kind not in _BY_RULES:
            return await self._read_span(asked, pieces, topic, content)
        by_rules = await self._read_by_rules(asked, shared, topic, content)
        if by_rules and asked.is_specific and not is_relevant(asked, by_rules[1], topic):
            return None
        return by_rules

    async def _read_by_rules(
        self, asked: Asked, shared: Sequence[Evidence], topic: Topic, content: str
    ) -> tuple[float, Reading] | None:
        """The most probable of the readings that rules find in single sentences."""
        shortlist = _shortlist(asked, shared, topic, content)
        if not shortlist:
            return None
        contexts = [_context(asked, evidence, topic, content) for evidence, _, _ in shortlist]
        similarities = await self._similarities(asked, contexts)
        best: tuple[float, Reading] | None = None
        for (_, reading, has_shape), context, similarity in zip(shortlist, contexts, similarities, strict=True):
            measured = features(asked.query, context, topic.text, similarity, has_shape)
            likely = probability(measured)
            if best is None or likely > best[0]:
                best = (likely, reading)
        return best

    async def _read_span(
        self, asked: Asked, pieces: Sequence[Evidence], topic: Topic, content: str
    ) -> tuple[float, Reading] | None:
        """What the reader points at in the whole passage."""
        span = await self._reader.read(asked.query.text, topic.text, content)
        reading = span and read_span(asked, span, pieces, topic, content)
        if not span or not reading or not is_relevant(asked, reading, topic):
            return None
        (similarity,) = await self._similarities(asked, [reading.quote])
        measured = features(asked.query, reading.quote, topic.text, similarity, has_answer=True)
        return probability_of_span(span, measured), reading

    async def _similarities(self, asked: Asked, texts: Sequence[str]) -> list[float]:
        vectors = await self._embedder.encode([asked.query.text, *texts])
        return [float(similarity) for similarity in vectors[1:] @ vectors[0]]


def _read(completion: Completion) -> Reading | StopCode:
    """Read the reading, or why there is none: threshold if it was too improbable, else no_language_model."""
    try:
        reply = json.loads(completion.reply)
        interpretation, answer, quote = (reply[name] for name in _TEXTS)
        is_weak, is_improbable = bool(reply["is_weak"]), reply["is_improbable"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidReply("the reply is not that of the extractive verifier") from error
    if interpretation is None and answer is None and quote is None:
        return StopCode.THRESHOLD if is_improbable else StopCode.NO_LANGUAGE_MODEL
    if not (isinstance(interpretation, str) and isinstance(answer, str) and isinstance(quote, str)):
        raise InvalidReply("the reply is not that of the extractive verifier")
    return Reading(interpretation, answer, quote, is_weak)


def _context(asked: Asked, evidence: Evidence, topic: Topic, content: str) -> str:
    """A piece as it is compared: with what it goes on from, be it a heading, an introduction or the sentence before."""
    if opens_section(asked.query, evidence, topic, content):
        return f"{topic.name}\n{evidence.text}"
    if evidence.items:
        return evidence.text if evidence.lead else f"{topic.name}\n{evidence.text}"
    # Every row of a table would be read with a header of any length.
    lead = evidence.lead or evidence.header[:MAX_SENTENCE_CHARS]
    if evidence.before.endswith("?") or _GOES_ON.match(evidence.text):
        lead = evidence.before
    return f"{lead} {evidence.text}" if lead else evidence.text


def _shared(asked: Asked, pieces: Sequence[Evidence], topic: Topic, content: str) -> list[Evidence]:
    """The pieces that share words with the question, by themselves or by what stands above; most words first."""
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
    """The first pieces that support a reading."""
    kept: list[tuple[Evidence, Reading, bool]] = []
    for piece in shared[: 3 * MAX_ENCODED]:
        found = read_evidence(asked, piece, topic, content)
        if found:
            kept.append((piece, *found))
        if len(kept) == MAX_ENCODED:
            break
    return kept
