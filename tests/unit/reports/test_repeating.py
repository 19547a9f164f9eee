"""The command that repeats an evaluation."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from typer.core import TyperGroup

from pgclarify.cli.deferred import DeferredCommand
from pgclarify.cli.main import all_commands
from pgclarify.evaluated import EvaluationPlan
from pgclarify.evaluation.configurations import read_configurations
from pgclarify.reports.repeating import repeat
from tests.evaluated_cases import PLAN


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        replace(PLAN, method="dtv", settings={}, name="it's"),
        replace(PLAN, settings={"top_k": 20, "retrieval": "adaptive", "ask_back": True}, corpus_name="a; rm -rf $HOME"),
        replace(PLAN, settings={"reranker": "one,two"}),
        replace(PLAN, settings={"reranker": "20"}),
        replace(PLAN, settings={"reranker": ""}),
        # Characters that TOML needs escaped, or that JSON escapes in another way.
        replace(
            PLAN,
            settings={
                "reranker": 'a\x7f,\x00\x85\u202e\u2028"\\\n\t\U0001f600\U000e0001',
                "exact": True,
                "share": 1e-7,
            },
        ),
    ],
)
def test_the_command_makes_the_same_again(plan: EvaluationPlan, tmp_path: Path) -> None:
    again = repeat(plan)
    words = shlex.split(again.command)
    if plan.method == "dtv":
        assert words.pop(0) == "PGCLARIFY_LLM_MODEL=small"
    assert words[:4] == ["pgclarify", "eval", "run", "rental.jsonl.jsonl"]
    if again.file is not None:
        assert tomllib.loads(again.file)["options"] == plan.settings
        (tmp_path / "configuration.toml").write_text(again.file)
        words[words.index("configuration.toml")] = str(tmp_path / "configuration.toml")
    (tmp_path / "rental.jsonl").write_text("")
    words[3] = str(tmp_path / "rental.jsonl")
    group = all_commands().commands["eval"]
    assert isinstance(group, DeferredCommand)
    inner = group.command
    assert isinstance(inner, TyperGroup)
    given = inner.commands["run"].make_context("run", words[3:]).params
    assert (given["corpus"], given["name"], given["judge"]) == (plan.corpus_name, plan.name, plan.judge)
    (one,) = read_configurations(given["config"] or [], given["grid"] or [], method=given["method"])
    assert (one.method, dict(one.settings)) == (plan.method, dict(plan.settings))


def test_a_setting_without_a_value_is_left_out() -> None:
    again = repeat(replace(PLAN, settings={"top_k": 20, "budget": None}))
    assert again.command.endswith("--set top_k=20")
    filed = repeat(replace(PLAN, settings={"reranker": "20", "budget": None}))
    assert filed.file is not None
    assert tomllib.loads(filed.file)["options"] == {"reranker": "20"}


def test_the_model_that_judges_is_named() -> None:
    plain = repeat(PLAN).command
    assert plain.startswith("pgclarify eval run")
    judged = repeat(replace(PLAN, judge="large; model")).command
    assert judged == f"PGCLARIFY_LLM_MODEL='large; model' {plain.replace('lexical', 'model')}"
    both = repeat(replace(PLAN, judge="lexical+large; model")).command
    assert both == f"PGCLARIFY_LLM_MODEL='large; model' {plain.replace('lexical', 'both')}"


def test_a_baseline_asks_the_model_of_the_workers() -> None:
    assert repeat(replace(PLAN, method="rac", settings={})).command.startswith("PGCLARIFY_LLM_MODEL=small pgclarify ")
    assert repeat(replace(PLAN, method="human", settings={})).command.startswith("pgclarify ")
