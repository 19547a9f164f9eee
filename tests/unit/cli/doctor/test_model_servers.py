"""Which model servers are found on this machine, and what the command line says about them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pydantic import SecretStr

from pgclarify.cli.doctor.model_servers import ModelServer, find_model_servers
from pgclarify.config import Provider, Settings
from tests.pages import CHECKOUT, blocks


@pytest.fixture
def requests() -> list[str]:
    """The first lines of the requests."""
    return []


@pytest.fixture
def serve(requests: list[str]) -> Iterator[Callable[[str], dict[str, int]]]:
    """What starts a server that answers each request with one text. It returns where to look."""
    servers = []

    def start(text: str) -> dict[str, int]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                requests.append(self.requestline)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
                """Print nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return {"Ollama": server.server_port}

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def models(*names: object) -> str:
    return json.dumps({"data": [{"id": name} for name in names]})


def test_a_server_is_named_with_its_models_and_the_command_that_uses_it(
    serve: Callable[[str], dict[str, int]], requests: list[str]
) -> None:
    ports = serve(models("nomic-embed-text", "qwen2.5:7b", "it's"))
    (server,) = find_model_servers(Settings(), ports)
    assert server.base_url == f"http://127.0.0.1:{ports['Ollama']}/v1"
    assert server.models == ("qwen2.5:7b", "it's", "nomic-embed-text"), "a model that only embeds comes last"
    assert f"pgclarify use {server.base_url} qwen2.5:7b " in server.remedy
    assert requests == ["GET /v1/models HTTP/1.1"], "nothing else is sent"


def test_the_page_shows_what_is_printed() -> None:
    (shown,) = blocks(CHECKOUT / "docs" / "endpoints.md", "text")
    server = ModelServer("Ollama", "http://127.0.0.1:11434/v1", ("qwen2.5:7b",))
    printed = f"A model server runs on this machine: {server.finding}. {server.remedy}"
    assert printed.split() == shown.code.split()


@pytest.mark.parametrize("text", ["", "<html>", "[]", "{}", '{"data": 1}', models(1), models(), "[" * 60_000])
def test_a_server_that_lists_no_models_is_no_model_server(serve: Callable[[str], dict[str, int]], text: str) -> None:
    assert find_model_servers(Settings(), serve(text)) == []


@pytest.mark.parametrize(
    "settings",
    [
        Settings(openai_base_url="http://localhost:1/v1"),
        Settings(openai_api_key=SecretStr("sk-1")),
        Settings(llm_model="model.gguf"),
        Settings(llm_provider=Provider.EXTRACTIVE),
    ],
)
def test_users_who_have_chosen_are_asked_nothing(
    serve: Callable[[str], dict[str, int]], requests: list[str], settings: Settings
) -> None:
    assert find_model_servers(settings, serve(models("m"))) == []
    assert requests == []


def test_a_name_of_a_model_is_no_shell_code_and_no_control_character(serve: Callable[[str], dict[str, int]]) -> None:
    (server,) = find_model_servers(Settings(), serve(models("a; rm -rf ~ \x1b[2J")))
    assert f"pgclarify use {server.base_url} 'a; rm -rf ~" in server.remedy
    assert "\x1b" not in server.finding + server.remedy
