"""The HTTP transport under the openai client. It limits what a server can send, in bytes and in time.

It runs on aiohttp, because httpx's own pool needs three times the CPU time with hundreds of calls in flight.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from contextvars import ContextVar
from functools import cache
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

# Each call in flight may hold this many bytes of its answer. A call with a longer answer first waits for one of a few
# places. So the memory of answers is bounded, for any number of calls. A refusal is read up to this size.
ORDINARY_BYTES: Final = 64 * 1024
_LARGE_AT_ONCE: Final = 2
_PIECE_BYTES: Final = 16 * 1024

# Until a connection is made; also less than the time for silence, because a call without a connection is not charged.
_CONNECT_SECONDS: Final = 10.0
_CONNECT_SHARE: Final = 0.8
_KEEPALIVE_SECONDS: Final = 60.0

# What is sent to an address that is not that of the OpenAI variables. The openai client also adds organization,
# project and OPENAI_CUSTOM_HEADERS, which may be secret.
_PLAIN_HEADERS: Final = frozenset({"accept", "accept-encoding", "content-length", "content-type", "user-agent"})

# Headers of an answer. The body is complete and not encoded, so some would be wrong; the client would keep cookies.
_DROPPED: Final = frozenset({b"content-encoding", b"content-length", b"set-cookie", b"transfer-encoding"})

MOST_BYTES: ContextVar[int] = ContextVar("MOST_BYTES", default=ORDINARY_BYTES)
"""The most bytes that the body of a success may have, for requests of the current task."""


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates that servers are checked against. To read them takes as long as several calls."""
    return httpx2.create_ssl_context()


class TooLarge(Exception):
    """The body has more bytes than a reply can need."""


class Encoded(Exception):
    """The body is compressed, although the request excludes that."""


class LimitedTransport(httpx2.AsyncBaseTransport):
    """Sends a request and reads the whole answer, within limits.

    It follows no redirect, because a redirect could send passages to another server. It keeps no cookie, and accepts
    uncompressed answers only, because a few compressed bytes can become very many. The environment may name a proxy
    (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY).

    Args:
        base_url: The address of all requests.
        auth: Returns the headers with the key, for each request. They replace those of the openai client, which takes
            some from its variables.
        silence: Most seconds until an answer begins, between two signs of life, and for the body of an answer that has
            begun. White space that keeps a connection open is a sign of life for twice as long.
        connections: Most connections.
        sends_all_headers: Whether the address is that of the OpenAI variables.
    """

    def __init__(
        self,
        base_url: str,
        auth: Callable[[], dict[str, str]],
        *,
        silence: float,
        connections: int,
        sends_all_headers: bool,
    ) -> None:
        self._auth = auth
        self._proxy = _proxy_for(base_url)
        self._silence = silence
        self._connections = connections
        self._sends_all_headers = sends_all_headers
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._opened: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request.

        Raises:
            TooLarge: If the body of a success is too large.
            Encoded: If it is compressed.
            TimeoutError: If the server is silent for too long.
            aiohttp.ClientError: If the connection fails, or the answer is no HTTP.
        """
        answer: httpx2.Response | None = None
        # Making the first one reads certificates, which is no silence of the server.
        session = self._session
        try:
            async with (
                asyncio.timeout(self._silence) as clock,
                session.request(
                    request.method,
                    str(request.url),
                    # An upload is a stream.
                    data=await request.aread() or None,
                    headers={
                        name.lower(): value
                        for name, value in request.headers.items()
                        if self._sends_all_headers or name.lower() in _PLAIN_HEADERS
                    }
                    | self._auth(),
                    proxy=self._proxy,
                    allow_redirects=False,
                ) as response,
            ):
                body = await self._body(response, clock)
                headers = [(name, value) for name, value in response.raw_headers if name.lower() not in _DROPPED]
                answer = httpx2.Response(response.status, headers=headers, content=body)
        except Exception:
            # A failure after the answer does not matter: the answer is paid for.
            if answer is None:
                raise
        return answer

    async def aclose(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened.close()

    @property
    def _session(self) -> aiohttp.ClientSession:
        # The session is made on first use, because it belongs to the running event loop.
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._connections, keepalive_timeout=_KEEPALIVE_SECONDS, ssl=_certificates()
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(sock_connect=min(_CONNECT_SHARE * self._silence, _CONNECT_SECONDS)),
                auto_decompress=False,
            )
        return self._opened

    async def _body(self, response: aiohttp.ClientResponse, clock: asyncio.Timeout) -> bytes:
        """Read the body, without leading white space; of a refusal only the beginning."""
        is_success = 200 <= response.status < 300
        if response.headers.get("Content-Encoding", "identity").strip().lower() not in ("identity", ""):
            if is_success:
                raise Encoded
            return b""
        most = MOST_BYTES.get() if is_success else ORDINARY_BYTES
        begins_by = self._from_now() + self._silence
        received, body, is_large = 0, bytearray(), False
        async with AsyncExitStack() as place:
            async for piece in response.content.iter_chunked(_PIECE_BYTES):
                received += len(piece)
                if received > most:
                    if is_success:
                        raise TooLarge
                    break
                if not body:
                    piece = piece.lstrip()
                    clock.reschedule(self._from_now() if piece else min(self._from_now(), begins_by))
                body += piece
                if len(body) > ORDINARY_BYTES and not is_large:
                    is_large = True
                    clock.reschedule(None)
                    await place.enter_async_context(self._large)
                    clock.reschedule(self._from_now())
            return bytes(body)

    def _from_now(self) -> float:
        return asyncio.get_running_loop().time() + self._silence


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
