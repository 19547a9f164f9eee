"""Azure OpenAI by the variables of the openai client, and what is sent to servers of others."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError
from pgclarify.providers.client import Address, Client
from pgclarify.providers.endpoint import Endpoint
from tests.unit.providers.asking import request
from tests.unit.providers.raw_server import RawServer, http, serve_raw

KEY = "azure-0123456789"
EMBEDDING = http({"data": [{"index": 0, "embedding": [1.0, 0.0]}], "usage": {"prompt_tokens": 1}})


def settings_of(server: RawServer, **changes: str) -> Settings:
    given: dict[str, Any] = {
        "llm_model": "my deployment",
        "azure_openai_endpoint": server.base_url.removesuffix("/v1"),
        "azure_openai_api_key": SecretStr(KEY),
        "openai_api_version": "2024-10-21",
        **changes,
    }
    return Settings(_env_file=None, **given)


async def test_azure_gets_the_deployment_the_version_and_its_own_header() -> None:
    async with serve_raw() as server, Endpoint.from_settings(settings_of(server)) as endpoint:
        assert (await endpoint.complete(request())).reply == "yes"
    head = server.requests[0].lower()
    assert head.startswith(b"post /openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21 "), head
    assert f"api-key: {KEY}\r\n".encode() in head
    assert b"authorization" not in head


@pytest.mark.parametrize(
    "given",
    [{"openai_base_url": "http://127.0.0.1:1/v1"}, {"openai_api_version": ""}, {"azure_openai_api_key": ""}],
)
async def test_incomplete_settings_of_azure_are_refused(given: dict[str, str]) -> None:
    async with serve_raw() as server:
        with pytest.raises(ConfigurationError) as caught:
            Endpoint.from_settings(settings_of(server, **given))
    assert "AZURE_OPENAI_ENDPOINT" in str(caught.value.detail)


async def test_secrets_of_openai_are_sent_to_no_server_with_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: mine\nAuthorization: Bearer sk-chat")
    async with serve_raw() as server:
        server.answer = EMBEDDING
        address = Address(server.base_url, SecretStr("sk-own"), key_variable="PGCLARIFY_EMBEDDING_API_KEY")
        async with Client(address, timeout=5, concurrency=1, max_retries=0) as client:
            await client.call("/embeddings", {"model": "m"}, lambda body: body, most_bytes=10_000, ends_at=1e12)
    head = server.requests[0].lower()
    assert b"authorization: bearer sk-own\r\n" in head
    assert not any(secret in head for secret in (b"org-1", b"x-secret", b"sk-chat"))
