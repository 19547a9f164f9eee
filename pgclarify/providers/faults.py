"""What can be wrong with a try of a call, and whether another try may succeed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import aiohttp
import openai

from pgclarify.language.foreign_text import storable
from pgclarify.providers.failures import FailedReply, UnreadableReply, is_of_filter, read_refusal
from pgclarify.providers.rate_limit import asked_wait
from pgclarify.providers.transport import Encoded, TooLarge

TOO_MANY: Final = 429
"""The status for a rate limit or quota that is used up."""

# Statuses, besides 3xx and 4xx, of a server that has not asked its model. Other failures may come after its reply.
_FREE: Final = frozenset({503, 529})
# No connection was made, so nothing was sent.
_NOT_CONNECTED: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)

# Statuses that may pass on another try, besides 5xx: a timeout, a conflict, a rate limit.
_PASSING: Final = frozenset({408, 409, TOO_MANY})


class Problem(Enum):
    """Why a try got no reply."""

    SILENT = auto()
    BROKEN = auto()
    UNREADABLE = auto()
    TOO_LARGE = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """What was wrong with one try.

    problem: The kind.
    said: The server's message, or the kind of error that its bytes caused; empty if there is none.
    status: The status of a refusal, also of one that was sent as a success; else 0.
    parameter: The parameter that a refusal names; empty if none.
    code: The server's code for the refusal; empty if it has none.
    wait: Seconds that the server asks to wait; None if it does not say.
    is_final: Whether another try would have the same result.
    was_sent: False if no connection was made.
    is_late: Whether the server had sent a success before it failed.
    is_filtered: Whether a filter of the endpoint refused the request, or removed the reply.
    """

    problem: Problem
    said: str = ""
    status: int = 0
    parameter: str = ""
    code: str = ""
    wait: float | None = None
    is_final: bool = False
    was_sent: bool = True
    is_late: bool = False
    is_filtered: bool = False

    @property
    def may_be_charged(self) -> bool:
        """Tell whether the endpoint may charge for the try, although its reply did not come."""
        return self.was_sent and (self.is_late or not (300 <= self.status < 500 or self.status in _FREE))


class NoReply(Exception):
    """All tries of a call failed.

    Args:
        fault: What was wrong with the last try.
        tries: How many there were.
    """

    def __init__(self, fault: Fault, tries: int) -> None:
        super().__init__(fault.problem.name)
        self.fault = fault
        self.tries = tries


def refused(error: openai.APIStatusError) -> Fault:
    """Say what was wrong with an answer that is a refusal."""
    headers, status, location = error.response.headers, error.status_code, error.response.headers.get("Location")
    said = f"it points to {location}" if 300 <= status < 400 and location else read_refusal(error.body)
    parameter, code = (storable(named) if isinstance(named, str) else "" for named in (error.param, error.code))
    # The server's own statement has priority.
    told = headers.get("x-should-retry")
    may_pass = told == "true" or (told != "false" and _may_pass(status))
    is_filtered = is_of_filter(error.body, status)
    return Fault(
        Problem.REFUSED,
        said,
        status,
        parameter,
        code,
        asked_wait(headers),
        is_final=is_filtered or not may_pass,
        is_filtered=is_filtered,
    )


def _may_pass(status: int) -> bool:
    return status in _PASSING or status >= 500


def fault_of(error: Exception) -> Fault:
    """Say what was wrong with a try that raised an exception."""
    if isinstance(error, FailedReply):
        return Fault(
            Problem.REFUSED,
            error.said,
            error.status,
            code=error.code,
            is_final=error.is_filtered or not _may_pass(error.status),
            is_late=True,
            is_filtered=error.is_filtered,
        )
    if isinstance(error, UnreadableReply):
        return Fault(Problem.UNREADABLE, error.said)
    if isinstance(error, TooLarge):
        return Fault(Problem.TOO_LARGE)
    if isinstance(error, Encoded):
        return Fault(Problem.UNREADABLE, "it is compressed, which was not asked for")
    # Check all causes, because aiohttp and the openai client wrap some errors in their own.
    causes = tuple(_chain(error))
    was_sent = not any(isinstance(cause, _NOT_CONNECTED) for cause in causes)
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return Fault(Problem.SILENT, was_sent=was_sent)
    if any(isinstance(cause, aiohttp.ClientConnectionError | aiohttp.ClientPayloadError | OSError) for cause in causes):
        return Fault(Problem.BROKEN, was_sent=was_sent)
    return Fault(Problem.UNREADABLE, type(error).__name__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
