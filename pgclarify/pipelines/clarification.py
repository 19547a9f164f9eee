"""The main job: verified diversification, then consolidation; and consolidation again, of verdicts that are there.

Source: VERDICT, §4 and Algorithm 1.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pgclarify.algorithms import find_quote
from pgclarify.errors import CompletionError, EmbeddingError, InvalidReply, RunLost
from pgclarify.model import Candidate, Completion, Outcome, Passage, Reading, Run, RunStatus, Verdict
from pgclarify.pipelines.completions import Answer, Inquiry, Pace, ask_all, is_storable
from pgclarify.pipelines.failures import describe, summarize
from pgclarify.pipelines.interpretations import Grounded, embed_mode, interpret, reading_text
from pgclarify.pipelines.search import retrieve
from pgclarify.pipelines.trace import Trace
from pgclarify.protocols import Embedder, RunStore, Verifier

_logger = logging.getLogger(__name__)
_PACE = Pace()


async def clarify(run: Run, store: RunStore, verifier: Verifier, embedder: Embedder, *, pace: Pace = _PACE) -> None:
    """Carry out a run whose operation is "clarify", from its question to its interpretations.

    It succeeds if every passage was judged, is partial if some could not be, and fails if none could be, or if the
    question could not be relaxed or embedded. A run that was cancelled or taken over meanwhile is left alone, without
    an error: calls in flight are cancelled, leases given back, nothing more is written.

    Args:
        run: The run.
        store: Its tables and the ledger.
        verifier: Who judges.
        embedder: The corpus's model.
        pace: How often to look for replies that other runs are paying for.

    Raises:
        DatabaseError: If the store fails.

    Source: VERDICT, Algorithm 1.
    """
    clarification = _Clarification(run, store, verifier, embedder, pace)
    try:
        await clarification.carry_out()
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


async def reconsolidate(run: Run, store: RunStore, embedder: Embedder) -> None:
    """Carry out a run whose operation is "consolidate": group its parent's verdicts again, and ask no model.

    Readings are embedded again if settings["embed"] is not settings["parent_embed"], what their vectors hold.

    Args:
        run: The run.
        store: Its tables.
        embedder: The corpus's model.

    Raises:
        DatabaseError: If the store fails.
    """
    trace = Trace()
    try:
        verdicts = sorted(await store.verdicts(run), key=lambda pair: pair[1].rank)
        try:
            embedded = await _embedded(run, verdicts, store, embedder)
        except EmbeddingError as error:
            await store.finish_run(run, RunStatus.FAILED, [], describe(error), stages=trace.stages)
            return
        await _finish(run, RunStatus.SUCCEEDED, embedded, store, trace)
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


class _Clarification:
    """One run of clarify, and what it works with."""

    def __init__(self, run: Run, store: RunStore, verifier: Verifier, embedder: Embedder, pace: Pace) -> None:
        self._run = run
        self._store = store
        self._verifier = verifier
        self._embedder = embedder
        self._pace = pace
        self._trace = Trace()

    async def carry_out(self) -> None:
        try:
            query = await self._relax()
            candidates = await retrieve(self._run, query, self._store, self._embedder, self._trace)
        except (CompletionError, EmbeddingError) as error:
            await self._fail(describe(error))
            return
        verdicts = await self._judge(candidates)
        errors = [verdict.error for verdict in verdicts if verdict.error is not None]
        if errors and len(errors) == len(verdicts):
            await self._fail(summarize(errors))
            return
        status = RunStatus.PARTIAL if errors else RunStatus.SUCCEEDED
        documents = [candidate.passage.document_id for candidate in candidates]
        await _finish(self._run, status, list(zip(documents, verdicts, strict=True)), self._store, self._trace)

    async def _fail(self, error: str) -> None:
        await self._store.finish_run(self._run, RunStatus.FAILED, [], error, stages=self._trace.stages)

    async def _relax(self) -> str:
        """Relax the question for recall, or use it as it is if no relaxation fits.

        Source: VERDICT, Eq. 6.
        """
        request = self._verifier.relaxation_request(self._run.question)
        if request is None:
            return self._run.question
        answers: list[Answer[str]] = []

        async def land(_: int, answer: Answer[str]) -> None:
            answers.append(answer)

        inquiry = Inquiry(request, lambda: replace(request, sample=1), self._read_relaxation)
        with self._trace.stage("relaxation") as tally:
            await ask_all(self._store, self._verifier, [inquiry], land, pace=self._pace, tally=tally)
            (answer,) = answers
            match answer.value:
                case InvalidReply():
                    relaxed = self._run.question
                case CompletionError() as error:
                    raise error
                case relaxed:
                    pass
            tally.note = relaxed
        await self._store.record_relaxation(self._run, relaxed, answer.completion_id)
        return relaxed

    async def _judge(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Ask for one verdict on each candidate, all at once, and record each as it lands.

        Source: VERDICT, Eq. 8 and Algorithm 1, lines 3-7.
        """
        verdicts: dict[int, Verdict] = {}

        async def land(index: int, answer: Answer[Reading | None]) -> None:
            verdict = await self._verdict(candidates[index], answer)
            await self._store.record_verdict(self._run, verdict)
            verdicts[index] = verdict

        inquiries = [self._inquiry(candidate.passage) for candidate in candidates]
        with self._trace.stage("judgement") as tally:
            tally.rows = len(inquiries)
            await ask_all(self._store, self._verifier, inquiries, land, pace=self._pace, tally=tally)
        return [verdicts[index] for index in range(len(candidates))]

    def _inquiry(self, passage: Passage) -> Inquiry[Reading | None]:
        # The question itself, not the relaxed one, which served recall.
        render = partial(self._verifier.verdict_request, self._run.question, passage)
        return Inquiry(render(), partial(render, retry=True), self._read_verdict)

    async def _verdict(self, candidate: Candidate, answer: Answer[Reading | None]) -> Verdict:
        """Turn an answer into a verdict: check its quote, and embed the reading."""
        verdict = Verdict(
            rank=candidate.rank,
            outcome=Outcome.ABSTAINED,
            completion_id=answer.completion_id,
            is_reused=answer.is_reused,
        )
        reading = answer.value
        if isinstance(reading, CompletionError):
            return replace(verdict, outcome=Outcome.FAILED, error=describe(reading))
        if reading is None:
            return replace(verdict, reason="the passage answers no reading of the question")
        passage = candidate.passage
        span = find_quote(reading.quote, passage.content)
        if span is None:
            return replace(verdict, reason="the quote does not occur in the passage")
        start, end = span
        text = reading_text(self._run, reading.interpretation, reading.answer)
        try:
            # One by one, since each is recorded as it lands; the embedder puts what lands together into one batch.
            vector = (await self._embedder.encode([text]))[0]
        except EmbeddingError as error:
            return replace(verdict, outcome=Outcome.FAILED, error=describe(error))
        return replace(
            verdict,
            outcome=Outcome.GROUNDED,
            interpretation=reading.interpretation,
            answer=reading.answer,
            # As the document spells it, which the verifier need not have kept to the letter.
            quote=passage.content[start:end],
            start_char=passage.start_char + start,
            end_char=passage.start_char + end,
            vector=vector,
        )

    def _read_relaxation(self, completion: Completion) -> str:
        relaxed = self._verifier.read_relaxation(completion)
        _check_storable(relaxed)
        return relaxed

    def _read_verdict(self, completion: Completion) -> Reading | None:
        reading = self._verifier.read_verdict(completion)
        if reading is not None:
            # The quote is not kept as the model wrote it.
            _check_storable(reading.interpretation, reading.answer)
        return reading


