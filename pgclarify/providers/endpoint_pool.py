"""Several endpoints that serve one model. They share the calls, and an endpoint that fails is avoided for a while."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final, Self

from pgclarify.config import ReasoningEffort, Settings
from pgclarify.errors import EndpointUnavailable, RequestRefused
from pgclarify.model_calls import Completion, CompletionRequest
from pgclarify.protocols import Begin
from pgclarify.providers.call_line import CallLine
from pgclarify.providers.endpoint import MAX_RETRIES, Endpoint

# Seconds that an endpoint is avoided after a failure. They double with each further failure, up to a limit.
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
# An endpoint may ask for a longer pause, up to this.
_LONGEST_ASKED_PAUSE: Final = 60.0

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Member:
    """An endpoint of the pool.

    Attributes:
        endpoint: It makes one try of each call.
        in_flight: How many of its calls are in flight.
        turn: Sequence number of its last call.
        failures: Failures in a row.
        failed_at: Time of the last failure, by the clock of the event loop.
        error: The last failure; None if there was none.
        resumes_at: The time until which it is avoided.
    """

    endpoint: Endpoint
    in_flight: int = 0
    turn: int = 0
    failures: int = 0
    failed_at: float = 0.0
    error: EndpointUnavailable | None = None
    resumes_at: float = 0.0

    def is_ready(self, now: float) -> bool:
        """Whether it may get a call. After a failure it first gets a single call, as a test."""
        return now >= self.resumes_at and (self.failures == 0 or self.in_flight == 0)

    def note_success(self) -> None:
        """Note that it works."""
        if self.failures:
            _logger.warning("%s works again", self.endpoint.base_url)
        self.failures, self.resumes_at = 0, 0.0

    def note_failure(self, began_at: float, now: float, error: EndpointUnavailable) -> None:
        """Avoid it for a while.

        Args:
            began_at: When the failed call began. If that was before the last failure, it is not counted as another one.
            now: The time.
            error: Why it failed, with the seconds that the endpoint asks to wait.
        """
        worked = self.failures == 0
        if worked:
            _logger.warning("%s is not used for a while: %s", self.endpoint.base_url, error.message)
        self.error = error
        if worked or began_at >= self.failed_at:
            self.failures += 1
            self.failed_at = now
        pause = min(_FIRST_PAUSE * 2.0 ** min(self.failures - 1, 10), _LONGEST_PAUSE)
        if error.retry_after is not None and error.retry_after > 0:
            pause = min(error.retry_after, _LONGEST_ASKED_PAUSE)
        self.resumes_at = max(self.resumes_at, now + pause)


class EndpointPool:
    """Several endpoints that serve one model, with the interface of one `Endpoint`.

    A call goes to the endpoint with the fewest calls in flight; among equals, to the one that was used least recently.
    If the call fails, it goes to another endpoint at once.

    Args:
        endpoints: At least two; each makes one try of a call.
        concurrency: Most calls in flight at each.
        timeout: Most seconds of silence within one try.
    """

    def __init__(self, endpoints: Sequence[Endpoint], *, concurrency: int, timeout: float) -> None:
        self._members = [_Member(endpoint) for endpoint in endpoints]
        # Calls beyond this limit wait here, and not at an endpoint that may fail.
        self._line = CallLine(concurrency * len(endpoints))
        self._longest_call = timeout * (MAX_RETRIES + 1)
        self._turn = 0
        # Set when a try ends, to wake the calls that wait for an endpoint.
        self._try_ended = asyncio.Event()

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._members[0].endpoint.model

    @property
    def reasoning_effort(self) -> ReasoningEffort | None:
        """See Endpoint."""
        return self._members[0].endpoint.reasoning_effort

    def most_output_tokens(self, max_tokens: int) -> int:
        """Return the greatest number of any endpoint; see Endpoint."""
        return max(member.endpoint.most_output_tokens(max_tokens) for member in self._members)

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make one call, at one endpoint after another until one answers; see Endpoint.

        Raises:
            RequestRefused: If an endpoint refuses this very request, because the others serve the same model.
            EndpointUnavailable: If none answered.
        """
        async with self._line.turn(request.purpose):
            clock = asyncio.get_running_loop().time
            ends_at = clock() + self._longest_call
            # The endpoints at which this call may still succeed.
            members = list(self._members)
            tries_left = MAX_RETRIES + len(members)
            # Requests of this call that failed.
            failures = 0
            # The last failure of its own requests.
            own: EndpointUnavailable | None = None
            while True:
                member = self._choose(members)
                if member is None:
                    failed = await self._wait(members, ends_at)
                else:
                    try:
                        completion = await self._ask(member, request, begin, ends_at)
                        return replace(completion, tries=completion.tries + failures)
                    except RequestRefused:
                        raise
                    except EndpointUnavailable as unavailable:
                        failures += unavailable.tries
                        failed, own = [member], unavailable
                tries_left -= len(failed)
                last = max(failed or members, key=lambda member: member.failed_at)
                error = last.error
                members = [member for member in members if member not in failed or _may_succeed(member)]
                if error is not None and (not members or tries_left <= 0 or clock() >= ends_at):
                    # The error may be of a call of another run. Then its detail may quote that call's prompt.
                    detail = f"{last.endpoint.base_url} failed when another call tested it."
                    # A copy, because several calls may raise the error of one try.
                    copy = type(error)(error.message, detail=error.detail if error is own else detail, hint=error.hint)
                    copy.tries = max(failures, 1)
                    raise copy from error

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

    async def _ask(
        self, member: _Member, request: CompletionRequest, begin: Begin | None, ends_at: float
    ) -> Completion:
        """Make one try, and note its outcome for the endpoint."""
        clock = asyncio.get_running_loop().time
        began_at = clock()
        member.in_flight += 1
        self._turn += 1
        member.turn = self._turn
        try:
            completion = await member.endpoint.complete(request, begin, ends_at=ends_at)
        except RequestRefused:
            member.note_success()
            raise
        except EndpointUnavailable as error:
            member.note_failure(began_at, clock(), error)
            raise
        else:
            member.note_success()
            return completion
        finally:
            member.in_flight -= 1
            self._try_ended.set()
            self._try_ended.clear()

    def _choose(self, members: Sequence[_Member]) -> _Member | None:
        """Choose an endpoint; None if all have a pause."""
        now = asyncio.get_running_loop().time()
        ready = [member for member in members if member.is_ready(now)]
        return min(ready, key=lambda member: (member.in_flight, member.turn), default=None)

    async def _wait(self, members: Sequence[_Member], ends_at: float) -> list[_Member]:
        """Wait until a pause ends, a try ends, or the time is over.

        Returns:
            The endpoints at which another try failed. Such a failure counts for all calls that wait. If each call had
            to make all its own tries, one at a time, a run would need hours to find out that no endpoint works.
        """
        now = asyncio.get_running_loop().time()
        before = [member.failures for member in members]
        until = min((member.resumes_at for member in members if member.resumes_at > now), default=ends_at)
        with suppress(TimeoutError):
            async with asyncio.timeout_at(min(until, ends_at)):
                await self._try_ended.wait()
        return [member for member, failures in zip(members, before, strict=True) if member.failures > failures]


def _may_succeed(member: _Member) -> bool:
    """Tell whether a call that failed at an endpoint may succeed there later."""
    return member.error is None or member.error.may_pass


def endpoints_of(settings: Settings) -> list[Endpoint]:
    """Make the endpoints that the settings name. If there are several, each makes one try of a call.

    Raises:
        ConfigurationError: If the settings do not describe endpoints.
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
        ConfigurationError: If the settings do not describe an endpoint.
    """
    endpoints = endpoints_of(settings)
    if len(endpoints) == 1:
        return endpoints[0]
    return EndpointPool(endpoints, concurrency=settings.llm_concurrency, timeout=settings.llm_timeout)
