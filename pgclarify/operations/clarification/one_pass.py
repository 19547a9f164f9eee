"""The router before clarify: a clear question is answered in a single pass, an ambiguous one is clarified.

A single pass is a joint call over the first passages, of which one reading is taken: the first that a passage proves.

Source: Detect, then rewrite (summary): only a question that was detected as ambiguous is worth the full effort. The
single pass, and the proof that it requires, are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from pgclarify.data.candidates import Candidate
from pgclarify.data.runs import Tally
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import Outcome
from pgclarify.errors import CompletionError, describe
from pgclarify.language.lenient_json import Mend
from pgclarify.ledger.completions import CallResult, ask_one
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.asking import settle_reply
from pgclarify.operations.judging.joint_reply import Said
from pgclarify.operations.judging.verdicts import PassageJudge, Supported, check_verdict
from pgclarify.operations.retrieval.evidence import cut_evidence
from pgclarify.operations.retrieval.first_stage import FirstStage, ranked
from pgclarify.prompts.joint_verdicts import JointVerdicts, joint_verdicts
from pgclarify.protocols import Completer

READ_TOKENS: Final = 3000
"""Most tokens of evidence in a single pass."""

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
        """Answer from several passages: with one call, or two if the first reply cannot be read.

        If the run wants it, the answer is confirmed.
        """
        tally.rows = len(candidates)
        passages = [candidate.passage for candidate in candidates]
        result = await ask_one(self._context.store, chat, joint_verdicts(self._run.question, passages), tally=tally)
        if isinstance(result.value, CompletionError):
            tally.note = f"one pass found no proof: {describe(result.value)}"
            return None
        said = await settle_reply(self._context, passages, result)
        supported = self._first_supported(candidates, said, result)
        if supported is None:
            read = "no passage proves what it read" if result.value.readings else "no passage answers it"
            tally.note = f"one pass found no proof: {read}"
            return None
        if supported.quoted.is_repaired:
            tally.count_mend(Mend.QUOTE)
        (verdict,) = await self._judge.ground([supported], tally)
        if verdict.outcome is not Outcome.GROUNDED:
            # Clarifying may find another reading.
            tally.note = f"one pass found no proof: {verdict.reason or verdict.error_without_reply}"
            return None
        # Notes have no words of documents, because all roles that see the run see them.
        tally.note = "answered"
        return supported.candidate, verdict

    def _first_supported(
        self, candidates: Sequence[Candidate], said: Sequence[Said | None], result: CallResult[JointVerdicts]
    ) -> Supported | None:
        """Return the first reading of a reply that a passage proves without a doubt; of its passages, the best."""
        given = [
            (reading, candidate)
            for candidate, readings in zip(candidates, said, strict=True)
            if isinstance(readings, tuple)
            for reading in readings
        ]
        for reading, candidate in sorted(given, key=lambda one: one[0].ordinal):
            checked = check_verdict(self._run, candidate, CallResult(reading, result.completion_id, result.is_reused))
            if isinstance(checked, Supported) and checked.quoted.doubt is None:
                return checked
        return None

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
