"""Which judges the settings ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from pgclarify.config import Provider, Settings
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ConfigurationError
from pgclarify.llm.extractive import ExtractiveVerifier
from pgclarify.testing import FakeVerifier
from pgclarify.worker.judges import Judges, open_judges
from tests.small_model import save_small_model

ENDPOINT = {"openai_base_url": "http://localhost:1/v1", "llm_model": "a-model"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_small_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without settings of whoever runs this."""
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
async def test_with_an_endpoint_one_model_holds_all_offices(settings: dict[str, object], embedders: Embedders) -> None:
    async with open_judges(Settings(**settings), embedders) as judges:  # type: ignore[arg-type]
        offices = [judges.verifier, judges.relevance, judges.entailment, judges.investigator]
        assert [(one.provider, one.model) for one in offices if one is not None] == [("openai", "a-model")] * 4
    # It needs no model here.
    assert embedders.loaded == []


async def test_what_is_not_recorded_is_judged_by_one_that_asks_nobody(embedders: Embedders, model: str) -> None:
    async with open_judges(Settings(embedding_model=model, **ENDPOINT), embedders) as judges:  # type: ignore[arg-type]
        assert isinstance(await judges.asking_nobody(), ExtractiveVerifier)
    assert embedders.loaded == [model]
    extractive = FakeVerifier(provider="extractive")
    assert await Judges(extractive).asking_nobody() is extractive
    with pytest.raises(ConfigurationError):
        await Judges(FakeVerifier(provider="openai")).asking_nobody()


@pytest.mark.parametrize("settings", [{}, {**ENDPOINT, "llm_provider": Provider.EXTRACTIVE}])
async def test_without_one_there_is_a_verifier_alone(
    settings: dict[str, object], embedders: Embedders, model: str
) -> None:
    given = Settings(embedding_model=model, **settings)  # type: ignore[arg-type]
    async with open_judges(given, embedders) as judges:
        assert isinstance(judges.verifier, ExtractiveVerifier)
        assert judges == Judges(judges.verifier)
    assert embedders.loaded == [model]


@pytest.mark.parametrize("settings", [{"database_url": "postgresql://somewhere"}, {"llm_provider": Provider.OPENAI}])
async def test_a_lost_key_does_not_pass_for_an_answer(settings: dict[str, object], embedders: Embedders) -> None:
    with pytest.raises(ConfigurationError) as caught:
        async with open_judges(Settings(**settings), embedders):  # type: ignore[arg-type]
            raise AssertionError("nobody is there to judge")
    assert caught.value.hint
    assert embedders.loaded == []
