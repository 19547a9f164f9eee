"""The HTTP client of an endpoint: reads no more than a reply can need, and makes of whatever comes a reply or a fault.

The openai client makes the tries, and pauses between them. What it is shown of an answer is its status and how long to
pause; the answer itself goes into the Call, as a plain record.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from enum import Enum, auto
from http.cookiejar import CookieJar, DefaultCookiePolicy
from math import isfinite
from time import time
from typing import Any, Final, Generic, TypeVar

import httpx2
import openai

from pgclarify.providers.chat_reply import NotACompletion, read_refusal

# Every call in flight may hold so many bytes of its answer; for more it stands in line for one of these places. So the
# memory that answers take is bounded, however many calls there are.
_ORDINARY_BYTES: Final = 64 * 1024
_LARGE_AT_ONCE: Final = 2

# A server that asks for a longer pause than this is tried again after the usual ones, and quoted at last.
_LONGEST_PAUSE: Final = 60.0

# How gzip and zlib's own format are told apart: by their first bytes.
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS

T = TypeVar("T")


class Problem(Enum):
    """Why a try brought no reply."""

    SILENT = auto()
    BROKEN = auto()
    UNREADABLE = auto()
    TOO_LARGE = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """What was wrong with one try.

    Attributes:
        problem: The kind.
        said: What the server says about it, or the kind of error that its bytes led to; empty if nothing.
        status: The status, if it is refused; else 0.
        parameter: The parameter that a refusal names; empty if none.
        wait: Seconds that the server asks to wait; None if it does not say.
    """

    problem: Problem
    said: str = ""
    status: int = 0
    parameter: str = ""
    wait: float | None = None


@dataclass(slots=True)
class Call(Generic[T]):
    """One call over all its tries.

    Attributes:
        read: Reads the body of a success, or raises NotACompletion.
        most_bytes: Most bytes that the body may have.
        ends_at: When it is given up, by the clock of the event loop.
        tries: Tries so far.
        fault: What was wrong with the last try, if it has ended.
        reply: What was read.
    """

    read: Callable[[bytes], T]
    most_bytes: int
    ends_at: float
    tries: int = 0
    fault: Fault | None = None
    reply: T | None = None

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Make requests of this task tries of this call."""
        token = _under_way.set(self)
        try:
            yield
        finally:
            _under_way.reset(token)


_under_way: ContextVar[Call[Any]] = ContextVar("_under_way")


class _TooLarge(Exception):
    """More bytes than a reply can need."""


