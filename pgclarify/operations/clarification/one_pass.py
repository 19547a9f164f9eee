"""The router before clarify: a clear question is answered in a single pass, an ambiguous one is clarified.

Source: Detect, then rewrite (summary): only a question that was detected as ambiguous is worth the full effort. The
single pass, and the proof that it requires, are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from pgclarify.data.candidates import Candidate
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.data.verdicts import Reading, Verdict
from pgclarify.data.vocabulary import Outcome
from pgclarify.errors import CompletionError, describe
from pgclarify.ledger.completions import ask_one
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.answer_proof import Proven, prove
from pgclarify.operations.judging.verdict_check import Quoted
from pgclarify.operations.judging.verdicts import PassageJudge, Supported
from pgclarify.operations.retrieval.evidence import cut_evidence
from pgclarify.operations.retrieval.first_stage import FirstStage, ranked
from pgclarify.prompts.one_pass import one_pass
from pgclarify.protocols import Completer

READ_TOKENS: Final = 3000
"""Most tokens of evidence in a single pass."""
# Notes have no words of documents, because all roles that see the run see them.
_ANSWERED: Final = "answered"

Answered: TypeAlias = tuple[Candidate, Verdict]


class OnePass:
    """The router for one run, and the single pass.

    A language model answers from several passages at once. Without one, all questions are clarified, at no cost.

    Args:
        context: The run; settings: method, top_k, and optionally max_passages, reranker and threshold.
        first_stage: Ranks passages for a question.
        judge: Makes a verdict of an answer.
    """

    def __init__(
        self,
        context: RunContext,
        first_stage: FirstStage,
        judge: PassageJudge,
    ) -> None:
        self._context = context
        self._run = context.run
        self._trace = context.trace
        self._dialogue = context.dialogue
        self._first_stage = first_stage
        self._judge = judge

    async def carry_out(self) -> Answered | None:
        """Answer the question if it is clear and a passage proves the answer, and record the route.

        Returns:
            The candidate that proves the answer, with its verdict, both recorded. None if the question must be
            clarified; then no candidate was recorded.

        Raises:
            CompletionError: If the reranker called a model that gave no score.
            EmbeddingError: If a model on this machine failed.
            RunLost: If the run is no longer this worker's.
            DatabaseError: If the store fails.
        """
        chat = self._context.models.chat
        answered = None if chat is None or await self._is_ambiguous() else await self._answer(chat)
        if answered is None:
            await self._dialogue.record_route(self._run, "clarified")
        return answered

    async def _is_ambiguous(self) -> bool:
        detections = await self._context.detect([(self._run.question, ())])
        await self._context.store.record_results(self._run, detections)
        # A question that cannot be judged may be ambiguous.
        return detections[0].is_ambiguous or detections[0].probability is None

    async def _answer(self, chat: Completer) -> Answered | None:
        found = await self._first_stage.rank(self._context.search_text)
        candidates = ranked(found[: self._run.settings.get("max_passages")])
        if not candidates:
            return None
        with self._trace.stage("answering") as tally:
            answered = await self._ask(chat, cut_evidence(candidates, READ_TOKENS), tally)
            if answered is not None and not await self._keep(candidates, answered):
                answered, tally.note = None, "one pass found no proof: the passage is gone by now"
        if answered is not None:
            await self._dialogue.record_route(self._run, "answered")
            self._trace.stop_reason = "the question is clear, and one pass has answered it"
        return answered

    async def _ask(self, chat: Completer, candidates: Sequence[Candidate], tally: Tally) -> Answered | None:
        """Answer from several passages, with one call, or two if the first reply proves nothing.

        If the run wants it, the answer is confirmed.
        """
        tally.rows = len(candidates)
        call = answer_call(self._run.question, candidates)
        result = await ask_one(self._context.store, chat, call, tally=tally)
        if not isinstance(result.value, Proven):
            missing = describe(result.value) if isinstance(result.value, CompletionError) else "no passage answers it"
            tally.note = f"one pass found no proof: {missing}"
            return None
        candidate, citation = result.value.cited[0], result.value.citations[0]
        supported = Supported(
            candidate,
            Reading(self._run.question, result.value.answer, citation.quote),
            Quoted(citation.quote, citation.start_char, citation.end_char),
            Verdict(candidate.rank, Outcome.ABSTAINED, completion_id=result.completion_id, is_reused=result.is_reused),
        )
        (verdict,) = await self._judge.ground([supported], tally)
        if verdict.outcome is not Outcome.GROUNDED:
            # Clarifying may find another reading.
            tally.note = f"one pass found no proof: {verdict.reason or verdict.error_without_reply}"
            return None
        tally.note = _ANSWERED
        return candidate, verdict

    async def _keep(self, candidates: Sequence[Candidate], answered: Answered) -> bool:
        """Record candidates and verdict. False, with nothing recorded, if the passage is gone by now."""
        candidate, verdict = answered
        # First only this candidate. If it is gone, no other candidate may be recorded, because clarifying would collide
        # with it.
        passages = self._context.passages
        if not await passages.record_candidates(self._run, [candidate]):
            return False
        await passages.record_candidates(self._run, [one for one in candidates if one.rank != candidate.rank])
        self._context.store.note_verdicts([verdict])
        return True


def answer_call(question: str, candidates: Sequence[Candidate]) -> ModelCall[Proven | None]:
    """Render the call that reads one answer from several passages.

    Args:
        question: The original question.
        candidates: With their passages, in the order in which the model sees them.
    """
    call = one_pass(question, [candidate.passage for candidate in candidates])
    return call.then(lambda finding: prove(finding, candidates, asked=question))
