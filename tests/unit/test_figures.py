"""The page of figures, which is made of what benchmarks have printed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.figures import LINES, PAGE, page
from benchmarks.prompts import version_of
from website import recall

CHECKOUT = Path(__file__).parents[2]
PAGES = [CHECKOUT / "README.md", CHECKOUT / "docs/papers.md", *sorted(CHECKOUT.glob("docs/methods/*.md"))]
SMALL_MODEL = re.compile(r"Qwen2\.5-Coder-1\.5B|1\.5 billion parameters")
PROMPTS = re.compile(r"\bprompts?\s((?:`\w+`\s\d+(?:,\s|\sand\s)?)+)")
_NUMBER = r"[-+]?\d*\.?\d+"
# `.72 (.64 to .80)` and `41 of 42 (.93 to 1)`, in the file also `41 of 42, 0.98 (0.93 to 1.00)`
FIGURE = re.compile(
    rf"(?<![\w.])(?:(\d+) of (\d+),?(?= \(|\ {_NUMBER} \()\s?)?({_NUMBER})?\s?\(({_NUMBER}) to ({_NUMBER})\b"
)
# Figures that were measured before the file kept rows, or by scripts that add none. No other may be without a row.
UNRECORDED = {
    "docs/decisions.md": {"0.59 (0.49 to 0.69)", "0.74 (0.62 to 0.85)", "0.07 (0.02 to 0.14)"},
    "docs/methods/ambiguity.md": {
        "0.738 (0.70 to 0.77)", "0.728 (0.69 to 0.77)", "0.680 (0.64 to 0.72)", "0.764 (0.72 to 0.80)",
        "0.331 (0.23 to 0.43)", "0.847 (0.81 to 0.88)", "0.308 (0.18 to 0.43)",
    },
    "docs/methods/consolidation.md": {
        "0.82 (0.62 to 0.98)", "0.61 (0.54 to 0.80)", "0.90 (0.76 to 1.00)", "0.83 (0.77 to 1.00)",
    },
    "docs/methods/evaluation.md": {
        "0.58 (0.40 to 0.74)", "0.47 (0.30 to 0.64)", ".26 (.17 to .34)",
    },
    "docs/methods/extractive.md": {"0.27 (0.18 to 0.35)", "0.17 (0.10 to 0.24)"},
    "docs/methods/investigation.md": {".22 (.14 to .31)", ".09 (.04 to .15)"},
    "docs/methods/neighborhood-aware-retrieval.md": {
        "0.573 (0.535 to 0.611)", "0.648 (0.610 to 0.685)", "0.633 (0.596 to 0.670)", "0.687 (0.648 to 0.725)",
        "+0.053 (0.030 to 0.078)", "0.652 (0.615 to 0.690)", "+0.079 (0.042 to 0.117)", "0.587 (0.549 to 0.625)",
    },
    "docs/methods/rewriting.md": {".127 (.093 to .167)"},
    "docs/papers.md": {
        ".33 (.23 to .43)", ".73 (.69 to .77)", ".14 (.10 to .17)", ".20 (.12 to .29)", ".14 (.08 to .20)",
        "80 of 125 (.56 to .72)", "37 of 60 (.48 to .73)", "76 of 242 (.26 to .37)",
    },
    "docs/tuning.md": {"0.92 (+0.02 to 0.08)", "0.77 (+0.05 to 0.10)"},
}  # fmt: skip


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


def figures(text: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Each figure with an interval: as it is written, and its value and bounds."""
    for found in FIGURE.finditer(" ".join(text.split())):
        part, whole, value, low, high = found.groups()
        if value is None and whole is None:
            continue
        yield found[0] + ")", (value or f"{int(part) / int(whole):.2f}", low, high)


def fits(written: str, recorded: str) -> bool:
    """Whether a number is a recorded one, with as many digits or fewer."""
    shown = len(written.partition(".")[2])
    return math.isclose(float(written), float(recorded), rel_tol=0, abs_tol=0.5 * 10**-shown + 1e-9)


def test_every_figure_with_an_interval_on_a_page_is_in_the_file() -> None:
    recorded = {numbers for _, numbers in figures(LINES.read_text(encoding="utf-8"))}
    checked = 0
    missing: dict[str, set[str]] = {}
    for path in [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]:
        page_name = path.relative_to(CHECKOUT).as_posix()
        for written, numbers in figures(path.read_text(encoding="utf-8")) if path != PAGE else ():
            checked += 1
            if not any(all(map(fits, numbers, known)) for known in recorded):
                missing.setdefault(page_name, set()).add(written)
    unknown = {name: found - UNRECORDED.get(name, set()) for name, found in missing.items()}
    assert {name: found for name, found in unknown.items() if found} == {}
    assert checked > 300


def test_shares_in_the_readme_are_in_the_file() -> None:
    table = (CHECKOUT / "README.md").read_text(encoding="utf-8").partition("| measured |")[2].partition("\n\n")[0]
    shares = re.findall(r"\d+ of \d+", table)
    assert len(shares) > 3
    assert [share for share in shares if share not in LINES.read_text(encoding="utf-8")] == []