# Half the CPU time per call of the default transport.
class BoundedClient(openai.DefaultAioHttpClient):
    """Sends requests of a Call.

    It follows no redirect, which could lead passages to another server, keeps no cookie, and asks for answers that are
    not compressed. Those that are, are inflated within the same bound.

    Args:
        silence: Seconds in which a server has to begin to answer, between two signs of life, and in which an answer
            that has begun has to be complete. White space, by which some keep a connection alive, is a sign of life for
            twice as long; a call has time for two such tries.
        connections: Most connections.
    """

    def __init__(self, *, silence: float, connections: int) -> None:
        super().__init__(
            limits=httpx2.Limits(max_connections=connections, keepalive_expiry=60.0),
            headers={"Accept-Encoding": "identity"},
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=())),
        )
        self._silence = silence
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401
        """Make one try.

        Returns:
            The status, and how long to pause; the body is empty.

        Raises:
            httpx2.TransportError: If the answer is neither a reply nor a refusal.
        """
        call = _under_way.get()
        call.tries += 1
        call.fault = None
        try:
            return await self._exchange(request, call, {**options, "stream": True, "follow_redirects": False})
        # Below HTTP there are four libraries, each with errors of its own, and a server that says anything.
        except Exception as error:
            call.fault = _fault_of(error)
        if call.reply is not None:
            # What broke after the reply does not matter to it: it is paid for.
            return httpx2.Response(httpx2.codes.OK, request=request)
        # Outside of the handler: the error may quote the server, and holds on to the connection.
        raise httpx2.ReadError(call.fault.problem.name, request=request)

    async def _exchange(self, request: httpx2.Request, call: Call[Any], options: dict[str, Any]) -> httpx2.Response:
        async with asyncio.timeout(self._silence) as clock:
            response = await super().send(request, **options)
            try:
                if response.is_success:
                    await self._receive(response, call, clock)
                    return httpx2.Response(response.status_code, request=request)
                body = await self._refusal(response, clock)
            finally:
                await response.aclose()
        return _refused(response, body, call)

    async def _receive(self, response: httpx2.Response, call: Call[Any], clock: asyncio.Timeout) -> None:
        body = bytearray()
        async with AsyncExitStack() as place:
            is_large = False
            async for piece in self._pieces(response, call.most_bytes, clock):
                body += piece
                if len(body) > _ORDINARY_BYTES and not is_large:
                    is_large = True
                    clock.reschedule(None)
                    await place.enter_async_context(self._large)
                    clock.reschedule(self._from_now())
            call.reply = call.read(bytes(body))

    async def _refusal(self, response: httpx2.Response, clock: asyncio.Timeout) -> bytes:
        """The beginning of what is said with a refusal."""
        body = bytearray()
        try:
            async for piece in self._pieces(response, _ORDINARY_BYTES, clock):
                body += piece
        except _TooLarge:
            pass
        return bytes(body)

    async def _pieces(self, response: httpx2.Response, most: int, clock: asyncio.Timeout) -> AsyncIterator[bytes]:
        """The body, inflated, without the white space before it."""
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        inflater = None if encoding in ("identity", "") else zlib.decompressobj(_GZIP_OR_ZLIB)
        begins_by = self._from_now() + self._silence
        seen, has_begun = 0, False
        async for raw in response.aiter_raw():
            # Of what could become a thousand times as much, no more is inflated than what shows that it is too much.
            piece = raw if inflater is None else inflater.decompress(raw, most - seen + 1)
            seen += len(piece)
            if seen > most:
                raise _TooLarge
            if not has_begun:
                piece = piece.lstrip()
                has_begun = bool(piece)
                clock.reschedule(self._from_now() if has_begun else min(self._from_now(), begins_by))
            if piece:
                yield piece
        if inflater is not None and not inflater.eof:
            raise NotACompletion

    def _from_now(self) -> float:
        return asyncio.get_running_loop().time() + self._silence


def _refused(response: httpx2.Response, body: bytes, call: Call[Any]) -> httpx2.Response:
    refusal = read_refusal(body)
    wait = _asked_wait(response.headers)
    said = f"it points to {response.headers['Location']}" if response.has_redirect_location else refusal.message
    call.fault = Fault(Problem.REFUSED, said, response.status_code, refusal.parameter, wait)
    told = response.headers.get("x-should-retry")
    headers = {"x-should-retry": told} if told in ("true", "false") else {}
    left = call.ends_at - asyncio.get_running_loop().time()
    if wait is not None and 0 < wait <= min(_LONGEST_PAUSE, left):
        headers["retry-after-ms"] = str(wait * 1000)
    return httpx2.Response(response.status_code, headers=headers, request=response.request)


def _asked_wait(headers: httpx2.Headers) -> float | None:
    """Seconds that a server asks to wait: a number or a date; None if it says nothing that is either."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        return seconds if isfinite(seconds) else None
    try:
        date = parsedate_tz(headers.get("retry-after", ""))
        return None if date is None else mktime_tz(date) - time()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _fault_of(error: Exception) -> Fault:
    if isinstance(error, NotACompletion):
        return Fault(Problem.UNREADABLE, error.said)
    if isinstance(error, _TooLarge):
        return Fault(Problem.TOO_LARGE)
    # The transport's own names are not to be trusted: it reports a refused connection as a time-out. What it was
    # raised from tells them apart.
    if any(isinstance(cause, TimeoutError) for cause in _chain(error)):
        return Fault(Problem.SILENT)
    if isinstance(error, httpx2.TransportError | ssl.SSLError | OSError):
        return Fault(Problem.BROKEN)
    return Fault(Problem.UNREADABLE, type(error).__name__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
