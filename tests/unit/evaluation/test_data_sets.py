"""Data sets: which lines are cases, and which cases are asked."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pgclarify.errors import InputError, UnreadableFile
from pgclarify.evaluation.data_sets import read_data_set
from tests.pages import CHECKOUT, blocks


def write(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "ours.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_all_parts_of_a_case_are_read(tmp_path: Path) -> None:
    line = {
        "id": 7,
        "question": " rental cars ",
        "interpretations": [{"question": "How long?", "answers": ["30 days", "a month"], "documents": ["4"]}, "Who?"],
        "wrong_answers": ["31 days"],
        "gold": ["1"],
        "is_ambiguous": 1,
        "history": ["Hello"],
        "color": "red",
    }
    found = read_data_set(write(tmp_path, line))
    (case,) = found.cases
    assert (case.case_id, case.question, case.is_ambiguous, case.history) == ("7", "rental cars", True, ("Hello",))
    assert case.known_answers == [[("30 days", "a month")]]
    assert case.relevant_documents == {"1", "4"}
    assert case.wrong_answers == ("31 days",)
    assert (found.name, found.total, found.unknown_fields) == ("ours", 1, ("color",))


@pytest.mark.parametrize(
    ("answers", "known"),
    [
        ("a", [[("a",)]]),
        (["a", "b"], [[("a", "b")]]),
        ([["a"], ["b", "c"]], [[("a",)], [("b", "c")]]),
        ([[["a"], ["b"]]], [[("a",), ("b",)]]),
    ],
)
def test_answers_are_spellings_or_of_several_people(tmp_path: Path, answers: object, known: object) -> None:
    (case,) = read_data_set(write(tmp_path, {"question": "Who?", "answers": answers})).cases
    assert case.known_answers == known


@pytest.mark.parametrize(
    "line",
    [{}, {"question": " "}, {"question": 1.5, "history": {}}, {"question": "a", "is_ambiguous": "maybe"},
     {"question": "a\0"}, {"question": "a", "interpretations": [{}]}, {"question": "x" * 10_001}],
)  # fmt: skip
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        read_data_set(write(tmp_path, {"question": "fine"}, line))
    assert "line 2" in caught.value.message


@pytest.mark.parametrize("line", ["Who?", "[1]", "[" * 100_000, '"Who?"'])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"question": "fine"}\n' + line)
    with pytest.raises(InputError) as caught:
        read_data_set(path)
    assert "line 2" in caught.value.message


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"question": "Who?"}\n' * 100)[:-20])
    with pytest.raises((UnreadableFile, InputError)):
        read_data_set(path)
    with pytest.raises(UnreadableFile):
        read_data_set(tmp_path / "none.jsonl")


def test_parts_have_no_question_in_common_and_small_choices_grow(tmp_path: Path) -> None:
    path = write(tmp_path, *({"question": f"question {number}"} for number in range(100)))
    parts = [{case.case_id for case in read_data_set(path, part=f"{k}/2").cases} for k in (1, 2)]
    assert parts[0].isdisjoint(parts[1])
    assert len(parts[0] | parts[1]) == 100
    few, more = ({case.case_id for case in read_data_set(path, cases=n).cases} for n in (10, 30))
    assert few < more
    assert read_data_set(path, cases=10).hash != read_data_set(path, cases=30).hash


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "a/b"])
def test_a_part_that_does_not_exist_is_refused(tmp_path: Path, part: str) -> None:
    with pytest.raises(InputError):
        read_data_set(write(tmp_path, {"question": "Who?"}), part=part)


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    (block,) = blocks(CHECKOUT / "docs" / "evaluation.md", "json")
    found = read_data_set(write(tmp_path, *map(json.loads, block.code.splitlines())))
    assert found.unknown_fields == ()
    assert {case.case_id for case in found.cases} == {"cars-1", "cars-2", "cars-3"}
