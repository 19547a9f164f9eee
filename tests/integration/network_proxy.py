"""A proxy to a database that is slow or fails like a network: no byte passes any more, and no side gets an error."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Network:
    """A proxy on 127.0.0.1 in front of a server.

    Args:
        host: The server's host, or the folder of its Unix socket.
        server_port: The server's port.

    Attributes:
        port: Where it listens.
        round_trip: Seconds from a byte of a client to the server's answer, beside the time that the server takes. It
            may be changed at any time.
    """

    def __init__(self, host: str, server_port: int) -> None:
        self.port = 0
        self.round_trip = 0.0
        self._host = host
        self._server_port = server_port
        self._loop = asyncio.new_event_loop()
        self._is_whole = asyncio.Event()
        self._is_whole.set()
        self._is_over = asyncio.Event()
        self._is_ready = threading.Event()

    def part(self) -> None:
        """Forward nothing in either direction from now on. Connections stay open, including new ones."""
        self._loop.call_soon_threadsafe(self._is_whole.clear)

    def heal(self) -> None:
        """Forward again, first the bytes that have come meanwhile."""
        self._loop.call_soon_threadsafe(self._is_whole.set)

    def stop(self) -> None:
        """End the proxy."""
        self._loop.call_soon_threadsafe(self._is_over.set)

    def run(self) -> None:
        """Serve until stopped."""
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    def wait_until_ready(self) -> None:
        """Wait until it listens."""
        assert self._is_ready.wait(60)

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._is_ready.set()
        await self._is_over.wait()
        server.close()
        # Again, because a connection that was just accepted begins a task of its own.
        while ways := asyncio.all_tasks() - {asyncio.current_task()}:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            theirs, ours = await self._reach()
            writers.append(ours)
            # asyncio logs a traceback of a connection that is cancelled.
            with suppress(asyncio.CancelledError):
                await asyncio.gather(self._forward(reader, ours), self._forward(theirs, writer))
        finally:
            for one in writers:
                one.close()
                with suppress(OSError):
                    await one.wait_closed()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._host.startswith("/"):
            return await asyncio.open_unix_connection(f"{self._host}/.s.PGSQL.{self._server_port}")
        return await asyncio.open_connection(self._host, self._server_port)

    async def _forward(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        # Bytes that arrive while others are under way do not wait for those.
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(1000)
        delivering = asyncio.create_task(self._deliver(under_way, target))
        with suppress(OSError):
            while data := await source.read(65536):
                await under_way.put((self._loop.time() + self.round_trip / 2, data))
        await under_way.put((self._loop.time() + self.round_trip / 2, b""))
        await delivering

    async def _deliver(self, under_way: asyncio.Queue[tuple[float, bytes]], target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while True:
                due, data = await under_way.get()
                if (pause := due - self._loop.time()) > 0:
                    await asyncio.sleep(pause)
                if not data:
                    break
                await self._is_whole.wait()
                target.write(data)
                await target.drain()
        # The end of a connection is not forwarded either.
        await self._is_whole.wait()
        target.close()


@contextmanager
def network(dsn: str) -> Iterator[tuple[Network, str]]:
    """Run a proxy in a thread. Yields the proxy, and the connection string of the database through it."""
    server = conninfo_to_dict(dsn)
    way = Network(str(server["host"]), int(server.get("port") or 5432))
    thread = threading.Thread(target=way.run)
    thread.start()
    try:
        way.wait_until_ready()
        yield way, make_conninfo(dsn, host="127.0.0.1", port=way.port)
    finally:
        way.stop()
        thread.join(60)
