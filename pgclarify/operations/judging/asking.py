"""Asks the judge about passages: one call for each, or joint calls about several.

A joint reply is kept by passage. So a run asks only about passages of which nothing is known yet, and a passage that
was added or changed costs one call about it alone. What a joint reply leaves open is asked about alone, too.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import CompletionError, ConfigurationError, InvalidReply, RequestRefused
from pgclarify.ledger.completions import CallResult, ask_all
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.joint_reply import Said, settled
from pgclarify.operations.judging.planning import plan
from pgclarify.prompts.joint_verdicts import JointVerdicts, joint_verdicts
from pgclarify.prompts.verdict import verdict
from pgclarify.protocols import Completer, is_waited_for


async def ask_about(
    context: RunContext,
    candidates: Sequence[Candidate],
    keep: Callable[[int, CallResult[Said]], Awaitable[None]],
    *,
    tally: Tally,
    note_call_over: Callable[[], None] = lambda: None,
) -> None:
    """Get what the judge says of each candidate's passage, from the ledger or by paying for it.

    Args:
        context: The run; settings["passages_per_call"] is the most passages of a call, 1 if it is not set.
        candidates: Any number.
        keep: Called once with the index of each candidate and what is said of it, as soon as that is known; these calls
            overlap.
        tally: Counts the replies.
        note_call_over: Called when one of the `calls_for` calls is over.

    Raises:
        RunLost: If the run is no longer this worker's, or waits for a batch.
        DatabaseError: If the store fails.
    """
    await _Asking(context, candidates, keep, tally, note_call_over).carry_out()


def calls_for(context: RunContext, passages: int) -> int:
    """Return how many calls so many passages take at least."""
    return ceil(passages / most_passages(context))


def most_passages(context: RunContext) -> int:
    """Return how many passages a call may have."""
    if context.models.chat is None:
        # Each passage is judged by itself, and costs no call.
        return 1
    return int(context.run.settings.get("passages_per_call", 1))


def passage_hash(question: str, passage: Passage) -> str:
    """Return the SHA-256 of a question and of what a model sees of a passage, in hex: the key of a joint verdict."""
    shown = (question, passage.title or "", passage.heading or "", passage.content)
    joined = "\0".join(shown).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()


def verdict_call(completer: Completer, question: str, passage: Passage) -> ModelCall[Reading | StopCode]:
    """Render the call about one passage.

    Args:
        completer: The judge.
        question: The original question.
        passage: The passage.

    Raises:
        ConfigurationError: If the completer does not judge passages.
    """
    call = completer.adapt(verdict(question, passage))
    if call is None:
        raise ConfigurationError(f"the provider {completer.provider} judges no passages")
    return call


class _Asking:
    """The questions about the candidates of one batch."""

    def __init__(
        self,
        context: RunContext,
        candidates: Sequence[Candidate],
        keep: Callable[[int, CallResult[Said]], Awaitable[None]],
        tally: Tally,
        note_call_over: Callable[[], None],
    ) -> None:
        self._context = context
        self._run = context.run
        self._store = context.store
        self._completer = context.models.completer
        self._batches = bool(context.run.settings.get("batch")) and context.models.chat is not None
        self._passages = [candidate.passage for candidate in candidates]
        self._most = most_passages(context)
        self._keep = keep
        self._tally = tally
        self._note_call_over = note_call_over

    async def carry_out(self) -> None:
        # The calls of a batch stay the same if a caller begins to wait for it.
        is_urgent = is_waited_for() and not self._batches
        known: dict[int, CallResult[Said]] = {}
        left_alone: list[int] = []
        if self._most > 1:
            known, left_open = await self._known()
            await self._keep_all(known)
            told = {*known, *left_open}
            others = [place for place in range(len(self._passages)) if place not in told]
            left_alone = [*left_open, *await self._judged_alone(others)]
        planned = plan(self._passages, self._most, is_urgent=is_urgent, known=known, left_alone=left_alone)
        groups, alone = planned.together, planned.alone
        calls: list[ModelCall[JointVerdicts | Reading | StopCode]] = [
            *map(self._joint_call, groups),
            *map(self._call, alone),
        ]
        if self._batches:
            requests = [self._completer.request(call) for call in calls]
            await self._store.wait_for_batch(self._run, requests)

        async def use(index: int, result: CallResult[JointVerdicts | Reading | StopCode]) -> None:
            self._note_call_over()
            if index < len(groups):
                await self._settle(groups[index], result)
            else:
                await self._keep_alone(alone[index - len(groups)], result)

        await ask_all(self._store, self._completer, calls, use, tally=self._tally)

    async def _known(self) -> tuple[dict[int, CallResult[Said]], list[int]]:
        """Return what earlier replies about several passages say, by place, and the places that they left open."""
        # Any joint call has the key of all.
        call = joint_verdicts(self._run.question, self._passages[:1])
        request = self._completer.request(call)
        hashes = [passage_hash(self._run.question, passage) for passage in self._passages]
        found = await self._store.known_joint_verdicts(self._run, request, hashes)
        by_reply = {one.completion_id: one for one in found.values()}
        for one in by_reply.values():
            self._tally.count(one.completion, is_reused=not one.is_own)
        known: dict[int, CallResult[Said]] = {}
        left_open = []
        for place, one in found.items():
            if one.readings is None:
                left_open.append(place)
            else:
                said = one.readings or StopCode.NOT_ANSWERED
                known[place] = CallResult(said, one.completion_id, is_reused=not one.is_own)
        return known, left_open

    async def _judged_alone(self, places: Sequence[int]) -> list[int]:
        """Return the places of passages that were judged alone before."""
        requests = [self._completer.request(self._call(place)) for place in places]
        replies = await self._store.known_completions(
            self._run, [one.key for one in requests], [one.document_ids for one in requests]
        )
        return [place for place, reply in zip(places, replies, strict=True) if reply is not None]

    def _joint_call(self, group: Sequence[int]) -> ModelCall[JointVerdicts]:
        return joint_verdicts(self._run.question, [self._passages[place] for place in group])

    def _call(self, place: int) -> ModelCall[Reading | StopCode]:
        return verdict_call(self._completer, self._run.question, self._passages[place])

    async def _keep_all(self, told: Mapping[int, CallResult[Said]]) -> None:
        """Keep what is said of passages, at once, so that their readings are embedded together."""
        await asyncio.gather(*(self._keep(place, result) for place, result in told.items()))

    async def _keep_alone(self, place: int, result: CallResult[Any]) -> None:
        """Keep what a reply about one passage says."""
        value = (result.value,) if isinstance(result.value, Reading) else result.value
        await self._keep(place, replace(result, value=value))

    async def _settle(self, group: Sequence[int], result: CallResult[Any]) -> None:
        """Keep what a reply says of the passages of its call, and ask about those alone of which it says nothing."""
        reply = result.value
        # If it cannot be read, or the endpoint refuses the call, that may be so because of a single passage.
        if isinstance(reply, CompletionError) and not isinstance(reply, InvalidReply | RequestRefused):
            await self._keep_all(dict.fromkeys(group, result))
            return
        passages = [self._passages[place] for place in group]
        said = await settle_reply(self._context, passages, result)
        told: dict[int, CallResult[Said]] = {
            place: replace(result, value=one) for place, one in zip(group, said, strict=True) if one is not None
        }
        await self._keep_all(told)
        left = [place for place in group if place not in told]

        async def use(index: int, result: CallResult[Reading | StopCode]) -> None:
            await self._keep_alone(left[index], result)

        calls = [*map(self._call, left)]
        await ask_all(self._store, self._completer, calls, use, tally=self._tally)


async def settle_reply(
    context: RunContext, passages: Sequence[Passage], result: CallResult[JointVerdicts]
) -> list[Said | None]:
    """Settle what a joint reply says of the passages of its call, and note it for later runs.

    Args:
        context: The run. Nothing is noted of a call with more passages than a call of the run may have: the model may
            have lost readings there.
        passages: Those of the call, in order.
        result: The result of the call.

    Returns:
        As `settled`; only None if there is no reply that can be read.

    Raises:
        RunLost: If the run is no longer this worker's.
    """
    reply, question = result.value, context.run.question
    said: list[Said | None] = [None] * len(passages)
    if not isinstance(reply, CompletionError):
        said = settled(reply, question, passages)
    # Also what is left open, so that the next attempt does not make another joint call about it.
    told = {
        passage_hash(question, passage): () if isinstance(one, StopCode) else one
        for passage, one in zip(passages, said, strict=True)
    }
    if result.completion_id is not None and len(passages) <= most_passages(context):
        await context.store.note_joint_verdicts(context.run, result.completion_id, told)
    return said
