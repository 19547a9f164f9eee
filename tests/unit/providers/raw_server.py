"""A TCP server on 127.0.0.1 that answers HTTP requests with bytes that a test chooses, valid HTTP or not."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def http(
    body: bytes | object, status: str = "200 OK", *headers: str, length: int | None = None, reason: bytes = b""
) -> bytes:
    """An HTTP answer. Its body is bytes, or a value that becomes JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"Content-Length: {len(content) if length is None else length}", *headers]
    head = b"HTTP/1.1 " + status.encode() + reason + b"\r\n"
    return head + "".join(f"{line}\r\n" for line in lines).encode("latin-1") + b"\r\n" + content


def completion(content: object = "yes", **fields: object) -> dict[str, object]:
    """A chat completion with this content."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    return {"object": "chat.completion", "choices": [choice], **fields}


class RawServer:
    """The server, and the requests that it received.

    Attributes:
        script: Answers to the first requests, in order.
        answer: The answer to all further ones.
        stays_open: Whether a connection stays open after an answer.
        calls: Requests received.
        requests: Heads of the requests received.
    """

    def __init__(self) -> None:
        self.script: deque[Answer] = deque()
        self.answer: Answer = http(completion())
        self.stays_open = False
        self.calls = 0
        self.requests: list[bytes] = []
        self.base_url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            # A client may disconnect early.
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
                while self.stays_open:
                    await self._answer(reader, writer)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        await reader.readexactly(int(fields.get(b"content-length", 0)))
        self.calls += 1
        self.requests.append(head)
        answer = self.script.popleft() if self.script else self.answer
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
        else:
            await answer(writer)


@contextlib.asynccontextmanager
async def serve_raw() -> AsyncIterator[RawServer]:
    """Run a RawServer in this event loop."""
    server = RawServer()
    connections: set[asyncio.Task[None]] = set()
    writers: set[asyncio.StreamWriter] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        writers.add(writer)
        # A connection that the end of the test closes is not an error.
        with contextlib.suppress(asyncio.CancelledError):
            await server.serve(reader, writer)
        connections.discard(task)

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    server.base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listening.close()
        # Wait for a connection that is being accepted, so that it is closed with the others.
        await asyncio.sleep(0.01)
        for task in [*connections]:
            task.cancel()
        await asyncio.gather(*[*connections], return_exceptions=True)
        # A client may not have read everything. So do not wait until it has.
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)
