"""What a worker answers over HTTP: /metrics for Prometheus, /healthz and /readyz for what starts and stops workers."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST

from pgclarify.errors import ConfigurationError
from pgclarify.worker.metrics import WorkerMetrics

if TYPE_CHECKING:
    from pgclarify.embedded import Address

_logger = logging.getLogger(__name__)

_BEAT_SECONDS = 1.0
# As long as presence waits for the event loop: then other workers take the runs over, and this one is of no use.
_PATIENCE_SECONDS = 60.0
# Of a client that connects and sends nothing.
_REQUEST_SECONDS = 10.0
_TEXT = "text/plain; charset=utf-8"


class WatchedWorker(WorkerMetrics):
    """The metrics of a worker, and whether it lives and is ready.

    Args:
        loop: The event loop of the worker.
        patience: Seconds without a beat of the loop after which the worker counts as stuck.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, *, patience: float = _PATIENCE_SECONDS) -> None:
        super().__init__(loop)
        self._patience = patience
        self._beat_at = time.monotonic()
        self._is_ready = False

    def note_ready(self, *, is_ready: bool) -> None:
        """See Monitor."""
        super().note_ready(is_ready=is_ready)
        self._is_ready = is_ready

    async def keep_beating(self) -> None:
        """Show again and again that the event loop comes round."""
        while True:
            self._beat_at = time.monotonic()
            await asyncio.sleep(_BEAT_SECONDS)

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Answer a GET: status, type of the content, content. Called in a thread."""
        match path.partition("?")[0]:
            case "/metrics":
                return HTTPStatus.OK, CONTENT_TYPE_LATEST, self.render()
            case "/healthz":
                silence = time.monotonic() - self._beat_at
                if silence > self._patience:
                    return _unavailable(f"the event loop has not come round for {silence:.0f} seconds\n")
                return HTTPStatus.OK, _TEXT, b"the worker lives\n"
            case "/readyz":
                if not self._is_ready:
                    return _unavailable("the worker takes no runs: it starts, stops, or has no database\n")
                return HTTPStatus.OK, _TEXT, b"the worker takes runs\n"
        return HTTPStatus.NOT_FOUND, _TEXT, b"there are /metrics, /healthz and /readyz\n"


def _unavailable(why: str) -> tuple[HTTPStatus, str, bytes]:
    return HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, why.encode()


@asynccontextmanager
async def watched(address: Address, *, patience: float = _PATIENCE_SECONDS) -> AsyncIterator[WatchedWorker]:
    """Answer at an address as long as the block lasts. Clients that reach the address need no password.

    Threads of their own answer, so that /healthz works while the event loop is stuck.

    Args:
        address: Where to listen.
        patience: See WatchedWorker.

    Raises:
        ConfigurationError: If it cannot listen there.
    """
    worker = WatchedWorker(asyncio.get_running_loop(), patience=patience)
    try:
        server = _server(address, worker)
    except OSError as error:
        raise ConfigurationError(
            f"metrics cannot be served at {address}",
            detail=f"{error.strerror or error}.",
            hint="Choose another port for --metrics, or an address of this machine. Two workers need two ports.",
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    beating = asyncio.create_task(worker.keep_beating(), name="beating")
    _logger.info("metrics are at http://%s/metrics", address)
    try:
        yield worker
    finally:
        beating.cancel()
        # Not on the loop, which a scrape may be waiting for.
        await asyncio.to_thread(server.shutdown)
        server.server_close()


def _server(address: Address, worker: WatchedWorker) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        timeout = _REQUEST_SECONDS
        server_version = "pgclarify"
        sys_version = ""

        def do_GET(self) -> None:
            status, kind, content = worker.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - as the base class has it
            """Log no request: there is one every few seconds."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        daemon_threads = True
        # A scrape that waits for the database must not hold up the end of the worker.
        block_on_close = False

        def server_bind(self) -> None:
            """Bind as HTTPServer does, but look up no name of this machine, which can take seconds."""
            TCPServer.server_bind(self)

    return Server((address.host, address.port), Handler)
