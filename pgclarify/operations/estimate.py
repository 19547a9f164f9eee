"""Estimates the model calls of questions, without making any call.

Replies in the ledger cost nothing. What a run decides while it runs is not predicted, but counted as docs/estimates.md
says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from pgclarify.data.candidates import Found
from pgclarify.data.counting import counted
from pgclarify.data.documents import Passage
from pgclarify.data.estimates import Prospect
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import AT_ENDPOINT, Purpose, StopCode
from pgclarify.ledger.expectations import Expectations
from pgclarify.operations.clarification.bounds import most_calls, most_calls_of_one_pass, most_verdicts
from pgclarify.operations.clarification.guided import FIRST_BATCH
from pgclarify.operations.clarification.one_pass import READ_TOKENS
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.judging.asking import most_passages, passage_hash, verdict_call
from pgclarify.operations.judging.confirmation import AT_ONCE, confirms_nothing
from pgclarify.operations.judging.planning import Plan, plan
from pgclarify.operations.missing_models import cannot_ask
from pgclarify.operations.retrieval.evidence import cut_evidence
from pgclarify.operations.retrieval.exploration import find_for_each
from pgclarify.operations.retrieval.first_stage import RERANKED, ranked
from pgclarify.operations.retrieval.reranking import reranking_calls
from pgclarify.prompts.joint_verdicts import joint_verdicts
from pgclarify.prompts.relaxation import relaxation
from pgclarify.prompts.relevance import relevance
from pgclarify.protocols import Completer, Embedder

# Passages are read in groups of this size, but those of one question always together.
_PASSAGES_AT_ONCE: Final = 1000
_EXTRACTIVE: Final = "extractive"


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
    await context.store.record_estimate(context.run, prospect)
    return Ending()


class _Survey:
    """One run of estimate."""

    def __init__(self, context: RunContext, embedder: Embedder) -> None:
        self._context = context
        self._run = context.run
        self._trace = context.trace
        self._completer = context.models.completer
        self._chat = context.models.chat
        self._embedder = embedder
        self._expected = Expectations(self._run, context.store, self._completer)
        self._at_most = 0
        self._passages = 0
        settings = self._run.settings
        self._top_k: int = settings["top_k"]
        self._most_verdicts = most_verdicts(settings)
        self._reranker: str | None = settings.get("reranker")
        self._reranker_at_endpoint: Completer | None = None
        if self._reranker is not None and self._reranker.startswith(AT_ENDPOINT):
            self._reranker_at_endpoint = context.models.rerankers.at_endpoint(self._reranker)
        self._is_adaptive = settings.get("retrieval") == "adaptive"
        self._most_of_a_call = most_passages(context)
        if self._is_adaptive:
            # Each batch has calls of its own.
            self._most_of_a_call = min(self._most_of_a_call, FIRST_BATCH)
        self._asks_back = settings.get("ask_back") == "when_vague"
        self._confirms = settings.get("verify") == "model"
        self._is_extractive = self._completer.provider == _EXTRACTIVE
        self._relaxes: bool = settings.get("relax", False) and not self._is_extractive
        most = most_calls({**settings, "relax": self._relaxes})
        # For a question that a single pass does not answer; and for one, by any route.
        self._most_to_clarify = most.get("reranking", 0) if self._is_extractive else sum(most.values())
        self._most_calls = self._most_to_clarify
        if self._tries_one_pass:
            self._most_calls += sum(most_calls_of_one_pass(settings).values())

    async def carry_out(self, questions: Sequence[str]) -> Prospect:
        """Examine the questions, group by group."""
        if self._reranker == "model" and self._chat is None:
            raise cannot_ask("reranker", "signal")
        if self._confirms and self._chat is None:
            raise confirms_nothing()
        # All questions were answered before, or no model would be called.
        if not questions or (self._is_extractive and self._reranker_at_endpoint is None):
            return Prospect(len(questions), [], 0, 0)
        clear = await self._clear(questions) if self._tries_one_pass else frozenset[str]()
        with self._trace.stage("checking") as tally:
            size = max(1, _PASSAGES_AT_ONCE // self._depth)
            for start in range(0, len(questions), size):
                group = questions[start : start + size]
                await self._answer([one for one in group if one in clear])
                await self._clarify([one for one in group if one not in clear])
            tally.rows = self._expected.looked_up
            read = counted(self._passages, "passage")
            tally.note = f"{counted(len(questions), 'question')}, {read}"
        return Prospect(len(questions), self._expected.by_purpose, self._at_most, self._most_calls)

    async def _clear(self, questions: Sequence[str]) -> frozenset[str]:
        """Return the questions for which a single pass would be tried. No language model is needed for that."""
        detections = await self._context.detect([(question, ()) for question in questions])
        return frozenset(one.question for one in detections if not one.is_ambiguous)

    async def _answer(self, questions: Sequence[str]) -> None:
        """Count the calls of a single pass for each clear question. It may not suffice, which only the bound counts."""
        if not questions:
            return
        rankings = await self._search(questions)
        most = min(self._top_k, self._run.settings.get("max_passages", self._top_k))
        await self._expected.look(
            lambda: [
                joint_verdicts(question, [one.passage for one in cut_evidence(ranked(found[:most]), READ_TOKENS)])
                for question, found in zip(questions, rankings, strict=True)
                if found
            ]
        )
        if self._confirms:
            self._expected.add("confirmation", len(questions))
        self._at_most += len(questions) * self._most_calls

    async def _clarify(self, questions: Sequence[str]) -> None:
        """Count the calls of clarifying questions."""
        if not self._relaxes:
            await self._search_and_judge(dict(zip(questions, questions, strict=True)), are_known=True)
            return
        relaxed = await self._expected.look(lambda: [relaxation(question) for question in questions])
        unknown: dict[str, str] = {}
        known: dict[str, str] = {}
        for question, text in zip(questions, relaxed, strict=True):
            # Without a relaxed question in the ledger, the question itself is searched for.
            (unknown if text is None else known)[question] = text if isinstance(text, str) else question
        await self._search_and_judge(unknown, are_known=False)
        await self._search_and_judge(known, are_known=True)

    async def _search_and_judge(self, texts: Mapping[str, str], *, are_known: bool) -> None:
        """Count the calls of searching and judging.

        Args:
            texts: For each question, the text to search for.
            are_known: Whether a run will search for the same texts.
        """
        if not texts:
            return
        questions = [*texts]
        before = self._expected.calls
        rankings = await self._search([*texts.values()])
        await self._look_at_grades(questions, rankings)
        more = 0
        if not self._is_extractive:
            more = await self._judge(questions, [found[: self._most_verdicts] for found in rankings])
        # Otherwise other passages may be judged than those that were found.
        is_exact = are_known and self._reranker is None and not self._is_adaptive
        exact = self._expected.calls - before + more
        self._at_most += exact if is_exact else len(questions) * self._most_to_clarify

    async def _judge(self, questions: Sequence[str], judged: Sequence[Sequence[Found]]) -> int:
        """Count the verdicts, and the confirmations as if every passage answered.

        Returns:
            How many more calls there may be: if a caller waits, and if joint replies leave all of their passages open.
        """
        passages = [[one.passage for one in found] for found in judged]
        known = await self._known(questions, passages)
        plans = self._plans(questions, passages, known, is_urgent=False)
        await self._expected.look(
            lambda: [
                self._call(question, several[place])
                for question, several, planned in zip(questions, passages, plans, strict=True)
                for place in planned.alone
            ]
        )
        await self._expected.look(
            lambda: [
                joint_verdicts(question, [several[place] for place in group])
                for question, several, planned in zip(questions, passages, plans, strict=True)
                for group in planned.together
            ]
        )
        # Neighbors may add further passages to an exploration, unless the search has found all there are.
        counts = [len(found) for found in judged]
        if self._is_adaptive:
            counts = [self._most_verdicts if count >= self._top_k else count for count in counts]
        others = [count - len(found) for count, found in zip(counts, judged, strict=True)]
        purpose = Purpose.VERDICT if self._most_of_a_call == 1 else Purpose.JOINT_VERDICTS
        self._expected.add(purpose, sum(ceil(count / self._most_of_a_call) for count in others))
        if self._confirms:
            batches = [ceil(count / AT_ONCE) for count in counts]
            self._expected.add("confirmation", sum(batches))
        urgent = self._plans(questions, passages, known, is_urgent=True)
        return sum(
            max(one.calls_at_most, other.calls_at_most) - one.calls for one, other in zip(plans, urgent, strict=True)
        )

    async def _known(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]]
    ) -> tuple[set[str], set[str]]:
        """Look up which passages joint replies have told of, and which are asked about alone; return their hashes."""
        pairs = {
            passage_hash(question, passage): (question, passage)
            for question, several in zip(questions, passages, strict=True)
            for passage in several
        }
        if self._most_of_a_call == 1 or not pairs:
            return set(), set()
        hashes = [*pairs]
        question, passage = pairs[hashes[0]]
        known = await self._expected.known_passages(joint_verdicts(question, [passage]), hashes)
        told = {hashes[place] for place, one in known.items() if one.readings is not None}
        left_open = {hashes[place] for place, one in known.items() if one.readings is None}
        others = [one for one in hashes if one not in told | left_open]
        have_replies = await self._expected.have_replies(lambda: [self._call(*pairs[one]) for one in others])
        return told, left_open | {one for one, has_reply in zip(others, have_replies, strict=True) if has_reply}

    def _plans(
        self,
        questions: Sequence[str],
        passages: Sequence[Sequence[Passage]],
        known: tuple[set[str], set[str]],
        *,
        is_urgent: bool,
    ) -> list[Plan]:
        told, left_alone = known
        plans = []
        for question, several in zip(questions, passages, strict=True):
            hashes = [passage_hash(question, passage) for passage in several]
            plans.append(
                plan(
                    several,
                    self._most_of_a_call,
                    is_urgent=is_urgent,
                    known=[place for place, one in enumerate(hashes) if one in told],
                    left_alone=[place for place, one in enumerate(hashes) if one in left_alone],
                )
            )
        return plans

    def _call(self, question: str, passage: Passage) -> ModelCall[Reading | StopCode]:
        return verdict_call(self._completer, question, passage)

    @property
    def _tries_one_pass(self) -> bool:
        return self._asks_back and self._chat is not None

    @property
    def _depth(self) -> int:
        if self._reranker is None:
            return self._top_k
        return max(RERANKED, self._top_k)

    async def _search(self, queries: Sequence[str]) -> list[list[Found]]:
        """Search as `FirstStage` does. Passages are not ranked again, which would only decide which ones are judged."""
        rankings = await find_for_each(self._context, self._embedder, queries, depth=self._depth)
        self._passages += sum(map(len, rankings))
        return rankings

    async def _look_at_grades(self, questions: Sequence[str], rankings: Sequence[Sequence[Found]]) -> None:
        """Count the calls of the reranker."""
        passages = [[one.passage for one in found] for found in rankings]
        asked = list(zip(questions, passages, strict=True))
        if self._reranker == "model":
            await self._expected.look(
                lambda: [relevance(question, one) for question, several in asked for one in several]
            )
        elif self._reranker_at_endpoint is not None:
            await self._expected.look(
                lambda: [call for question, several in asked for call in reranking_calls(question, several)],
                self._reranker_at_endpoint,
            )
