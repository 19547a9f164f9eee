"""Which readings of a case are new, gone, kept, or have another answer."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pgclarify.evaluation.changes import Change, is_known, known_answers, reading_changes, readings
from tests.evaluated_cases import evaluated_case, reading


def told(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[tuple[Change, str | None, str | None]]:
    return [
        (
            change.change,
            change.first["interpretation"] if change.first else None,
            change.second["interpretation"] if change.second else None,
        )
        for change in reading_changes(first, second)
    ]


def test_each_kind() -> None:
    first = [reading("Who pays?", "we do"), reading("How long?", "30 days"), reading("How much?", "$45")]
    second = [reading("How much is it?", "$45"), reading("Where?", "Canada"), reading("How long?", "two weeks")]
    assert told(first, second) == [
        (Change.GONE, "Who pays?", None),
        (Change.NEW, None, "Where?"),
        (Change.ANSWERED_OTHERWISE, "How long?", "How long?"),
        (Change.KEPT, "How much?", "How much is it?"),
    ]


def test_an_equal_reading_goes_before_one_of_the_same_answer() -> None:
    first = [reading("In which year did it open?", "1973"), reading("When was it closed?", "1973")]
    second = [reading("When was it closed?", "1973.")]
    assert told(first, second) == [
        (Change.GONE, "In which year did it open?", None),
        (Change.KEPT, "When was it closed?", "When was it closed?"),
    ]


def test_readings_without_an_answer_are_compared_by_their_question() -> None:
    first = [reading("Who pays?", None), reading("How long?", None)]
    assert told(first, [reading("Who pays", None)]) == [
        (Change.GONE, "How long?", None),
        (Change.KEPT, "Who pays?", "Who pays"),
    ]


def test_readings_with_the_same_known_answer_are_one() -> None:
    first = [reading("How much?", "$45 a day"), reading("How long?", "30 days")]
    second = [reading("How long is it?", "for a month"), reading("What does it pay?", "up to $45 a day")]
    assert [change.change for change in reading_changes(first, second)] == [
        Change.GONE, Change.GONE, Change.NEW, Change.NEW
    ]  # fmt: skip
    changes = reading_changes(first, second, [["60 days"], ["$45", "45 dollars"]])
    assert [(change.change, (change.second or change.first or {})["interpretation"]) for change in changes] == [
        (Change.GONE, "How long?"),
        (Change.NEW, "How long is it?"),
        (Change.KEPT, "What does it pay?"),
    ]


def test_of_each_kind_known_answers_come_first() -> None:
    first = [reading("Who?", "us"), reading("When?", "1973")]
    second = [reading("Where?", "here"), reading("How much?", "$45")]
    changes = reading_changes(first, second, [["1973"], ["$45"]])
    assert [(change.second or change.first or {})["answer"] for change in changes] == ["1973", "us", "$45", "here"]


def test_an_answer_that_is_lost_is_no_kept_reading() -> None:
    assert told([reading("Who pays?", "we do")], [reading("Who pays?", None)]) == [
        (Change.ANSWERED_OTHERWISE, "Who pays?", "Who pays?")
    ]


QUESTIONS = st.sampled_from(["Who?", "who", "When?", "the When", "!!", ""])
ANSWERS = st.sampled_from([None, "", "a", "the B", "b", "1973"])
READINGS = st.lists(st.builds(reading, QUESTIONS, ANSWERS), max_size=6)


@given(READINGS, READINGS)
def test_every_reading_is_in_one_change(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    changes = reading_changes(first, second)
    for side, all_of_it in (("first", first), ("second", second)):
        places = [id(one) for one in (getattr(change, side) for change in changes) if one is not None]
        assert sorted(places) == sorted(map(id, all_of_it))


@given(READINGS)
def test_what_is_the_same_is_kept(given_readings: list[dict[str, Any]]) -> None:
    assert {change.change for change in reading_changes(given_readings, list(given_readings))} <= {Change.KEPT}


def test_a_failed_case_gave_nothing() -> None:
    given_readings = [reading("Who pays?", "we do")]
    assert readings(evaluated_case("a", given_readings)) == given_readings
    assert readings(evaluated_case("a", given_readings, error="no worker")) == ()


def test_known_answers_are_those_of_the_readings_else_those_of_people() -> None:
    stated = {"interpretations": [{"interpretation": "Who?", "answers": ["us", "we"]}], "answer_sets": [[["them"]]]}
    assert known_answers(stated) == [["us", "we"]]
    assert known_answers({"interpretations": [], "answer_sets": [[["1950"]], [["1950"], ["1951"]]]}) == [
        ["1950"],
        ["1951"],
    ]
    unanswered = [{"interpretation": "Who?", "answers": []}]
    assert known_answers({"interpretations": unanswered, "answer_sets": [[["1950"]]]}) == [["1950"]]
    assert known_answers({}) == []


def test_an_answer_is_known_word_for_word() -> None:
    assert is_known(reading("When?", "in the year 1973"), [["1973"]])
    assert not is_known(reading("When?", "19730"), [["1973"]])
    assert not is_known(reading("When?", None), [["1973"]])
