"""The demo's text about itself."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pgclarify.cli.demo import MANUAL, mention, worker_environment
from pgclarify.config import Provider, Settings

CHECKOUT = Path(__file__).parents[3]
KEY = {"openai_api_key": SecretStr("sk-1")}


@pytest.mark.parametrize(
    ("settings", "is_told"),
    [
        ({}, True),
        (KEY, True),
        ({"llm_model": "small"}, True),
        ({**KEY, "llm_model": "small"}, False),
        ({"openai_base_url": "http://localhost:1/v1", "llm_model": "small"}, False),
        ({"llm_provider": Provider.OPENAI}, False),
    ],
)
def test_a_worker_uses_an_endpoint_if_it_and_a_model_are_set(settings: dict[str, Any], is_told: bool) -> None:
    expected = {"PGCLARIFY_LLM_PROVIDER": "extractive"} if is_told else {}
    assert worker_environment(Settings(**settings)) == expected


def test_the_pages_that_are_asked_travel_in_the_wheel() -> None:
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {f"docs/{page}": f"pgclarify/_docs/{page}" for page in MANUAL}.items() <= build["force-include"].items()
    assert all((CHECKOUT / "docs" / page).is_file() for page in MANUAL)


def test_a_passage_that_is_left_out_is_shown_where_it_mentions_the_question() -> None:
    content = "## Rental cars, again\n\nNothing new here. Our lobby has leaflets about\nrental cars.\nTake one."
    line = mention("lobby.md", content, 80)
    assert line.plain == '  lobby.md  "Our lobby has leaflets about rental cars."'
    assert mention("lobby.md", content, 30).cell_len == 30
