"""The demo's text about itself."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pgclarify.cli.demo import MANUAL, judges, mention, worker_environment
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


@pytest.mark.parametrize(
    ("models", "settings", "said"),
    [
        ([], {}, ["without a language model"]),
        ([], KEY, ["without a language model", "no PGCLARIFY_LLM_MODEL"]),
        ([], {**KEY, "llm_model": "small"}, ["without a language model", "was running before"]),
        (["large", "small"], KEY, ["large, small"]),
    ],
)
def test_the_demo_says_which_models_judge_without_the_key(
    models: list[str], settings: dict[str, Any], said: list[str]
) -> None:
    lines = judges(models, Settings(**settings))
    assert len(lines) == len(said)
    assert all(part in line for part, line in zip(said, lines, strict=True))
    assert "sk-1" not in "".join(lines)


def test_the_pages_that_are_asked_travel_in_the_wheel() -> None:
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {f"docs/{page}": f"pgclarify/_docs/{page}" for page in MANUAL}.items() <= build["force-include"].items()
    assert all((CHECKOUT / "docs" / page).is_file() for page in MANUAL)


def test_a_passage_that_is_left_out_is_shown_where_it_mentions_the_question() -> None:
    content = "## Rental cars, again\n\nNothing new here. Our lobby has leaflets about\nrental cars.\nTake one."
    line = mention("lobby.md", content, 80)
    assert line.plain == '  lobby.md  "Our lobby has leaflets about rental cars."'
    assert mention("lobby.md", content, 30).cell_len == 30


def test_a_passage_that_says_it_in_its_heading_only_is_shown_from_its_beginning() -> None:
    assert mention("a.md", "## Rental cars\n\nCome in. We are open.", 80).plain == '  a.md  "Come in."'
    assert mention("a.md", "## Rental cars", 80).plain == '  a.md  ""'
    assert "\x1b" not in mention("a.md", "\x1b[31mrental cars.", 80).plain
