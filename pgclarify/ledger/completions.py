"""The client of the ledger: every model call is made here, and none is paid for twice.

A run claims all its requests at once. Paid replies are returned. Calls that this run must make are made together; the
completer limits the calls in flight. Requests are pending if another run is making the call, or if calls in flight may
leave some of a budget. If no budget allows a call, that is an error, and the call is not tried again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pgclarify import tracing
from pgclarify.data.model_calls import Claim, Completion, CompletionRequest, ModelCall
from pgclarify.data.runs import Tally
from pgclarify.database.ledger import LedgerTables
from pgclarify.errors import CompletionError, FilteredReply, InvalidReply, NotAllowed, PgclarifyError, code_of
from pgclarify.language.foreign_text import unstorable
from pgclarify.language.lenient_json import mend
from pgclarify.ledger.leased_call import LeasedCall, NotOurs
from pgclarify.ledger.tasks import cause_of, end_of, to_the_end
from pgclarify.protocols import Completer, Urgency, current_urgency, is_waited_for, urgent

_logger = logging.getLogger(__name__)

# The calls that runs of this process make or wait to make, by the key of the request. When a run needs the reply to a
# call of another run, it finds the call here, and the call becomes as urgent as both runs.
_own_calls: dict[object, Urgency] = {}

MOST_ATTEMPTS = 8
"""Most replies to one input that all runs together pay for, if none of them can be read."""

T = TypeVar("T")


# Seconds before the first look for replies that others are paying for, and after every look that found something new.
# Each look without a result doubles the pause.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


@dataclass(frozen=True, slots=True)
class Paid:
    """A reply in the ledger.

    Attributes:
        completion_id: The row of the ledger.
        completion: The reply.
        is_reused: True if this request cost nothing: it was paid for before, by another run, or by an equal request.
    """

    completion_id: int
    completion: Completion
    is_reused: bool


@dataclass(frozen=True, slots=True)
class CallResult(Generic[T]):
    """The result of a call.

    Attributes:
        value: What was read from the reply, or the error.
        completion_id: The row of the ledger; None if the call itself failed.
        is_reused: True if that row did not have to be paid for.
    """

    value: T | CompletionError
    completion_id: int | None
    is_reused: bool

    def require(self) -> T:
        """Return what was read, or raise the error."""
        if isinstance(self.value, CompletionError):
            raise self.value
        return self.value


async def ask_all(
    ledger: LedgerTables,
    completer: Completer,
    calls: Sequence[ModelCall[T]],
    on_result: Callable[[int, CallResult[T]], Awaitable[None]] | None = None,
    *,
    tally: Tally | None = None,
    may_retry: Callable[[], bool] | None = None,
) -> list[CallResult[T]]:
    """Make all calls, and a second attempt for each invalid reply; return the results, in order.

    The second attempt has more tokens if the first reply was cut off. What a filter has removed has no second attempt.

    An invalid reply stays the result if a budget does not allow the second attempt: it was paid for.

    An invalid reply of an earlier run does not count as an attempt of this one. Otherwise the input would fail in every
    later run, too.

    Args:
        ledger: The store of replies.
        completer: Makes the calls.
        calls: Any number, also none.
        on_result: Called once with the index of each call and its result, as soon as it is known; these calls overlap.
        tally: Counts the replies; None counts nothing.
        may_retry: Called before each further attempt; None allows all.

    Raises:
        RunLost: If on_result raised it; calls in flight go on without the run.
        DatabaseError: If the ledger fails.
    """
    results: dict[int, CallResult[T]] = {}

    async def finish(index: int, result: CallResult[T]) -> None:
        results[index] = result
        if on_result is not None:
            await on_result(index, result)

    async def attempted(index: int, call: ModelCall[T], reply: Paid | CompletionError, attempts: int) -> None:
        result = _read(call, reply)
        may_go_on = attempts == 1 or (result.is_reused and attempts < MOST_ATTEMPTS)
        is_over = not may_be_asked_again(result.value) or not may_go_on
        if is_over or (may_retry is not None and not may_retry()):
            await finish(index, result)
            return
        again = call.retry()
        if attempts == 1 and was_cut(result.value):
            again = again.with_more_tokens()

        async def once_more(_: int, reply: Paid | CompletionError) -> None:
            if isinstance(reply, NotAllowed):
                await finish(index, result)
            else:
                await attempted(index, again, reply, attempts + 1)

        await complete_all(ledger, completer, [completer.request(again)], once_more, tally=tally)

    async def first(index: int, reply: Paid | CompletionError) -> None:
        await attempted(index, calls[index], reply, 1)

    await complete_all(ledger, completer, [completer.request(call) for call in calls], first, tally=tally)
    return [results[index] for index in range(len(calls))]


async def ask_one(
    ledger: LedgerTables,
    completer: Completer,
    call: ModelCall[T],
    *,
    tally: Tally | None = None,
    may_retry: Callable[[], bool] | None = None,
) -> CallResult[T]:
    """Make one call as `ask_all` does, and return the result.

    Raises:
        DatabaseError: If the ledger fails.
    """
    (result,) = await ask_all(ledger, completer, [call], tally=tally, may_retry=may_retry)
    return result


async def complete_all(
    ledger: LedgerTables,
    completer: Completer,
    requests: Sequence[CompletionRequest],
    on_result: Callable[[int, Paid | CompletionError], Awaitable[None]],
    *,
    tally: Tally | None = None,
) -> None:
    """Get a reply to every request, from the ledger or by paying for it. Equal requests are made once.

    If a caller waits, a reply is passed on while it is being stored. This returns when all replies are stored. If it
    ends early (by an error of the ledger, of on_result, or a cancellation), replies that have arrived are stored first.
    Calls in flight go on if `left_calls` allows it, and their replies are stored later. Other leases are released.

    Args:
        ledger: The store of replies.
        completer: Makes the calls.
        requests: Any number, also none.
        on_result: Called once with the index of each request and its reply or error, as soon as it is known; these
            calls overlap.
        tally: Counts the replies; None counts nothing.

    Raises:
        RunLost: If on_result raised it.
        DatabaseError: If the ledger fails.
    """
    if not requests:
        return
    client = _LedgerClient(ledger, completer, requests, on_result, tally)
    try:
        await client.run()
    except BaseExceptionGroup as group:
        raise cause_of(group) from group
    finally:
        await to_the_end(client.give_back())


class _LedgerClient:
    """The state of one complete_all: the leases it holds, and which requests wait for which reply."""

    def __init__(
        self,
        ledger: LedgerTables,
        completer: Completer,
        requests: Sequence[CompletionRequest],
        on_result: Callable[[int, Paid | CompletionError], Awaitable[None]],
        tally: Tally | None,
    ) -> None:
        self._ledger = ledger
        self._completer = completer
        self._tally = tally
        self._on_result = on_result
        # By row of the ledger.
        self._leased: dict[int, LeasedCall] = {}
        # Each distinct request, by the index of its first occurrence, with all its occurrences.
        self._requests: dict[int, CompletionRequest] = {}
        self._occurrences: dict[int, list[int]] = {}
        first: dict[object, int] = {}
        for index, request in enumerate(requests):
            leader = first.setdefault(request.key, index)
            known = self._requests.setdefault(leader, request)
            if known is not request:
                # Equal texts of several documents are one request, which is erased together with any of the documents.
                document_ids = tuple(dict.fromkeys((*known.document_ids, *request.document_ids)))
                self._requests[leader] = replace(known, document_ids=document_ids)
            self._occurrences.setdefault(leader, []).append(index)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            await self._get(tasks, list(self._requests))

    async def _get(self, tasks: asyncio.TaskGroup, leaders: list[int]) -> None:
        """Start the calls that can be started, and wait for the others."""
        waiting = await self._claim(tasks, leaders)
        pause = FIRST_PAUSE
        while waiting:
            await asyncio.sleep(pause)
            before = len(waiting)
            waiting = await self._claim(tasks, waiting)
            pause = FIRST_PAUSE if len(waiting) < before else min(2 * pause, LONGEST_PAUSE)

    async def give_back(self) -> None:
        """Release the remaining leases, so that others need not wait until they expire."""
        if self._leased:
            try:
                for call in self._leased.values():
                    await call.noted()
                await self._ledger.release_completions(
                    {completion_id: call.may_be_charged for completion_id, call in sorted(self._leased.items())}
                )
            except PgclarifyError as error:
                # The error that ended the calls matters more, and leases expire by themselves.
                _logger.warning("leases could not be released: %s", error.message)
        # Only now, because the calls of this run do not wait for turns any more.
        if (turns_free := self._completer.turns_free) is not None and turns_free < 0:
            self._ledger.left_calls.make_room()

    async def _claim(self, tasks: asyncio.TaskGroup, leaders: list[int]) -> list[int]:
        """Claim requests and start their calls. Return those that are pending: on another run, or on a budget."""
        waiting = []
        for leader, claim in zip(leaders, await to_the_end(self._lease(leaders)), strict=True):
            if claim.refusal is not None:
                tasks.create_task(self._deliver(leader, claim.refusal))
            elif claim.completion_id is not None and claim.completion is not None:
                tasks.create_task(self._deliver(leader, Paid(claim.completion_id, claim.completion, not claim.is_own)))
            elif claim.completion_id is not None and claim.is_ours:
                tasks.create_task(self._call(tasks, leader, self._leased[claim.completion_id]))
            else:
                if (call := _own_calls.get(self._requests[leader].key)) is not None:
                    call.join(current_urgency())
                waiting.append(leader)
        return waiting

    async def _lease(self, leaders: list[int]) -> list[Claim]:
        requests = [self._requests[leader] for leader in leaders]
        turns_free = self._completer.turns_free
        claims = await self._ledger.claim_completions(requests, sent_at_once=max(turns_free or 0, 0))
        calls = [
            LeasedCall(self._ledger, request, claim.completion_id, is_noted=claim.is_sent)
            for request, claim in zip(requests, claims, strict=True)
            if claim.completion_id is not None and claim.is_ours
        ]
        self._leased.update((call.completion_id, call) for call in calls)
        if turns_free is not None and len(calls) > turns_free:
            self._ledger.left_calls.make_room()
        _trace(claims)
        return claims

    async def _call(self, tasks: asyncio.TaskGroup, leader: int, call: LeasedCall) -> None:
        try:
            completion = await self._reply(call)
            _check(completion)
        except NotOurs:
            await to_the_end(self._release(call))
            await self._get(tasks, [leader])
            return
        except CompletionError as error:
            # At once, not at the end of the run, because others may wait for this reply.
            await to_the_end(self._release(call))
            await self._deliver(leader, error)
            return
        storing = asyncio.ensure_future(self._store(call, completion))
        try:
            # A caller should not wait for the commit, too. If none waits, the reply is stored first: readings of one
            # commit are embedded together, for a fifth less CPU time.
            if not is_waited_for():
                await to_the_end(storing)
            await self._deliver(leader, Paid(call.completion_id, completion, is_reused=False))
        except BaseException:
            # It has priority over an error of the ledger.
            await end_of(storing)
            raise
        await to_the_end(storing)

    async def _reply(self, call: LeasedCall) -> Completion:
        with _as_own_call(call.request.key):
            making = asyncio.create_task(self._completer.complete(call.request, call))
            try:
                return await asyncio.shield(making)
            except asyncio.CancelledError:
                await self._leave(call, making)
                raise

    async def _leave(self, call: LeasedCall, making: asyncio.Task[Completion]) -> None:
        """Let a call go on without this run if it is charged, so that the next run has its reply. Else give it up."""
        call.is_left = True
        if making.done() or (call.may_be_charged and self._ledger.left_calls.are_allowed):
            self._leased.pop(call.completion_id, None)
            end = asyncio.create_task(self._finish(call, making))
            if making.done():
                await end_of(end)
            else:
                self._ledger.left_calls.add(call.request.key, making, end)
        else:
            # Its lease is released with those of other calls.
            making.cancel()
            await asyncio.wait([making])

    async def _finish(self, call: LeasedCall, making: asyncio.Task[Completion]) -> None:
        """Store the reply of a call that no run waits for, or release its lease."""
        try:
            try:
                completion = await making
                _check(completion)
                await self._store(call, completion)
            except (Exception, asyncio.CancelledError):  # whatever it is: the run is over
                await self._release(call)
            await self._ledger.settle()
        except PgclarifyError as error:
            _logger.warning("a call without a run could not be settled: %s", error.message)

    async def _release(self, call: LeasedCall) -> None:
        await self._ledger.release_completions({call.completion_id: call.may_be_charged})
        self._leased.pop(call.completion_id, None)

    async def _store(self, call: LeasedCall, completion: Completion) -> None:
        await self._ledger.store_completion(call.completion_id, completion)
        self._leased.pop(call.completion_id, None)

    async def _deliver(self, leader: int, result: Paid | CompletionError) -> None:
        if isinstance(result, Paid):
            result = replace(result, completion=mended(result.completion, self._requests[leader].schema))
        if self._tally is not None and isinstance(result, Paid):
            self._tally.count(result.completion, is_reused=result.is_reused)
        for index in self._occurrences[leader]:
            await self._on_result(index, result)
            if isinstance(result, Paid):
                result = Paid(result.completion_id, result.completion, is_reused=True)


def _trace(claims: Sequence[Claim]) -> None:
    reused = sum(claim.completion is not None for claim in claims)
    if reused:
        tracing.note_event("replies reused", {"pgclarify.replies": reused})
    refusals = [claim.refusal for claim in claims if claim.refusal is not None]
    if refusals:
        tracing.note_event("budget refused", {"pgclarify.calls": len(refusals), "error.type": code_of(refusals[0])})


@contextmanager
def _as_own_call(key: object) -> Iterator[None]:
    """Let other runs of this process make the call in this block more urgent."""
    urgency = Urgency(whole=current_urgency())
    _own_calls[key] = urgency
    try:
        with urgent(urgency):
            yield
    finally:
        if _own_calls.get(key) is urgency:
            del _own_calls[key]


def _check(completion: Completion) -> None:
    if unstorable(completion.reply):
        raise InvalidReply("a reply holds characters that are no text")


def mended(completion: Completion, schema: Mapping[str, Any] | None) -> Completion:
    """Return a reply in the form of its schema, as far as its form can be mended. None: a reply of free text."""
    if schema is None:
        return completion
    found = mend(completion.reply, schema)
    return replace(completion, reply=found.text, mends=(*completion.mends, *found.mends))


def read_reply(call: ModelCall[T], completion: Completion) -> T | InvalidReply:
    """Read a mended reply, or return why it cannot be read."""
    if completion.is_filtered:
        return FilteredReply(
            "a filter of the endpoint removed the reply",
            detail="The endpoint gives content_filter as the reason. It would charge for the same call again.",
            hint="Change the filter at the endpoint, or leave the document out.",
        )
    try:
        return call.read(completion)
    except InvalidReply as error:
        error.was_cut = completion.is_cut
        return error


def may_be_asked_again(value: object) -> bool:
    """Tell whether the result of a call is a reply that the next one may be better than."""
    return isinstance(value, InvalidReply) and not isinstance(value, FilteredReply)


def was_cut(value: object) -> bool:
    """Tell whether the result of a call is a reply that was cut off."""
    return isinstance(value, InvalidReply) and value.was_cut


def _read(call: ModelCall[T], reply: Paid | CompletionError) -> CallResult[T]:
    if isinstance(reply, CompletionError):
        return CallResult(reply, None, is_reused=False)
    return CallResult(read_reply(call, reply.completion), reply.completion_id, reply.is_reused)
