"""The HTTP client of an endpoint: reads no more than a reply can need, and makes of whatever comes a reply or a fault.

It makes the tries of a call, and pauses between them as OpenAI's own client does. The answer goes into the Call, as a
plain record.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from enum import Enum, auto
from math import isfinite
from time import time
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi

from pgclarify.providers.reply import UnreadableReply, read_refusal

# Every call in flight may hold so many bytes of its answer; for more it stands in line for one of these places. So the
# memory that answers take is bounded, however many calls there are.
_ORDINARY_BYTES: Final = 64 * 1024
_LARGE_AT_ONCE: Final = 2
# What is read at once.
_PIECE_BYTES: Final = 16 * 1024

# Statuses that another try may change, beside those of 500 and more: a time-out, a conflict, a rate limit.
_PASSING: Final = frozenset({408, 409, 429})
# Seconds before the second try. Each further pause is twice as long, up to a limit, and up to a quarter is taken off,
# so that many calls that failed together do not come back together.
_FIRST_PAUSE: Final = 0.5
_LONGEST_USUAL_PAUSE: Final = 8.0
# A server that asks for a longer pause than this is tried again after the usual ones, and quoted at last.
_LONGEST_PAUSE: Final = 60.0

_CONNECT_SECONDS: Final = 10.0
_KEEPALIVE_SECONDS: Final = 60.0

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
        code: What kind of refusal it is, as the server's code; empty if it has none.
        wait: Seconds that the server asks to wait; None if it does not say.
        is_final: Whether another try would bring the same.
    """

    problem: Problem
    said: str = ""
    status: int = 0
    parameter: str = ""
    code: str = ""
    wait: float | None = None
    is_final: bool = False


@dataclass(slots=True)
class Call(Generic[T]):
    """One call over all its tries.

    Attributes:
        read: Reads the body of a success, or raises UnreadableReply.
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


class _TooLarge(Exception):
    """More bytes than a reply can need."""


class BoundedClient:
    """Makes calls to one address.

    It follows no redirect, which could lead passages to another server, keeps no cookie, and asks for answers that are
    not compressed. Those that are, are inflated within the same bound. The environment may name a proxy (HTTP_PROXY,
    HTTPS_PROXY, NO_PROXY).

    Args:
        base_url: The address up to and including the version.
        key: Gives what servers know the caller by; it is called for each try.
        silence: Seconds in which a server has to begin to answer, between two signs of life, and in which an answer
            that has begun has to be complete. White space, by which some keep a connection alive, is a sign of life for
            twice as long; a call has time for two such tries.
        connections: Most connections.
        max_retries: Further tries after an answer that is neither a reply nor a refusal, or a refusal that may pass.
        is_openai_key: Whether the key is OPENAI_API_KEY: the organization and the project that go with it, which the
            environment names (OPENAI_ORG_ID, OPENAI_PROJECT_ID), are then sent, too.
    """

    def __init__(
        self,
        base_url: str,
        key: Callable[[], str],
        *,
        silence: float,
        connections: int,
        max_retries: int,
        is_openai_key: bool,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = _headers(is_openai_key)
        self._key = key
        self._proxy = _proxy_for(base_url)
        self._silence = silence
        self._connections = connections
        self._max_retries = max_retries
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._opened: aiohttp.ClientSession | None = None

    async def get(self, path: str, call: Call[Any]) -> None:
        """Make all tries of a call without a body: then it has a reply, or a fault, or its time is over."""
        await self._make(call, "GET", path, None)

    async def post(self, path: str, body: Mapping[str, Any], call: Call[Any]) -> None:
        """Make all tries of a call with a JSON body; see `get`."""
        await self._make(call, "POST", path, json.dumps(body, ensure_ascii=False).encode())

    async def aclose(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def _session(self) -> aiohttp.ClientSession:
        # Made when it is first needed: it belongs to the event loop that runs then.
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._connections, keepalive_timeout=_KEEPALIVE_SECONDS, ssl=_certificates()
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(sock_connect=min(self._silence, _CONNECT_SECONDS)),
                auto_decompress=False,
            )
        return self._opened

    async def _make(self, call: Call[Any], method: str, path: str, body: bytes | None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(call.ends_at):
                while True:
                    await self._try(call, method, path, body)
                    if call.fault is None or call.fault.is_final or call.tries > self._max_retries:
                        return
                    await asyncio.sleep(_pause(call))

    async def _try(self, call: Call[Any], method: str, path: str, body: bytes | None) -> None:
        """Make one try: then the call has a reply, or a fault."""
        call.tries += 1
        call.fault = None
        try:
            await self._exchange(call, method, path, body)
        # Below HTTP there are several libraries, each with errors of its own, and a server that says anything.
        except Exception as error:
            # What broke after the reply does not matter to it: it is paid for.
            call.fault = None if call.reply is not None else _fault_of(error)

    async def _exchange(self, call: Call[Any], method: str, path: str, body: bytes | None) -> None:
        async with (
            asyncio.timeout(self._silence) as clock,
            self._session.request(
                method,
                self._base_url + path,
                data=body,
                headers={"Authorization": f"Bearer {self._key()}"},
                proxy=self._proxy,
                allow_redirects=False,
            ) as response,
        ):
            if 200 <= response.status < 300:
                await self._receive(response, call, clock)
            else:
                call.fault = _refused(response, await self._refusal(response, clock))

    async def _receive(self, response: aiohttp.ClientResponse, call: Call[Any], clock: asyncio.Timeout) -> None:
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

    async def _refusal(self, response: aiohttp.ClientResponse, clock: asyncio.Timeout) -> bytes:
        """The beginning of what is said with a refusal."""
        body = bytearray()
        try:
            async for piece in self._pieces(response, _ORDINARY_BYTES, clock):
                body += piece
        except _TooLarge:
            pass
        return bytes(body)

    async def _pieces(
        self, response: aiohttp.ClientResponse, most: int, clock: asyncio.Timeout
    ) -> AsyncIterator[bytes]:
        """The body, inflated, without the white space before it."""
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        inflater = None if encoding in ("identity", "") else zlib.decompressobj(_GZIP_OR_ZLIB)
        begins_by = self._from_now() + self._silence
        seen, has_begun = 0, False
        async for raw in response.content.iter_chunked(_PIECE_BYTES):
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
            raise UnreadableReply

    def _from_now(self) -> float:
        return asyncio.get_running_loop().time() + self._silence


def _headers(is_openai_key: bool) -> dict[str, str]:
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "pgclarify",
    }
    for header, variable in (("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID")):
        value = os.environ.get(variable) if is_openai_key else None
        if value:
            headers[header] = value
    return headers


def _proxy_for(address: str) -> str | None:
    """The proxy that the environment names for an address; None if it names none.

    Here and not by aiohttp, which would also look for passwords in .netrc, in a thread, for each request.
    """
    url = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or not url.hostname or proxy_bypass(url.hostname):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _certificates() -> ssl.SSLContext | bool:
    """The system's certificates, or those of the package where this Python does not know where the system has any."""
    paths = ssl.get_default_verify_paths()
    return True if paths.cafile or paths.capath else ssl.create_default_context(cafile=certifi.where())


