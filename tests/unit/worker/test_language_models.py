"""The language models of a worker, by its settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from pgclarify.config import Provider, Settings
from pgclarify.embedding import LocalSpanReader
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ConfigurationError
from pgclarify.prompts.versions import VERSIONS, combined
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.extractive.verifier import PROMPT_VERSION
from pgclarify.worker.language_models import LanguageModels, open_language_models
from tests.unit.embedding.small_model import save_small_model

ENDPOINT = {"openai_base_url": "http://localhost:1/v1", "llm_model": "a-model"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_small_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove the settings of the user who runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PGCLARIFY_LLM_PROVIDER", "PGCLARIFY_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PGCLARIFY_DATABASE_URL", raising=False)


@pytest.fixture
def embedders() -> Iterator[Embedders]:
    opened = Embedders()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "settings",
    [
        ENDPOINT,
        {"openai_api_key": SecretStr("a-key"), "llm_model": "a-model"},
        {**ENDPOINT, "llm_provider": Provider.OPENAI},
        {**ENDPOINT, "database_url": "postgresql://somewhere"},
    ],
)
async def test_with_an_endpoint_one_model_is_asked(settings: dict[str, object], embedders: Embedders) -> None:
    async with open_language_models(Settings(**settings), embedders) as models:  # type: ignore[arg-type]
        assert models.chat is models.completer
        assert (models.completer.provider, models.completer.model) == ("openai", "a-model")
        assert models.prompt_version == combined(VERSIONS)
        assert models.reader is not None
        assert isinstance(await models.reader(), LocalSpanReader)
    # This needs no embedding model.
    assert embedders.loaded == []


@pytest.mark.parametrize("settings", [{}, {**ENDPOINT, "llm_provider": Provider.EXTRACTIVE}])
async def test_without_one_there_is_a_verifier_alone(
    settings: dict[str, object], embedders: Embedders, model: str
) -> None:
    given = Settings(embedding_model=model, **settings)  # type: ignore[arg-type]
    async with open_language_models(given, embedders) as models:
        assert isinstance(models.completer, ExtractiveVerifier)
        assert models == LanguageModels(models.completer, embedding_model=model)
        assert models.chat is None
        # Runs that were judged with another embedding model are not reused.
        assert models.prompt_version == f"{PROMPT_VERSION}, embedding model {model}"
    assert embedders.loaded == [model]


@pytest.mark.parametrize("settings", [{"database_url": "postgresql://somewhere"}, {"llm_provider": Provider.OPENAI}])
async def test_a_lost_key_does_not_pass_for_an_answer(settings: dict[str, object], embedders: Embedders) -> None:
    with pytest.raises(ConfigurationError) as caught:
        async with open_language_models(Settings(**settings), embedders):  # type: ignore[arg-type]
            raise AssertionError("nobody is there to judge")
    assert caught.value.hint
    assert embedders.loaded == []
