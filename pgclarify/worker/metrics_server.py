"""The HTTP server of a worker: /metrics for Prometheus, /healthz and /readyz for the system that starts workers."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from prometheus_client import CONTENT_TYPE_LATEST

from pgclarify.errors import ConfigurationError
from pgclarify.worker.metrics import WorkerMetrics, read_work_counts

if TYPE_CHECKING:
    from pgclarify.embedded import Address

_logger = logging.getLogger(__name__)

_BEAT_SECONDS = 1.0
# As long as presence waits for the event loop. After that, other workers take over the runs of this one.
_PATIENCE_SECONDS = 60.0
# Most seconds that a connection lasts. A client that sends or reads slowly would otherwise keep a thread without limit.
_REQUEST_SECONDS = 15.0
# Most connections at once; each has a thread.
_MOST_CONNECTIONS = 16
_Request: TypeAlias = socket.socket | tuple[bytes, socket.socket]
"""As the library declares it; a server of streams gets sockets only."""
_TEXT = "text/plain; charset=utf-8"


class WatchedWorker(WorkerMetrics):
    """The metrics of a worker, and whether it is alive and ready.

    Args:
        read_counts: Reads the row of `pgclarify_private.work_counts`. Called in a thread.
        patience: Seconds without a beat of the loop after which the worker counts as stuck.
    """

    def __init__(self, read_counts: Callable[[], Mapping[str, Any]], *, patience: float = _PATIENCE_SECONDS) -> None:
        super().__init__(read_counts)
        self._patience = patience
        self._beat_at = time.monotonic()
        self._is_ready = False
        # A blocked event loop cannot note that the worker takes no runs any more.
        self._ready.set_function(lambda: self._is_ready and not self._is_stuck)

    def note_ready(self, *, is_ready: bool) -> None:
        """See Monitor."""
        self._is_ready = is_ready

    async def keep_beating(self) -> None:
        """Record repeatedly that the event loop runs."""
        while True:
            self._beat_at = time.monotonic()
            await asyncio.sleep(_BEAT_SECONDS)

    @property
    def _silence(self) -> float:
        return time.monotonic() - self._beat_at

    @property
    def _is_stuck(self) -> bool:
        return self._silence > self._patience

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Answer a GET with status, content type and content. Called in a thread."""
        match path.partition("?")[0]:
            case "/metrics":
                return HTTPStatus.OK, CONTENT_TYPE_LATEST, self.render()
            case "/healthz":
                if self._is_stuck:
                    return self._blocked()
                return HTTPStatus.OK, _TEXT, b"the worker lives\n"
            case "/readyz":
                if self._is_stuck:
                    return self._blocked()
                if not self._is_ready:
                    return _unavailable("the worker takes no runs: it starts, stops, or has no database\n")
                return HTTPStatus.OK, _TEXT, b"the worker takes runs\n"
        return HTTPStatus.NOT_FOUND, _TEXT, b"there are /metrics, /healthz and /readyz\n"

    def _blocked(self) -> tuple[HTTPStatus, str, bytes]:
        return _unavailable(f"the event loop has been blocked for {self._silence:.0f} seconds\n")


def _unavailable(why: str) -> tuple[HTTPStatus, str, bytes]:
    return HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, why.encode()


@asynccontextmanager
async def watched(address: Address, dsn: str) -> AsyncIterator[WatchedWorker]:
    """Answer at an address as long as the block lasts. Clients that reach the address need no password.

    Threads of their own answer, so that /healthz works while the event loop is stuck.

    Args:
        address: Where to listen.
        dsn: Connection string of the database.

    Raises:
        ConfigurationError: If it cannot listen there.
    """
    worker = WatchedWorker(partial(read_work_counts, dsn))
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
        # In a thread, because it waits for the thread of the server.
        await asyncio.to_thread(server.shutdown)
        server.server_close()


def _server(address: Address, worker: WatchedWorker) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
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
        # A scrape that waits for the database must not delay the end of the worker.
        block_on_close = False
        places = threading.BoundedSemaphore(_MOST_CONNECTIONS)

        def server_bind(self) -> None:
            """Bind as HTTPServer does, but do not look up this machine's name, which can take seconds."""
            TCPServer.server_bind(self)

        def process_request(self, request: _Request, client_address: object) -> None:
            """Answer in a thread of its own; close a connection that is one too many."""
            if not self.places.acquire(blocking=False):
                self.shutdown_request(request)
                return
            try:
                super().process_request(request, client_address)
            except BaseException:
                # No thread has started, which would free the place.
                self.places.release()
                raise

        def process_request_thread(self, request: _Request, client_address: object) -> None:
            """Answer, and cut the connection when its time is over."""
            connection = cast("socket.socket", request)
            # A timeout of the socket would begin anew with each byte.
            cut = threading.Timer(_REQUEST_SECONDS, _cut, [connection])
            cut.daemon = True
            try:
                cut.start()
                super().process_request_thread(request, client_address)
            finally:
                cut.cancel()
                self.places.release()

        def handle_error(self, request: _Request, client_address: object) -> None:
            """Log at debug only that a client went away; any other error is one of the worker."""
            level = logging.DEBUG if isinstance(sys.exception(), OSError) else logging.ERROR
            _logger.log(level, "a client of the metrics got no answer", exc_info=True)

    return Server((address.host, address.port), Handler)


def _cut(connection: socket.socket) -> None:
    """End a connection: a thread that reads or writes it goes on with an error."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
