"""The doctor's findings about an endpoint, and secrets that it never prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgclarify.cli.doctor import endpoint
from pgclarify.cli.doctor.check import Check, Level
from pgclarify.config import Provider, Settings
from tests.unit.cli.model_list import ModelList, serving

KEY = "sk-sesame"


@pytest.fixture
def server() -> Iterator[ModelList]:
    with serving() as listed:
        yield listed


def settings(base_url: str, **values: Any) -> Settings:
    return Settings(**{"openai_base_url": base_url, "openai_api_key": KEY, "llm_model": "small"} | values)


def look(base_url: str, **values: Any) -> Check:
    (check,) = endpoint.check_endpoints(settings(base_url, **values), has_workers=True)
    assert KEY not in f"{check.finding} {check.remedy}"
    return check


def test_an_endpoint_that_lists_the_model(server: ModelList) -> None:
    assert look(server.base_url).level is Level.OK


def test_a_key_from_a_file(server: ModelList, tmp_path: Path) -> None:
    file = tmp_path / "key"
    values = {"openai_api_key": None, "openai_api_key_file": file}
    check = look(server.base_url, **values)
    assert (check.level, str(file) in str(check.remedy)) == (Level.PROBLEM, True)
    file.write_text(KEY)
    assert look(server.base_url, **values).level is Level.OK
    server.status = 401
    assert "OPENAI_API_KEY_FILE" in str(look(server.base_url, **values).remedy)


def test_a_model_that_is_not_listed(server: ModelList) -> None:
    check = look(server.base_url, llm_model="large")
    assert check.level is Level.WARNING
    assert "small" in str(check.remedy)


@pytest.mark.parametrize(
    ("status", "level"),
    [(401, Level.PROBLEM), (404, Level.WARNING), (429, Level.WARNING), (500, Level.PROBLEM)],
)
def test_refusals_without_the_key_that_they_repeat(server: ModelList, status: int, level: Level) -> None:
    server.status = status
    server.body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})
    check = look(server.base_url)
    assert check.level is level
    assert str(status) in check.finding or "rate limit" in check.finding


@pytest.mark.parametrize(
    "body",
    ["<html>Sign in</html>", "[]", '{"data": 5}', "[" * 100_000, "a" * 2**23],
    ids=["a page", "a list", "a number", "deep", "large"],
)
def test_a_response_that_lists_no_models_is_a_problem(server: ModelList, body: str) -> None:
    server.body = body
    assert look(server.base_url).level is Level.PROBLEM


def test_an_endpoint_that_is_silent(server: ModelList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_SECONDS", 0.2)
    server.hangs = True
    assert "did not answer" in look(server.base_url).finding


def test_an_endpoint_that_is_down() -> None:
    check = look("http://127.0.0.1:1/v1")
    assert check.level is Level.PROBLEM
    assert "http://127.0.0.1:1/v1" in check.finding


@pytest.mark.parametrize("values", [{"llm_model": None}, {"openai_base_url": "localhost:8000"}])
def test_settings_that_make_no_endpoint(values: dict[str, Any]) -> None:
    assert look("http://127.0.0.1:1/v1", **values).level is Level.PROBLEM


URL = "postgresql://db.example/app"


@pytest.mark.parametrize(
    ("values", "chosen"),
    [
        ({}, Provider.EXTRACTIVE),
        ({"database_url": URL}, None),
        ({"openai_api_key": KEY}, Provider.OPENAI),
        ({"database_url": URL, "openai_base_url": "http://127.0.0.1:1/v1"}, Provider.OPENAI),
        ({"openai_api_key": KEY, "llm_provider": Provider.EXTRACTIVE}, Provider.EXTRACTIVE),
    ],
)
def test_settings_choose_the_provider(values: dict[str, Any], chosen: Provider | None) -> None:
    assert Settings(**values).chosen_provider is chosen


def test_no_endpoint_is_a_problem_unless_a_worker_has_one() -> None:
    for settings, has_workers, level in (
        (Settings(database_url=URL), False, Level.PROBLEM),
        (Settings(database_url=URL), True, Level.WARNING),
        (Settings(), False, Level.OK),
    ):
        (check,) = endpoint.check_endpoints(settings, has_workers=has_workers)
        assert check.level is level
