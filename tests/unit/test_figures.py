"""The page of figures, which is made of what benchmarks have printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.figures import LINES, PAGE, page
from benchmarks.prompts import version_of

CHECKOUT = Path(__file__).parents[2]
PAGES = [CHECKOUT / "README.md", CHECKOUT / "docs/papers.md", *sorted(CHECKOUT.glob("docs/methods/*.md"))]
SMALL_MODEL = re.compile(r"Qwen2\.5-Coder-1\.5B|1\.5 billion parameters")
PROMPTS = re.compile(r"\bprompts?\s((?:`\w+`\s\d+(?:,\s|\sand\s)?)+)")


def row(value: str, **origin: Any) -> dict[str, Any]:
    """A row of the file. origin: what differs from the first run of a command."""
    line = {"date": "2026-11-26", "commit": "abc", "machine": "two cores", "prompts": {}}
    return line | {"command": "python -m benchmarks.x", "table": "", "cells": {"value": value}} | origin


def test_only_the_newest_run_of_a_command_is_shown() -> None:
    other = row("5", command="python -m benchmarks.y")
    written = page([row("1"), row("2"), row("3", commit="def"), row("4", commit="def"), other])

    assert [line for line in written.splitlines() if line[:3] in {f"| {digit}" for digit in "12345"}] == [
        "| 3 |",
        "| 4 |",
        "| 5 |",
    ]
    assert "2026-11-26, commit def, two cores.\n\n| value |\n| --- |\n| 3 |" in written


def test_prompts_are_named() -> None:
    assert "two cores, prompt `verdict` 2." in page([row("1", prompts={"verdict": "2"})])


def test_the_page_shows_the_rows_of_the_file_and_no_figure_of_an_older_prompt() -> None:
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]

    assert PAGE.read_text(encoding="utf-8") == page(lines), "run python -m benchmarks.figures"
    old = {
        line["command"]
        for line in lines
        for purpose, version in line["prompts"].items()
        if version != version_of(purpose)
    }
    assert not old, "measure these again, or take their rows out"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_figure_of_a_language_model_names_prompts_in_use(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = [prompt for found in PROMPTS.finditer(text) for prompt in re.findall(r"`(\w+)`\s(\d+)", found[1])]

    assert [(purpose, version) for purpose, version in named if version != version_of(purpose)] == []
    assert named or not SMALL_MODEL.search(text), "say after the model's name: (prompt `purpose` version)"