def _check_storable(*texts: str) -> None:
    # A reply of plain characters can spell others out: "\u0000" in JSON.
    if not all(is_storable(text) for text in texts):
        raise InvalidReply("a reply holds characters that are no text")


async def _embedded(
    run: Run, verdicts: Sequence[tuple[str, Verdict]], store: RunStore, embedder: Embedder
) -> list[tuple[str, Verdict]]:
    """Give every verdict the vector that the run's settings ask for, and keep it."""
    is_same_mode = embed_mode(run) == run.settings.get("parent_embed", "question_answer")
    stale = [(document_id, verdict) for document_id, verdict in verdicts if verdict.vector is None or not is_same_mode]
    readings = [Grounded.of(document_id, verdict) for document_id, verdict in stale]
    vectors = await embedder.encode([reading_text(run, one.interpretation, one.answer) for one in readings])
    fresh = {verdict.rank: replace(verdict, vector=vector) for (_, verdict), vector in zip(stale, vectors, strict=True)}
    for verdict in fresh.values():
        await store.record_verdict(run, verdict)
    return [(document_id, fresh.get(verdict.rank, verdict)) for document_id, verdict in verdicts]


async def _finish(
    run: Run, status: RunStatus, verdicts: Sequence[tuple[str, Verdict]], store: RunStore, trace: Trace
) -> None:
    """Consolidate what is grounded, and end the run."""
    grounded = [
        (Grounded.of(document_id, verdict), verdict.vector)
        for document_id, verdict in verdicts
        if verdict.vector is not None
    ]
    with trace.stage("consolidation") as tally:
        interpretations = await interpret(
            run, [one for one, _ in grounded], np.array([vector for _, vector in grounded], dtype=np.float32)
        )
        tally.rows = len(interpretations)
    await store.finish_run(run, status, interpretations, None, stages=trace.stages, stop_reason=trace.stop_reason)
