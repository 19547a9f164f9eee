"""A TCP proxy before a Unix socket that can stop forwarding, both ways, while its connections stay open."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.benchmark.faults.looping import background_loop

_PIECE = 2**16


class Proxy:
    """The proxy, on 127.0.0.1; `port` is where.

    Args:
        target: The Unix socket that connections are forwarded to.
    """

    def __init__(self, target: Path) -> None:
        self.port = 0
        self._target = target
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forwards = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve in a thread."""
        with background_loop() as self._loop:
            asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(30)
            yield

    def stall(self) -> None:
        """From now on forward nothing, and say so to neither side. New connections are taken, and forwarded no more."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._forwards.clear)

    def go_on(self) -> None:
        """Forward again, beginning with what came meanwhile."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._forwards.set)

    async def _listen(self) -> None:
        self._forwards.set()
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._keep(server.serve_forever())

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._forwards.wait()
        beyond_reader, beyond_writer = await asyncio.open_unix_connection(str(self._target))
        self._keep(self._forward(reader, beyond_writer))
        self._keep(self._forward(beyond_reader, writer))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(_PIECE):
                await self._forwards.wait()
                writer.write(piece)
                await writer.drain()
        # An end is not forwarded either.
        await self._forwards.wait()
        writer.close()

    def _keep(self, work) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
