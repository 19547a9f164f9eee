"""Several endpoints that serve one model: they take calls by turns, and one that fails is left out for a while."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from pgclarify.config import ReasoningEffort, Settings
from pgclarify.errors import EndpointUnavailable, RequestRefused
from pgclarify.model_calls import Completion, CompletionRequest
from pgclarify.protocols import Begin
from pgclarify.providers.endpoint import MASS_PURPOSES, MAX_RETRIES, Endpoint

# Seconds that an endpoint is left out after it has failed. Each further failure in a row doubles them, up to a limit.
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
# An endpoint may ask for more, up to this.
_LONGEST_ASKED_PAUSE: Final = 60.0

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Member:
    """An endpoint of the pool.

    Attributes:
        endpoint: It makes one try of each call.
        in_flight: Calls that were given to it and are not over.
        turn: When it last took a call, as a number that counts up.
        failures: Failures in a row.
        failed_at: When the last of them was, by the clock of the event loop.
        resumes_at: Until when it is left out.
    """

    endpoint: Endpoint
    in_flight: int = 0
    turn: int = 0
    failures: int = 0
    failed_at: float = 0.0
    resumes_at: float = 0.0

    def is_ready(self, now: float) -> bool:
        """Whether it may take a call. After a failure it takes one alone, which finds out whether it works again."""
        return now >= self.resumes_at and (self.failures == 0 or self.in_flight == 0)

    def note_success(self) -> None:
        """Use it as before."""
        if self.failures:
            _logger.warning("%s answers again", self.endpoint.base_url)
        self.failures, self.resumes_at = 0, 0.0

    def note_failure(self, began_at: float, now: float, asked: float | None) -> bool:
        """Leave it out for a while.

        Args:
            began_at: When the call that failed began. One that began before the last failure is no further one.
            now: The time.
            asked: Seconds that the endpoint asks to wait; None if it does not.

        Returns:
            Whether it worked before.
        """
        worked = self.failures == 0
        if worked or began_at >= self.failed_at:
            self.failures += 1
            self.failed_at = now
        pause = min(_FIRST_PAUSE * 2.0 ** min(self.failures - 1, 10), _LONGEST_PAUSE)
        if asked is not None and asked > 0:
            pause = min(asked, _LONGEST_ASKED_PAUSE)
        self.resumes_at = max(self.resumes_at, now + pause)
        return worked


class EndpointPool:
    """Several endpoints that serve one model, used as one `Endpoint` is.

    A call goes to the endpoint that has the fewest calls in flight, and among equals to the one that has waited
    longest. If that fails, the call goes to another one at once.

    Args:
        endpoints: At least two, which make one try of each call.
        concurrency: Most calls in flight at each.
        timeout: Seconds that an endpoint may be silent within one try.
    """

    def __init__(self, endpoints: Sequence[Endpoint], *, concurrency: int, timeout: float) -> None:
        self._members = [_Member(endpoint) for endpoint in endpoints]
        # No more calls than this come to the endpoints. So those that wait are in no line of an endpoint that fails.
        self._limit = asyncio.Semaphore(concurrency * len(endpoints))
        self._mass_limit = asyncio.Semaphore(concurrency * len(endpoints))
        self._longest_call = timeout * (MAX_RETRIES + 1)
        self._turn = 0

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._members[0].endpoint.model

    @property
    def reasoning_effort(self) -> ReasoningEffort | None:
        """See Endpoint."""
        return self._members[0].endpoint.reasoning_effort

    def most_output_tokens(self, max_tokens: int) -> int:
        """Tell the most of what the endpoints say; see Endpoint."""
        return max(member.endpoint.most_output_tokens(max_tokens) for member in self._members)

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make one call, at one endpoint after the other until one of them answers; see Endpoint.

        Raises:
            RequestRefused: If an endpoint refuses this very request: the others serve the same model.
            EndpointUnavailable: If none answered.
        """
        async with self._mass_limit if request.purpose in MASS_PURPOSES else nullcontext(), self._limit:
            clock = asyncio.get_running_loop().time
            ends_at = clock() + self._longest_call
            # Those at which this call may succeed yet.
            members = list(self._members)
            tries_left = MAX_RETRIES + len(members)
            while True:
                member = await self._next(members, ends_at)
                began_at = clock()
                tries_left -= 1
                try:
                    completion = await self._ask(member, request, begin)
                except RequestRefused:
                    member.note_success()
                    raise
                except EndpointUnavailable as error:
                    if member.note_failure(began_at, clock(), error.retry_after):
                        _logger.warning("%s is left out for a while: %s", member.endpoint.base_url, error.message)
                    if not error.may_pass:
                        members.remove(member)
                    if not members or tries_left == 0 or clock() >= ends_at:
                        raise
                else:
                    member.note_success()
                    return completion

    async def aclose(self) -> None:
        """Close the connections."""
        async with AsyncExitStack() as stack:
            for member in self._members:
                stack.push_async_callback(member.endpoint.aclose)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _ask(self, member: _Member, request: CompletionRequest, begin: Begin | None) -> Completion:
        member.in_flight += 1
        self._turn += 1
        member.turn = self._turn
        try:
            return await member.endpoint.complete(request, begin)
        finally:
            member.in_flight -= 1

    async def _next(self, members: Sequence[_Member], ends_at: float) -> _Member:
        """Choose an endpoint; where all are left out, the one that is back first, once it is or the time is over."""
        now = asyncio.get_running_loop().time()
        ready = [member for member in members if member.is_ready(now)]
        if not ready:
            first = min(members, key=lambda member: member.resumes_at)
            await asyncio.sleep(max(0.0, min(first.resumes_at, ends_at) - now))
            return first
        return min(ready, key=lambda member: (member.in_flight, member.turn))


def endpoints_of(settings: Settings) -> list[Endpoint]:
    """Make the endpoints that the settings name, each of which makes one try of a call if there are several.

    Raises:
        ConfigurationError: If they do not make endpoints.
    """
    addresses = settings.llm_addresses
    return (
        [Endpoint.from_settings(settings)]
        if not addresses
        else [Endpoint.from_settings(settings, address) for address in addresses]
    )


def open_endpoints(settings: Settings) -> Endpoint | EndpointPool:
    """Make the endpoint that the settings describe, or a pool of them.

    Raises:
        ConfigurationError: If they do not make an endpoint.
    """
    endpoints = endpoints_of(settings)
    if len(endpoints) == 1:
        return endpoints[0]
    return EndpointPool(endpoints, concurrency=settings.llm_concurrency, timeout=settings.llm_timeout)
