"""Readings that contest each other: the newest first, and older ones hidden."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.data.documents import Passage
from pgclarify.data.interpretations import Interpretation
from pgclarify.data.verdicts import Refusal
from pgclarify.operations.clarification import interpretations
from pgclarify.operations.clarification.contested import Contender, newest_first, without_older
from pgclarify.operations.clarification.interpretations import Grounded
from tests.fakes import FakeStore

ASKED = "What is the deductible?"


def readings(years: str, *pairs: tuple[int, int]) -> list[Contender]:
    """Readings whose documents are of these years, "-" for an unknown one; pairs contest each other."""
    rivals = {*pairs, *((other, one) for one, other in pairs)}
    return [
        Contender(
            Interpretation(f"reading {place}", year, 1, 1.0, bool(rivals), ()),
            place,
            frozenset(other for one, other in rivals if one == place),
            None if year == "-" else datetime(2020 + int(year), 1, 1, tzinfo=UTC),
        )
        for place, year in enumerate(years)
    ]


def years(found: list[Contender]) -> str:
    return "".join(one.interpretation.answer for one in found)


@pytest.mark.parametrize(
    ("given", "pairs", "expected"),
    [
        ("123", [], "123"),
        ("123", [(0, 2)], "321"),
        ("1-2", [(0, 1), (1, 2)], "21-"),
        ("-12", [(0, 1)], "1-2"),
        ("91523", [(1, 2), (3, 4)], "95132"),
        # The first and the last do not contest each other, and both contest the second.
        ("123", [(0, 1), (1, 2)], "321"),
        ("--1", [(0, 1)], "--1"),
    ],
)
def test_the_newest_of_a_group_takes_its_first_place(given: str, pairs: list[tuple[int, int]], expected: str) -> None:
    assert years(newest_first(readings(given, *pairs))) == expected


@pytest.mark.parametrize(
    ("given", "pairs", "expected", "hidden"),
    [
        ("321", [], "321", [0, 0, 0]),
        ("321", [(0, 1), (0, 2), (1, 2)], "3", [2]),
        ("3-1", [(0, 1), (0, 2), (1, 2)], "3-", [1, 1]),
        ("33", [(0, 1)], "33", [0, 0]),
        ("--", [(0, 1)], "--", [0, 0]),
        # Two newer ones that do not contest each other.
        ("213", [(0, 1), (1, 2)], "23", [1, 1]),
        # Each hides the one before, which is hidden itself.
        ("123", [(0, 1), (1, 2)], "3", [2]),
        ("2143", [(0, 1), (2, 3)], "24", [1, 1]),
    ],
)
def test_what_a_newer_reading_contests_is_hidden_and_counted(
    given: str, pairs: list[tuple[int, int]], expected: str, hidden: list[int]
) -> None:
    found = without_older(readings(given, *pairs))
    assert (years(found), [one.interpretation.older_hidden for one in found]) == (expected, hidden)


def test_a_reading_that_a_check_doubts_neither_goes_before_others_nor_hides_them() -> None:
    older, *newer = readings("123", (0, 1), (0, 2), (1, 2))
    doubted = [
        replace(one, interpretation=replace(one.interpretation, doubt=Refusal.BESIDE_THE_POINT)) for one in newer
    ]
    assert years(newest_first([older, *doubted])) == "132"
    # Those that are doubted hide one another, and a newer one that is not hides them.
    assert years(without_older([older, *doubted])) == "13"
    assert years(without_older([newer[1], doubted[0]])) == "3"


@given(
    st.lists(st.sampled_from("123-"), max_size=8).map("".join),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=8),
    st.data(),
)
def test_no_reading_is_lost_and_others_keep_their_places(
    given: str, pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    # A rival may have been left out before.
    whole = readings(given, *((one, other) for one, other in pairs if one != other and max(one, other) < len(given)))
    some = [one for one in whole if data.draw(st.booleans())]
    ordered = newest_first(some)
    assert sorted(one.place for one in ordered) == [one.place for one in some]
    present = {one.place for one in some}
    assert all(now is before for now, before in zip(ordered, some, strict=True) if not before.rivals & present)
    kept = without_older(ordered)
    assert bool(kept) == bool(some)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [("$600", None), ("$500", None), ("free", None)]),
        ({"prefer": "newest"}, [("$600", 1), ("free", 0)]),
        # Readings of a single document are dropped first.
        ({"prefer": "newest", "singletons": "drop"}, [("$500", 0)]),
    ],
)
async def test_a_run_shows_the_newest_answer_first(settings: dict[str, Any], expected: list[tuple[str, int]]) -> None:
    said = [("$500", 2024, 0), ("$600", 2026, 1), ("$500", 2023, 0)]
    grounded = [
        Grounded(
            Passage(f"d{rank}", rank, "", dated=datetime(year, 1, 1, tzinfo=UTC)), rank, ASKED, answer, answer, 0, 4
        )
        for rank, (answer, year, _) in enumerate(said, start=1)
    ]
    grounded.append(Grounded(Passage("d4", 4, ""), 4, "What is parking?", "free", "free", 0, 4))
    vectors = np.eye(3, dtype=np.float32)[[*(place for _, _, place in said), 2]]
    found = await interpretations.interpret(FakeStore().add_run(settings=settings), grounded, vectors)
    assert [(one.answer, one.older_hidden) for one in found if one.is_shown] == expected


async def test_a_newer_reading_that_hardly_answers_does_not_hide_an_older_one() -> None:
    said = [("$500", 2024, 0.9), ("$600", 2026, 0.3)]
    grounded = [
        Grounded(
            Passage(f"d{rank}", rank, "", dated=datetime(year, 1, 1, tzinfo=UTC)), rank, ASKED, answer, answer, 0, 4, p
        )
        for rank, (answer, year, p) in enumerate(said, start=1)
    ]
    run = FakeStore().add_run("deductible", settings={"prefer": "newest"})
    found = await interpretations.interpret(run, grounded, np.eye(2, dtype=np.float32))
    assert [(one.answer, one.older_hidden) for one in found if one.is_shown] == [("$500", 0)]
