"""The output of graph check."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from pgclarify.cli import graph

CLEAN: dict[str, Any] = {
    "passages": 1000,
    "linked": 990,
    "unlinked": 10,
    "pending": 10,
    "self_edges": 0,
    "dangling": 0,
    "orphans": 0,
    "gaps": 3,
    "unordered": 0,
    "sampled": 200,
    "recall": 0.98765,
}


def test_what_waits_and_what_is_short_is_no_fault() -> None:
    assert graph.faults(CLEAN) == []


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ({"self_edges": 1}, "neighbors of themselves"),
        ({"dangling": 1234}, "1,234 edges"),
        ({"orphans": 3}, "3 vectors"),
        ({"unordered": 2}, "2 lists"),
        ({"recall": 0.85}, "0.850, and should be 0.9"),
        ({"recall": 0.0}, "0.000"),
        ({"pending": 0}, "10 passages have no list"),
    ],
)
def test_a_fault_is_one_sentence(harm: dict[str, Any], words: str) -> None:
    (sentence,) = graph.faults(CLEAN | harm)

    assert words in sentence


def test_all_faults_are_told() -> None:
    assert len(graph.faults(CLEAN | {"self_edges": 1, "dangling": 1, "unordered": 1, "recall": 0.1, "pending": 0})) == 5


def test_without_a_sample_recall_is_unknown() -> None:
    assert graph.faults(CLEAN | {"sampled": 0, "recall": None}) == []


def test_every_column_is_shown() -> None:
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(graph.checked(CLEAN | {"gaps": None}))

    lines = [line.split() for line in capture.get().splitlines()]
    assert [line[:2] for line in lines] == [
        ["passages", "1,000"],
        ["linked", "990"],
        ["unlinked", "10"],
        ["pending", "10"],
        ["self-edges", "0"],
        ["dangling", "0"],
        ["orphans", "0"],
        ["gaps", "-"],
        ["unordered", "0"],
        ["sampled", "200"],
        ["recall", "0.9877"],
    ]
