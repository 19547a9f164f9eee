"""The strata of a case, and their metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pgclarify.evaluated import Case, GoldInterpretation, Summary
from pgclarify.evaluation.case_fields import CaseFields, CaseReader
from pgclarify.evaluation.data_sets import read_data_set
from pgclarify.evaluation.strata import FEWEST_CASES, cases_of_strata, count_cases, in_order, summarize_strata


def read(**record: Any) -> Case:
    return CaseReader(CaseFields.of({})).read({"question": "what?", **record})


@pytest.mark.parametrize(
    ("record", "strata"),
    [
        ({}, ()),
        ({"answers": ["1950", "the year 1950"]}, ("answers=one",)),
        ({"answers": [["1950"], ["1951"]]}, ("answers=one",)),
        ({"answers": [["1950"], [["1950"], ["1951"]]]}, ("answers=several",)),
        ({"interpretations": [{"answer": "x"}, {"answer": "y"}]}, ("answers=several",)),
        ({"interpretations": [{"answer": "x"}, {"question": "who?"}]}, ("answers=one",)),
        ({"interpretations": ["who?", "which?"]}, ()),
        ({"kind": " polysemy ", "hops": 3}, ("kind=polysemy", "hops=3")),
        ({"kind": " ", "hops": 0}, ()),
        ({"decomposition": [{"question": "a"}, {"question": "b"}]}, ("hops=2",)),
    ],
)
def test_strata_of_a_case(record: dict[str, Any], strata: tuple[str, ...]) -> None:
    assert read(**record).strata == strata


@pytest.mark.parametrize(
    "record", [{"hops": "two"}, {"hops": True}, {"hops": -1}, {"hops": 1.5}, {"kind": "x" * 101}, {"kind": ["x"]}]
)
def test_what_is_no_kind_and_no_number_of_hops(record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(record))):
        read(**record)


def test_strata_are_part_of_a_data_set(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"question": "what?", "category": "polysemy"}))
    assert read_data_set(file).hash != read_data_set(file, fields={"kind": "category"}).hash


def test_strata_are_in_order_and_the_whole_is_none() -> None:
    kinds = {place: ("answers=one", f"hops={place % 3 + 9}") for place in range(1, 7)}
    assert cases_of_strata(kinds) == {"hops=9": [3, 6], "hops=10": [1, 4], "hops=11": [2, 5]}
    assert in_order({"hops=10", "kind=b", "hops=2", "answers=one", "kind=a"}) == [
        "answers=one",
        "kind=a",
        "kind=b",
        "hops=2",
        "hops=10",
    ]


def test_of_many_kinds_the_largest_are_kept() -> None:
    kinds = {place: (f"kind={place}",) for place in range(30)} | {99: ("kind=29",), 98: ("answers=one",)}
    kept = cases_of_strata(kinds)
    assert len(kept) == 21
    assert kept["kind=29"] == [29, 99]
    assert kept["answers=one"] == [98]


async def test_each_stratum_is_summarized_over_its_cases() -> None:
    large = {place: {"recall": float(place % 2), "calls": 2.0} for place in range(1, 11)}
    small = {place: {"recall": 1.0, "calls": 4.0} for place in range(11, 11 + FEWEST_CASES - 1)}
    strata = {place: ("hops=2" if place in large else "hops=3",) for place in (*large, *small)}
    found = await summarize_strata(large | small, strata)
    assert list(found) == ["hops=2", "hops=3"]
    recall = found["hops=2"]["recall"]
    assert (recall.value, recall.cases) == (0.5, 10)
    assert recall.low is not None
    assert recall.high is not None
    assert recall.low < 0.5 < recall.high
    assert found["hops=3"]["calls"] == Summary(4.0, None, None, FEWEST_CASES - 1)
    assert count_cases(found["hops=3"]) == FEWEST_CASES - 1


async def test_of_one_label_there_is_accuracy_alone() -> None:
    clear = {place: {"label": 0.0, "predicted": 0.0, "probability": 0.1} for place in range(5)}
    both = {place: {"label": float(place % 2), "predicted": 1.0, "probability": 0.9} for place in range(5, 10)}
    strata = {place: ("kind=none" if place in clear else "kind=some",) for place in range(10)}
    found = await summarize_strata(clear | both, strata)
    assert set(found["kind=none"]) == {"accuracy"}
    assert set(found["kind=some"]) == {"accuracy", "f1", "average_precision"}


def test_a_reading_without_an_answer_makes_no_stratum() -> None:
    assert Case("a", "a?", interpretations=(GoldInterpretation("who?", ()),)).strata == ()
