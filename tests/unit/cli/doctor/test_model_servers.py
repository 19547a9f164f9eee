"""Which model servers are found on this machine, and what the command line says about them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from pgclarify.cli.doctor.check import Check
from pgclarify.cli.doctor.model_servers import find_model_servers
from pgclarify.cli.doctor.model_servers import found as named
from pgclarify.config import Provider, Settings
from tests.pages import CHECKOUT, blocks
from tests.unit.cli.model_list import ModelList, models, serving


@pytest.fixture
def server() -> Iterator[ModelList]:
    with serving() as listed:
        yield listed


def found(server: ModelList, settings: Settings | None = None) -> list[Check]:
    return find_model_servers(settings or Settings(), {"Ollama": server.port})


def test_a_server_is_named_with_its_models_and_the_command_that_uses_it(server: ModelList) -> None:
    server.body = models("nomic-embed-text", "qwen2.5:7b", "it's")
    (shown,) = found(server)
    models_last = "qwen2.5:7b, it's, nomic-embed-text; its port"
    assert f"{server.base_url} has {models_last}" in shown.finding, "a model that only embeds comes last"
    assert f"pgclarify use {server.base_url} qwen2.5:7b " in str(shown.remedy)
    assert server.requests == ["GET /v1/models HTTP/1.1"], "nothing else is sent"


def test_the_page_shows_what_is_printed() -> None:
    (shown,) = blocks(CHECKOUT / "docs" / "endpoints.md", "text")
    server = named("Ollama", "http://127.0.0.1:11434/v1", ["qwen2.5:7b"])
    printed = f"A model server runs on this machine: {server.finding}. {server.remedy}"
    assert printed.split() == shown.code.split()


@pytest.mark.parametrize("text", ["<html>", "[]", models(1), models(), "[" * 60_000])
def test_a_server_that_lists_no_models_is_no_model_server(server: ModelList, text: str) -> None:
    server.body = text
    assert found(server) == []


@pytest.mark.parametrize(
    "settings",
    [
        Settings(openai_base_url="http://localhost:1/v1"),
        Settings(openai_api_key=SecretStr("sk-1")),
        Settings(llm_model="model.gguf"),
        Settings(llm_provider=Provider.EXTRACTIVE),
    ],
)
def test_users_who_have_chosen_are_asked_nothing(server: ModelList, settings: Settings) -> None:
    assert found(server, settings) == []
    assert server.requests == []


def test_a_name_of_a_model_is_no_shell_code_and_no_control_character(server: ModelList) -> None:
    server.body = models("a; rm -rf ~ \x1b[2J")
    (shown,) = found(server)
    assert f"pgclarify use {server.base_url} 'a; rm -rf ~" in str(shown.remedy)
    assert "\x1b" not in f"{shown.finding}{shown.remedy}"