def _pause(call: Call[Any]) -> float:
    """Seconds until the next try: as many as the server asks for, if there is time for them, else the usual ones."""
    wait = None if call.fault is None else call.fault.wait
    left = call.ends_at - asyncio.get_running_loop().time()
    if wait is not None and 0 < wait <= min(_LONGEST_PAUSE, left):
        return wait
    usual = min(_FIRST_PAUSE * 2.0 ** min(call.tries - 1, 10), _LONGEST_USUAL_PAUSE)
    return usual * (1 - secrets.randbelow(250) / 1000)


def _refused(response: aiohttp.ClientResponse, body: bytes) -> Fault:
    refusal = read_refusal(body)
    status, location = response.status, response.headers.get("Location")
    said = f"it points to {location}" if 300 <= status < 400 and location else refusal.message
    # What the server says about it itself goes first.
    told = response.headers.get("x-should-retry")
    may_pass = told == "true" or (told != "false" and (status in _PASSING or status >= 500))
    wait = _asked_wait(response.headers)
    return Fault(Problem.REFUSED, said, status, refusal.parameter, refusal.code, wait, is_final=not may_pass)


def _asked_wait(headers: Mapping[str, str]) -> float | None:
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
    if isinstance(error, UnreadableReply):
        return Fault(Problem.UNREADABLE, error.said)
    if isinstance(error, _TooLarge):
        return Fault(Problem.TOO_LARGE)
    # The whole chain, since aiohttp wraps some time-outs in errors of its own.
    if any(isinstance(cause, TimeoutError) for cause in _chain(error)):
        return Fault(Problem.SILENT)
    if isinstance(error, aiohttp.ClientConnectionError | aiohttp.ClientPayloadError | OSError):
        return Fault(Problem.BROKEN)
    return Fault(Problem.UNREADABLE, type(error).__name__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
