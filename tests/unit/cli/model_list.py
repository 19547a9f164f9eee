"""A server on 127.0.0.1 whose answers to GET /v1/models a test sets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def models(*names: object) -> str:
    """The answer of a server with these models."""
    return json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


class ModelList:
    """The server.

    Attributes:
        status: The status of its answers.
        body: The text of its answers.
        hangs: Whether it never answers.
        on_request: Called before each answer.
        requests: The first lines of the requests.
        port: Its port.
        base_url: Its address, with /v1.
    """

    def __init__(self, port: int) -> None:
        self.status = 200
        self.body = models("small")
        self.hangs = False
        self.on_request: Callable[[], None] = lambda: None
        self.requests: list[str] = []
        self.port = port
        self.base_url = f"http://127.0.0.1:{port}/v1"


@contextmanager
def serving() -> Iterator[ModelList]:
    """Run a server in threads. It lists one model, small."""
    is_over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            listed.requests.append(self.requestline)
            listed.on_request()
            if listed.hangs:
                is_over.wait()
                return
            self.send_response(listed.status if self.path == "/v1/models" else 404)
            self.end_headers()
            self.wfile.write(listed.body.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        listed = ModelList(server.server_port)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield listed
        finally:
            is_over.set()
            server.shutdown()
