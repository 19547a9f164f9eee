"""The examples in docs/evaluation.md are valid: its data set, its configuration, its table of intervals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgclarify.algorithms.metrics import bootstrap_interval
from pgclarify.evaluation.case_fields import CaseFields
from pgclarify.evaluation.configurations import METHODS, read_configurations
from pgclarify.evaluation.data_sets import read_data_set
from tests.pages import CHECKOUT, blocks, tables

PAGE = CHECKOUT / "docs" / "evaluation.md"


def written(folder: Path, language: str, name: str) -> Path:
    (block,) = blocks(PAGE, language)
    file = folder / name
    file.write_text(block.code)
    return file


def test_its_data_set(tmp_path: Path) -> None:
    read = read_data_set(written(tmp_path, "json", "questions.jsonl"))

    readings, answer, follow_up = read.cases
    assert (read.name, read.total) == ("questions", 3)
    assert [one.answers for one in readings.interpretations] == [
        ("$45 a day", "45 dollars a day"),
        ("30 days", "thirty days"),
    ]
    assert readings.document_ids == ("endorsement.md",)
    assert answer.answer_sets == ((("Cobalt Car Hire", "Cobalt"),),)
    assert answer.document_ids == ("repair-network.md",)
    assert (follow_up.history, follow_up.is_ambiguous) == (("Who may drive?", "His daughter."), True)


def test_its_fields_are_those_that_are_read() -> None:
    known = CaseFields.of({}).names
    told = [set(re.findall(r"\w+", row[0])) - {"or"} for row in tables(PAGE, "field")["Data sets"]]
    assert {frozenset(names) for names in told} == {frozenset(names) for names in known.values()}


def test_its_configuration(tmp_path: Path) -> None:
    (one,) = read_configurations([written(tmp_path, "toml", "wide.toml")], [])
    assert (one.name, one.method) == ("wide", "clarify")
    assert one.settings == {"top_k": 30, "consolidation": "conservative"}


def test_its_methods_are_all_that_there_are() -> None:
    told = [name.strip("` ") for row in tables(PAGE, "method")["Running"] for name in row[0].split(",")]
    assert sorted(told) == sorted(METHODS)


@pytest.mark.parametrize("row", tables(PAGE, "questions")["Reading an interval"], ids=lambda row: str(row[0]))
def test_intervals_reach_as_far_as_it_says(row: list[str]) -> None:
    count = int(row[0].replace(",", ""))
    low, high = bootstrap_interval([0.0, 1.0] * (count // 2), samples=4_000)
    assert (high - low) / 2 == pytest.approx(float(row[1]), rel=0.15)
