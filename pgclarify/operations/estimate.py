"""Estimates the model calls of questions, without making any call.

The estimate uses replies that are in the ledger: the relaxed question if its relaxation is there, and a model's grades
or a reranker's scores if all of them are there. Where a reply is missing, the question is used unchanged, and the calls
that follow are bounded instead of counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from math import ceil
from typing import Final, TypeAlias

from pgclarify.data.candidates import Found
from pgclarify.data.estimates import Prospect
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import AT_ENDPOINT, StopCode
from pgclarify.errors import InvalidReply
from pgclarify.language.numbers import counted
from pgclarify.ledger.expectations import Expectations, Known
from pgclarify.operations.ambiguity.detector import summarize
from pgclarify.operations.clarification.bounds import most_calls, most_calls_of_one_pass, most_verdicts
from pgclarify.operations.clarification.one_pass import READ_TOKENS, answer_call, proven_answer
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.judging.answer_proof import Proven
from pgclarify.operations.judging.confirmation import (
    AT_ONCE,
    confirmation_calls,
    confirms_nothing,
    given_answer,
)
from pgclarify.operations.judging.verdict_check import Quoted, check_quote
from pgclarify.operations.judging.verdicts import verdict_call
from pgclarify.operations.missing_models import no_language_model
from pgclarify.operations.retrieval.evidence import cut_evidence
from pgclarify.operations.retrieval.exploration import Query, other_signal
from pgclarify.operations.retrieval.first_stage import RERANKED, ranked
from pgclarify.operations.retrieval.reranking import UNREAD, reranking_calls
from pgclarify.prompts.confirmation import GivenAnswer, confirmation
from pgclarify.prompts.relaxation import relaxation
from pgclarify.prompts.relevance import relevance
from pgclarify.protocols import Completer, Embedder

# Passages are read in groups of this size, but those of one question always together.
_PASSAGES_AT_ONCE: Final = 1000
_EXTRACTIVE: Final = "extractive"
_Judged: TypeAlias = tuple[Found, Known[Reading | StopCode] | None]


async def estimate(context: RunContext) -> Ending:
    """Estimate the calls of clarifying a run's questions; the estimate is the result.

    The run succeeds; or it fails if a question could not be embedded, or if a model is required for ranking passages or
    confirming answers and is missing.

    Args:
        context: The run. Its question is a JSON array of different questions. Its settings are those of the runs of
            clarify to estimate; others are ignored.
    """
    survey = _Survey(context, await context.embedder())
    prospect = await survey.carry_out(json.loads(context.run.question))
    await context.stores.estimates.record_estimate(context.run, prospect)
    return Ending()


class _Survey:
    """One run of estimate."""

    def __init__(self, context: RunContext, embedder: Embedder) -> None:
        self._context = context
        self._run = context.run
        self._trace = context.trace
        self._estimates = context.stores.estimates
        self._completer = context.models.completer
        self._chat = context.models.chat
        self._embedder = embedder
        self._expected = Expectations(self._run, self._estimates, self._completer)
        self._at_most = 0
        self._passages = 0
        settings = self._run.settings
        self._method: str = settings["method"]
        self._top_k: int = settings["top_k"]
        self._max_passages: int = settings.get("max_passages", self._top_k)
        self._most_verdicts = most_verdicts(settings)
        self._reranker: str | None = settings.get("reranker")
        self._reranker_at_endpoint: Completer | None = None
        if self._reranker is not None and self._reranker.startswith(AT_ENDPOINT):
            self._reranker_at_endpoint = context.models.rerankers.at_endpoint(self._reranker)
        self._is_adaptive = settings.get("retrieval") == "adaptive"
        self._asks_back = settings.get("ask_back") == "when_vague"
        self._confirms = settings.get("verify") == "model"
        self._is_extractive = self._completer.provider == _EXTRACTIVE

    async def carry_out(self, questions: Sequence[str]) -> Prospect:
        """Examine the questions, group by group."""
        if self._reranker == "model" and self._chat is None:
            raise no_language_model(
                'the reranker "model"', 'pass "signal" or the name of a cross-encoder, or leave it out'
            )
        if self._confirms and self._chat is None:
            raise confirms_nothing()
        # All questions were answered before, or no model would be called.
        if not questions or (self._is_extractive and self._reranker_at_endpoint is None):
            return Prospect(len(questions), [], 0, 0)
        clear = await self._clear(questions) if self._asks_back else frozenset()
        with self._trace.stage("checking") as tally:
            size = max(1, _PASSAGES_AT_ONCE // self._depth(self._top_k))
            for start in range(0, len(questions), size):
                group = questions[start : start + size]
                await self._clarify(await self._answer([one for one in group if one in clear]))
                await self._clarify([one for one in group if one not in clear])
            tally.rows = self._expected.looked_up
            tally.note = f"{counted(len(questions), 'question')}, {counted(self._passages, 'passage')}"
        return Prospect(len(questions), self._expected.by_purpose, self._at_most, self._most_calls(questions[0]))

    def _most_calls(self, question: str) -> int:
        """Bound the calls of a question, for every possible route."""
        answers = most_calls_of_one_pass(self._run.settings) if self._asks_back and self._chat is not None else {}
        return sum(answers.values()) + self._most_to_clarify(question)

    def _most_to_clarify(self, question: str) -> int:
        """Bound the calls of a question that a single pass does not answer."""
        relaxes = self._completer.adapt(relaxation(question)) is not None
        most = most_calls(self._run.settings, relaxes=relaxes)
        return most.get("reranking", 0) if self._is_extractive else sum(most.values())

    async def _clear(self, questions: Sequence[str]) -> frozenset[str]:
        """Return the questions for which a single pass would be tried. No language model is needed for that."""
        with self._trace.stage("detection") as tally:
            detections = await self._context.models.detector.detect(
                self._run,
                self._context.stores.dialogue,
                [(question, ()) for question in questions],
                self._run.settings.get("threshold"),
            )
            tally.rows = len(detections)
            tally.note = summarize(detections)
        return frozenset(one.question for one in detections if not one.is_ambiguous)

    async def _answer(self, questions: Sequence[str]) -> list[str]:
        """Count the calls of a single pass for each clear question; return those that must be clarified afterwards."""
        if self._chat is None or not questions:
            return list(questions)
        rankings, _ = await self._rank(questions, questions, depth=self._top_k)
        shown = {
            question: cut_evidence(ranked(found[: self._max_passages]), READ_TOKENS)
            for question, found in zip(questions, rankings, strict=True)
            if found
        }

        def put() -> list[ModelCall[Proven | None]]:
            return [answer_call(question, candidates) for question, candidates in shown.items()]

        known = dict(zip(shown, await self._expected.look(put), strict=True))
        # It is unknown whether the single pass will suffice.
        unknown = [question for question, one in known.items() if one is None]
        self._at_most += len(unknown) * self._most_calls(questions[0])
        proven = {question: one.value for question, one in known.items() if one and isinstance(one.value, Proven)}
        settled = {*unknown, *proven}
        if self._confirms:
            self._expected.add("confirmation", len(unknown))
            settled -= await self._unconfirmed(proven)
        return [question for question in questions if question not in settled]

    async def _unconfirmed(self, proven: Mapping[str, Proven]) -> set[str]:
        """Look up the confirmations of single-pass answers; return the questions whose answers are refused."""
        given = [proven_answer(question, one) for question, one in proven.items()]
        known = await self._expected.look(lambda: [confirmation([one]) for one in given])
        asked = [*zip(proven, known, strict=True)]
        # A question whose answer is not confirmed is clarified.
        self._at_most += sum(1 + self._most_to_clarify(question) for question, one in asked if one is None)
        return {question for question, one in asked if one is not None and one.value != [True]}

    async def _clarify(self, questions: Sequence[str]) -> None:
        """Count the calls of clarifying questions."""
        if not questions:
            return
        before = self._expected.calls
        relaxed = await self._relaxed(questions)
        queries = [question if query is None else query for question, query in zip(questions, relaxed, strict=True)]
        rankings, are_graded = await self._rank(
            questions, queries, depth=self._top_k if self._is_adaptive else self._most_verdicts
        )
        judged = [found[: self._most_verdicts] for found in rankings]
        # Questions whose ranking is known exactly. For the others, calls are only bounded.
        is_certain = [
            query is not None and is_graded and not self._is_adaptive
            for query, is_graded in zip(relaxed, are_graded, strict=True)
        ]
        asked = [*zip(questions, judged, strict=True)]
        uncertain = [one for one, is_sure in zip(asked, is_certain, strict=True) if not is_sure]
        await self._judge(uncertain)
        if uncertain:
            self._at_most += len(uncertain) * self._most_to_clarify(questions[0])
            before = self._expected.calls
        await self._judge([one for one, is_sure in zip(asked, is_certain, strict=True) if is_sure])
        self._at_most += self._expected.calls - before
        if self._is_adaptive and not self._is_extractive:
            # Neighbors may add further passages, unless the search has found all there are.
            unseen = [self._max_passages - len(found) for found in judged if len(found) >= self._top_k]
            self._expected.add("verdict", sum(unseen))
            if self._confirms:
                self._expected.add("confirmation", ceil(sum(unseen) / AT_ONCE))

    async def _relaxed(self, questions: Sequence[str]) -> list[str | None]:
        """Look up the text to search with; None if it is unknown."""
        calls = [self._completer.adapt(relaxation(question)) for question in questions]
        asked = [call for call in calls if call is not None]
        known = iter(await self._expected.look(lambda: asked))
        queries: list[str | None] = []
        for question, call in zip(questions, calls, strict=True):
            match None if call is None else next(known):
                case Known(str() as query):
                    queries.append(query)
                case None if call is not None:
                    queries.append(None)
                case _:
                    # Nothing relaxes it, or no relaxation fits.
                    queries.append(question)
        return queries

    def _depth(self, depth: int) -> int:
        return max(RERANKED, self._top_k) if self._reranker is not None else depth

    async def _rank(
        self, questions: Sequence[str], queries: Sequence[str], *, depth: int
    ) -> tuple[list[list[Found]], list[bool]]:
        """Rank passages as `FirstStage` does, and say for each ranking whether clarify would have the same.

        A cross-encoder is not used: it would take longer than everything else, and only decide which passages are
        judged.

        Args:
            questions: The original questions.
            queries: The texts to search with.
            depth: How many passages, if they are not ranked again.
        """
        signal = other_signal(self._method) if self._reranker == "signal" else None
        vectors = await self._embedder.encode(queries) if Query.needs_vector(self._method, signal) else None
        rankings = await self._estimates.find_for_each(
            self._run, queries, vectors, method=self._method, depth=self._depth(depth), signal=signal
        )
        self._passages += sum(map(len, rankings))
        are_certain = [self._reranker is None] * len(queries)
        if self._reranker == "signal":
            rankings = [sorted(found, key=lambda one: -(one.signal_score or 0.0)) for found in rankings]
            are_certain = [True] * len(queries)
        elif self._reranker == "model":
            rankings, are_certain = await self._grade(questions, rankings)
        elif self._reranker_at_endpoint is not None:
            rankings, are_certain = await self._score(self._reranker_at_endpoint, questions, rankings)
        return [found[: self._top_k] for found in rankings], are_certain

    async def _grade(
        self, questions: Sequence[str], rankings: Sequence[Sequence[Found]]
    ) -> tuple[list[list[Found]], list[bool]]:
        """Rank passages by their grades, if all grades are known."""

        def put() -> list[ModelCall[float]]:
            return [
                relevance(question, one.passage)
                for question, found in zip(questions, rankings, strict=True)
                for one in found
            ]

        grades = iter(await self._expected.look(put))
        graded, are_certain = [], []
        for found in rankings:
            known = [next(grades) for _ in found]
            scores = [UNREAD if one is None or isinstance(one.value, InvalidReply) else one.value for one in known]
            is_certain = None not in known
            scored = [replace(one, score=score) for one, score in zip(found, scores, strict=True)]
            graded.append(sorted(scored, key=lambda one: -one.score) if is_certain else list(found))
            are_certain.append(is_certain)
        return graded, are_certain

    async def _score(
        self, reranker: Completer, questions: Sequence[str], rankings: Sequence[Sequence[Found]]
    ) -> tuple[list[list[Found]], list[bool]]:
        """Rank passages by the scores of a reranker behind an endpoint, if all scores are known."""
        calls = [
            reranking_calls(question, [one.passage for one in found])
            for question, found in zip(questions, rankings, strict=True)
        ]
        replies = iter(await self._expected.look(lambda: [*chain(*calls)], reranker))
        scored, are_certain = [], []
        for found, asked in zip(rankings, calls, strict=True):
            known = [None if one is None else one.value for one in islice(replies, len(asked))]
            scores = [*chain.from_iterable(one for one in known if isinstance(one, list))]
            is_certain = len(scores) == len(found)
            best_first = sorted(zip(found, scores, strict=False), key=lambda one: -one[1])
            scored.append([one for one, _ in best_first] if is_certain else list(found))
            are_certain.append(is_certain)
        return scored, are_certain

    async def _judge(self, asked: Sequence[tuple[str, Sequence[Found]]]) -> None:
        """Count the verdicts on passages, and their confirmations."""
        if self._is_extractive:
            return

        def put() -> list[ModelCall[Reading | StopCode]]:
            return [verdict_call(self._completer, question, one.passage) for question, found in asked for one in found]

        known = iter(await self._expected.look(put))
        if self._confirms:
            await self._confirm([(question, [(one, next(known)) for one in found]) for question, found in asked])

    async def _confirm(self, judged: Sequence[tuple[str, Sequence[_Judged]]]) -> None:
        """Count the confirmations: as if every passage answered, unless all verdicts on a question are known."""
        known: list[tuple[str, Sequence[_Judged]]] = []
        for question, verdicts in judged:
            # The batches of an exploration cannot be predicted.
            if self._is_adaptive or any(verdict is None for _, verdict in verdicts):
                self._expected.add("confirmation", ceil(len(verdicts) / AT_ONCE))
            else:
                known.append((question, verdicts))

        def put() -> list[ModelCall[list[bool]]]:
            return [call for one in known for call in confirmation_calls([*_supported(*one)])]

        await self._expected.look(put)


def _supported(question: str, judged: Sequence[_Judged]) -> Iterator[GivenAnswer]:
    """Return what has to be confirmed of known verdicts."""
    for found, verdict in judged:
        reading = None if verdict is None else verdict.value
        if isinstance(reading, Reading):
            quoted = check_quote(reading, question, found.passage)
            if isinstance(quoted, Quoted):
                yield given_answer(found.passage, reading.interpretation, reading.answer, quoted)
