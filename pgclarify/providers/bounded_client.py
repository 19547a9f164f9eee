"""The HTTP client of endpoints. It limits the size of answers, and turns every answer into a reply or a fault.

It retries, with the same pauses as OpenAI's client. It stores the result in the Call as a plain record.
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

# Each call in flight may hold this many bytes of its answer. A call with a longer answer first waits for one of a few
# places. So the memory of answers is bounded, for any number of calls.
_ORDINARY_BYTES: Final = 64 * 1024
_LARGE_AT_ONCE: Final = 2
# How many bytes to read at once.
_PIECE_BYTES: Final = 16 * 1024

# Statuses that may pass on another try, besides 5xx: a timeout, a conflict, a rate limit.
_PASSING: Final = frozenset({408, 409, 429})
# Seconds before the second try. Each later pause is twice as long, up to a limit. A random part of up to a quarter is
# subtracted, so that calls that failed together do not retry together.
_FIRST_PAUSE: Final = 0.5
_LONGEST_USUAL_PAUSE: Final = 8.0
# Longest pause that a server may ask for. If it asks for more, the usual pauses apply, and the error quotes the server.
_LONGEST_PAUSE: Final = 60.0

_CONNECT_SECONDS: Final = 10.0
_KEEPALIVE_SECONDS: Final = 60.0

# zlib detects gzip and its own format by the first bytes.
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS

T = TypeVar("T")


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
    status: The status of a refusal; else 0.
    parameter: The parameter that a refusal names; empty if none.
    code: The server's code for the refusal; empty if it has none.
    wait: Seconds that the server asks to wait; None if it does not say.
    is_final: Whether another try would have the same result.
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
    """One call with all its tries.

    Attributes:
        read: Reads the body of a success, or raises UnreadableReply.
        most_bytes: Most bytes that the body may have.
        ends_at: When the call is given up, by the clock of the event loop.
        tries: Tries so far.
        fault: The fault of the last try, if it has ended.
        reply: What `read` returned.
    """

    read: Callable[[bytes], T]
    most_bytes: int
    ends_at: float
    tries: int = 0
    fault: Fault | None = None
    reply: T | None = None


class _TooLarge(Exception):
    """The body has more bytes than a reply can need."""


class BoundedClient:
    """Makes calls to one address.

    It follows no redirect, because a redirect could send passages to another server. It keeps no cookie, and asks for
    uncompressed answers. Compressed answers are inflated within the same limit. The environment may name a proxy
    (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).

    Args:
        base_url: The address up to and including the version.
        key: Returns the key; called for each try.
        silence: Most seconds until an answer begins, between two signs of life, and for the body of an answer that has
            begun. Some servers send white space to keep a connection open. It counts as a sign of life for twice as
            long, and a call has time for two such tries.
        connections: Most connections.
        max_retries: Further tries after an answer that is neither a reply nor a refusal, or after a refusal that may
            pass.
        is_openai_key: Whether the key is OPENAI_API_KEY. Then OPENAI_ORG_ID and OPENAI_PROJECT_ID are sent too, if they
            are set.
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
        """Make all tries of a call without a body. Afterwards it has a reply or a fault, or its time is over."""
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
        # The session is made on first use, because it belongs to the running event loop.
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
        """Make one try. Afterwards the call has a reply or a fault."""
        call.tries += 1
        call.fault = None
        try:
            await self._exchange(call, method, path, body)
        # Several libraries below HTTP have their own errors, and a server may send anything.
        except Exception as error:
            # A failure after the reply does not matter: the reply is paid for.
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
        """Return the beginning of a refusal's body."""
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
        """Yield the inflated body, without leading white space."""
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        inflater = None if encoding in ("identity", "") else zlib.decompressobj(_GZIP_OR_ZLIB)
        begins_by = self._from_now() + self._silence
        received, seen, has_begun = 0, 0, False
        async for raw in response.content.iter_chunked(_PIECE_BYTES):
            received += len(raw)
            # Inflate only enough to see that it is too much: a few bytes could become a thousand times as many.
            piece = raw if inflater is None else inflater.decompress(raw, most - seen + 1)
            seen += len(piece)
            # A compressed body may go on without end and inflate to nothing. zlib keeps what follows its end.
            if max(seen, received) > most:
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
    """Return the proxy that the environment names for an address; None if it names none.

    aiohttp could do it, but would also search .netrc for passwords, in a thread, for each request.
    """
    url = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or not url.hostname or proxy_bypass(url.hostname):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _certificates() -> ssl.SSLContext | bool:
    """Return the system's certificates, or certifi's if this Python does not find any of the system."""
    paths = ssl.get_default_verify_paths()
    return True if paths.cafile or paths.capath else ssl.create_default_context(cafile=certifi.where())


def _pause(call: Call[Any]) -> float:
    """Return the seconds until the next try: as the server asks, if there is time for that, else the usual pause."""
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
    # The server's own statement has priority.
    told = response.headers.get("x-should-retry")
    may_pass = told == "true" or (told != "false" and (status in _PASSING or status >= 500))
    wait = _asked_wait(response.headers)
    return Fault(Problem.REFUSED, said, status, refusal.parameter, refusal.code, wait, is_final=not may_pass)


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, from a number or a date; None if it sends neither."""
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
    # Check all causes, because aiohttp wraps some timeouts in its own errors.
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
