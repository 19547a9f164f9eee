"""A chat endpoint that answers by rules, and sends bad replies for a given share of calls."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import socket
import struct
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from benchmarks.faults import wire
from benchmarks.faults.looping import background_loop
from tests.openai_server import MODEL, Chat, by_rules

_BACKLOG = 1024
_MOST_BYTES = 2**24
_STREAM_LIMIT = 2**20
_NO_LINGER = struct.pack("ii", 1, 0)


@dataclass
class Call:
    """One request for a completion.

    Attributes:
        serial: Its number, from 1; the reply has it, too.
        key: Hash of its messages.
        arrived: When it came, as seconds since 1970.
        is_whole: Whether a good reply went out to its last byte.
    """

    serial: int
    key: bytes
    arrived: float = field(default_factory=time.time)
    is_whole: bool = False


@dataclass(frozen=True)
class Spoiling:
    """The share of calls that get a bad reply, and the bad replies to send in turn."""

    replies: Sequence[wire.Spoil] = ()
    share: float = 0.0


class Endpoint:
    """The endpoint, on a loopback or other address. Other threads may change its public attributes while it serves.

    Attributes:
        latency: Seconds before each reply.
        spoiling: How many replies are bad, and how.
        calls: All requests so far.
    """

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.latency = 0.0
        self.spoiling = Spoiling()
        self.calls: list[Call] = []
        self._chance = random.Random(15)  # noqa: S311 - not for secrets
        self._spoilt = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._address = address
        self._port = 0

    @property
    def base_url(self) -> str:
        """The value for OPENAI_BASE_URL."""
        return f"http://{self._address}:{self._port}/v1"

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve in a thread."""
        with background_loop() as self._loop:
            self.listen()
            try:
                yield
            finally:
                self.refuse()

    def listen(self) -> None:
        """Take connections, at the same address each time."""
        self._do(self._listen())

    def refuse(self) -> None:
        """Close all connections, and take no new ones."""
        self._do(self._refuse())

    def _do(self, work: Coroutine[None, None, None]) -> None:
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, self._address, self._port, limit=_STREAM_LIMIT, backlog=_BACKLOG
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def _refuse(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether another may follow on this connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request, *lines = head.split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        body = await reader.readexactly(min(int(headers.get("content-length", 0)), _MOST_BYTES))
        if not request.startswith("POST"):
            models = {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "tests"}]}
            return await self._send(reader, writer, wire.Wire(wire.http(json.dumps(models).encode())))
        asked = json.loads(body)
        key = hashlib.sha256(json.dumps(asked["messages"]).encode()).digest()
        call = Call(len(self.calls) + 1, key)
        self.calls.append(call)
        if self.latency:
            await asyncio.sleep(self.latency)
        reply = wire.completion(wire.with_serial(by_rules(Chat(asked)).content or "{}", call.serial), asked["model"])
        spoil = self._next_spoil()
        keeps = await self._send(reader, writer, spoil(reply) if spoil else wire.good(reply))
        call.is_whole = spoil is None and not writer.transport.is_closing()
        return keeps

    def _next_spoil(self) -> wire.Spoil | None:
        spoiling = self.spoiling
        if not spoiling.replies or self._chance.random() >= spoiling.share:
            return None
        self._spoilt += 1
        return spoiling.replies[self._spoilt % len(spoiling.replies)]

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: wire.Wire) -> bool:
        writer.write(reply.data)
        await writer.drain()
        while reply.dripped and not reader.at_eof():
            await asyncio.sleep(reply.pause_seconds)
            writer.write(reply.dripped)
            await writer.drain()
        if reply.ending is wire.Ending.HANG:
            # Wait until the client disconnects.
            await reader.read()
        elif reply.ending is wire.Ending.RESET:
            with suppress(OSError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            writer.transport.abort()
        return reply.ending is wire.Ending.KEEP
