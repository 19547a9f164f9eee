"""The page of figures, which is made of what benchmarks have printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.figures import LINES, PAGE, page
from benchmarks.prompts import version_of
from website import recall

CHECKOUT = Path(__file__).parents[2]
PAGES = [CHECKOUT / "README.md", CHECKOUT / "docs/papers.md", *sorted(CHECKOUT.glob("docs/methods/*.md"))]
SMALL_MODEL = re.compile(r"Qwen2\.5-Coder-1\.5B|1\.5 billion parameters")
PROMPTS = re.compile(r"\bprompts?\s((?:`\w+`\s\d+(?:,\s|\sand\s)?)+)")


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


def test_the_picture_of_recall_shows_the_newest_figures() -> None:
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]

    assert recall.PICTURE.read_text(encoding="utf-8") == recall.drawn(lines), "run python -m website.recall"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_figure_of_a_language_model_names_prompts_in_use(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = [prompt for found in PROMPTS.finditer(text) for prompt in re.findall(r"`(\w+)`\s(\d+)", found[1])]

    assert [(purpose, version) for purpose, version in named if version != version_of(purpose)] == []
    assert named or not SMALL_MODEL.search(text), "say after the model's name: (prompt `purpose` version)"
