"""Compares answers, with the entailment that a run's settings name.

Source: SUNAR, §3.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from pgclarify.algorithms.directions import answer_directions
from pgclarify.data.runs import Tally
from pgclarify.data.vocabulary import AT_ENDPOINT
from pgclarify.database.ledger import LedgerTables
from pgclarify.errors import ModelNotFound
from pgclarify.language.catalog import language_of
from pgclarify.language.relations import Relation
from pgclarify.ledger.ask_each import ask_each
from pgclarify.ledger.calls import Calls
from pgclarify.ledger.completions import ask_all
from pgclarify.operations.missing_models import cannot_ask, cannot_load, no_endpoint
from pgclarify.prompts.cross_encoding import inference
from pgclarify.prompts.entailment import entailment
from pgclarify.protocols import Completer, CrossEncoder, Embedder, Entailment

SAME_ANSWER_SIMILARITY = 0.4
"""Least cosine similarity of two answers with the same meaning, apart from their question.

Chosen with all-MiniLM-L6-v2 for the best F1 among pairs whose words do not decide; docs/methods/reranking.md has the
figures of other pairs.
"""

# Most pairs in one call of a model behind an endpoint: the default limit of text-embeddings-inference.
_PAIRS_AT_ONCE = 32
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Entailments:
    """The judges of entailment that a worker has.

    Attributes:
        chat: The language model; None if there is none.
        cross_encoders: Returns the cross-encoder of a name; raises EmbeddingError.
        at_endpoint: Returns the model of a name that begins with `endpoint:`, which answers the prompt `inference`;
            raises ConfigurationError or ModelNotFound.
    """

    chat: Completer | None
    cross_encoders: Callable[[str], Awaitable[CrossEncoder]]
    at_endpoint: Callable[[str], Completer] = no_endpoint

    async def get(
        self, name: str, ledger: LedgerTables, embedder: Embedder, *, calls: Calls | None = None
    ) -> Entailment:
        """Make the judge of a run.

        Args:
            name: "embedding": the words and vectors of the answers. "model": the language model. `endpoint:` and a
                name: a model for natural language inference behind the rerank endpoint. Any other: the name or path of
                such a cross-encoder.
            ledger: The run's.
            embedder: The corpus's model.
            calls: The run's remaining calls, for the language model; None if there is no limit.

        Raises:
            ConfigurationError: If a language model or an endpoint is required and missing.
            EmbeddingError: If the cross-encoder cannot be loaded, or cannot tell entailment.
        """
        if name == "embedding":
            return partial(_by_embedding, embedder)
        if name == "model":
            if self.chat is None:
                raise cannot_ask("entailment", "embedding")
            return partial(_by_language_model, ledger, self.chat, calls)
        if name.startswith(AT_ENDPOINT):
            return partial(_by_endpoint, ledger, self.at_endpoint(name))
        try:
            encoder = await self.cross_encoders(name)
        except ModelNotFound as error:
            raise cannot_load("entailment", name, "embedding") from error
        # A wrong model is found out here, before anything is paid for.
        await encoder.entails([])
        return partial(_by_cross_encoder, encoder)


async def _by_embedding(
    embedder: Embedder,
    question: str,
    pairs: Sequence[Pair],
    *,
    document_ids: Sequence[str] = (),
    tally: Tally | None = None,
) -> Sequence[bool]:
    """Compare the words of answers and, if they do not decide, the vectors.

    It compares for equality, so it is symmetric: "October 1919" and "1919" entail each other.

    Raises:
        EmbeddingError: If the model fails.
    """
    # One direction of each pair is enough, because the relation is symmetric.
    one_way = {frozenset(pair): pair for pair in reversed(pairs)}
    relations = await asyncio.to_thread(_relate, question, one_way)
    unclear = {key: one_way[key] for key, relation in relations.items() if relation is Relation.UNKNOWN}
    are_near = dict(zip(unclear, await _are_near(embedder, question, list(unclear.values())), strict=True))
    return [
        are_near[key] if relations[key] is Relation.UNKNOWN else relations[key] is Relation.AGREE
        for key in map(frozenset, pairs)
    ]


async def _are_near(embedder: Embedder, question: str, pairs: Sequence[Pair]) -> list[bool]:
    if not pairs:
        return []
    answers = list(dict.fromkeys(answer for pair in pairs for answer in pair))
    encoded = await embedder.encode([question, *(f"{question} {answer}" for answer in answers)])
    vectors = dict(zip(answers, answer_directions(encoded[1:], encoded[0]), strict=True))
    return [float(vectors[one] @ vectors[other]) >= SAME_ANSWER_SIMILARITY for one, other in pairs]


def _relate(question: str, pairs: Mapping[frozenset[str], Pair]) -> dict[frozenset[str], Relation]:
    """Compare the words of answers. For long answers, a thousand pairs take seconds."""
    language = language_of(question, question)
    return {key: language.relate_answers(*pair) for key, pair in pairs.items()}


async def _by_language_model(
    ledger: LedgerTables,
    chat: Completer,
    calls: Calls | None,
    question: str,
    pairs: Sequence[Pair],
    *,
    document_ids: Sequence[str] = (),
    tally: Tally | None = None,
) -> Sequence[bool]:
    """Judge pairs, one call each, all at once. If a reply cannot be read, its pair counts as different.

    Raises:
        CompletionError: If a call failed, no reply could be read, or there are too few calls left.
        RunLost: If the run is no longer this worker's.
    """
    asked = [entailment(question, *pair, document_ids=document_ids) for pair in pairs]
    return await ask_each(ledger, chat, asked, False, tally=tally, calls=calls)


async def _by_cross_encoder(
    encoder: CrossEncoder,
    question: str,
    pairs: Sequence[Pair],
    *,
    document_ids: Sequence[str] = (),
    tally: Tally | None = None,
) -> Sequence[bool]:
    """Judge pairs, each answer with the question before it, because a name alone entails nothing.

    Raises:
        EmbeddingError: If the model fails.

    Source: Kuhn et al., 2023, §3.2 (question and answer together).
    """
    return await encoder.entails(_with_question(question, pairs))


async def _by_endpoint(
    ledger: LedgerTables,
    model: Completer,
    question: str,
    pairs: Sequence[Pair],
    *,
    document_ids: Sequence[str] = (),
    tally: Tally | None = None,
) -> Sequence[bool]:
    """Judge pairs, 32 a call, each answer with the question before it, because a name alone entails nothing.

    Raises:
        CompletionError: If a call failed; NotAllowed if a budget refused one.
        RunLost: If the run is no longer this worker's.
    """
    shown = _with_question(question, pairs)
    asked = [
        inference(shown[start : start + _PAIRS_AT_ONCE], document_ids) for start in range(0, len(shown), _PAIRS_AT_ONCE)
    ]
    results = await ask_all(ledger, model, asked, tally=tally)
    return [*chain.from_iterable(result.require() for result in results)]


def _with_question(question: str, pairs: Sequence[Pair]) -> list[Pair]:
    return [(f"{question} {premise}", f"{question} {hypothesis}") for premise, hypothesis in pairs]
