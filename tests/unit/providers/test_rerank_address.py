"""The address and the key of an endpoint for rerankers, from the settings."""

from __future__ import annotations

from typing import Any

import pytest

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError
from pgclarify.providers.rerank_endpoint import RerankEndpoint


@pytest.mark.parametrize(
    ("given", "url", "key"),
    [
        ({"rerank_base_url": "http://gpu/v1"}, "http://gpu/v1", "PGCLARIFY_RERANK_API_KEY"),
        (
            {"rerank_base_url": "http://gpu/v1", "llm_provider": "extractive"},
            "http://gpu/v1",
            "PGCLARIFY_RERANK_API_KEY",
        ),
        ({"openai_base_url": "http://gpu/v1"}, "http://gpu/v1", "OPENAI_API_KEY"),
        (
            {"openai_base_url": "http://gpu/v1", "rerank_api_key": "sk-own"},
            "http://gpu/v1",
            "PGCLARIFY_RERANK_API_KEY",
        ),
    ],
)
def test_the_address_is_its_own_or_that_of_the_language_model(given: dict[str, Any], url: str, key: str) -> None:
    address = RerankEndpoint.from_settings(Settings(_env_file=None, **given, openai_api_key="sk-chat")).address
    assert (address.base_url, address.key_variable) == (url, key)
    # The language model's key is only sent to the language model's address.
    assert address.has_key == (key == "OPENAI_API_KEY" or "rerank_api_key" in given)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"openai_api_key": "sk-chat"},
        {"rerank_api_key": "sk-own"},
        {"rerank_base_url": "gpu/v1"},
        # Without a language model, no passage is sent to an address that is still in the environment.
        {"llm_provider": "extractive", "openai_base_url": "http://gpu/v1"},
    ],
)
def test_settings_without_an_address_for_rerankers_are_refused(given: dict[str, Any]) -> None:
    # OpenAI has no rerankers, so its key alone means no endpoint.
    with pytest.raises(ConfigurationError):
        RerankEndpoint.from_settings(Settings(_env_file=None, **given))
