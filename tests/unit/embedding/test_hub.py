"""A model that is not on this machine is looked for at a hub: once, if the hub says that it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from pgclarify.embedding import loading
from pgclarify.embedding.cross_encoder import CrossEncoders
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ModelNotFound

pytestmark = pytest.mark.slow


class Hub(ThreadingHTTPServer):
    """A hub without models.

    Attributes:
        asked: The paths of requests for one.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        if "named" in self.path:
            self.server.asked.append(self.path)
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no log."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    from huggingface_hub import constants, hf_api

    hub = Hub()
    address = f"http://127.0.0.1:{hub.server_port}"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hf_api.api, "endpoint", address)
    Thread(target=hub.serve_forever, daemon=True).start()
    yield hub
    hub.shutdown()
    hub.server_close()


@pytest.mark.parametrize("registry_of", [Embedders, CrossEncoders], ids=["embedding model", "cross-encoder"])
async def test_a_name_that_the_hub_does_not_have_is_looked_for_once(
    hub: Hub, registry_of: Callable[[], Embedders | CrossEncoders]
) -> None:
    registry = registry_of()
    try:
        for _ in range(3):
            with pytest.raises(ModelNotFound) as caught:
                await registry.get("nobody/named-this")
            assert caught.value.is_lasting
        assert len(hub.asked) == 1
        with pytest.raises(ModelNotFound):
            await registry.get("nobody/named-that")
        assert len(hub.asked) == 2
    finally:
        registry.close()


async def test_a_model_is_looked_for_again_if_the_hub_did_not_say_that_it_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def cannot_connect(kind: str, location: str, *_: object, **options: object) -> None:
        asked.append(location)
        raise OSError("We couldn't connect to the hub.")

    monkeypatch.setattr(loading, "_load", cannot_connect)
    embedders = Embedders()
    try:
        for _ in range(2):
            with pytest.raises(ModelNotFound) as caught:
                await embedders.get("nobody/named-this")
            assert not caught.value.is_lasting
        assert len(asked) == 2
    finally:
        embedders.close()
