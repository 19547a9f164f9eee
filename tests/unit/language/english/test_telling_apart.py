"""Readings in the same words and with different answers are told apart, or contested."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.english.telling_apart import Apart, Place, are_siblings, tell_apart

ASKED = "What is the population of Clearwater County?"


def place(title: str = "", heading: str = "", content: str = "", quote: str = "") -> Place:
    return Place(title, heading, content, quote)


def told(places: list[Place], *, asked: str = ASKED, answers: list[str] | None = None) -> list[Apart]:
    return tell_apart([asked] * len(places), answers or [str(10 + number) for number in range(len(places))], places)


def test_the_part_of_a_title_that_the_reading_lacks_tells_it_apart() -> None:
    assert told([place("Clearwater County, Idaho"), place("Clearwater County (Alberta)")]) == [
        Apart("What is the population of Clearwater County (Idaho)?"),
        Apart("What is the population of Clearwater County (Alberta)?"),
    ]


ORIGINAL = "The shop in Rood opens at nine. It is owned by Ina Holm, and sells tea and coffee on two floors."


@pytest.mark.parametrize(
    ("copy", "is_contested"),
    [
        # Two answers of one passage.
        (ORIGINAL, False),
        ("The shop in Rood opens at ten. It is owned by Ina Holm, and sells tea and coffee on two floors.", True),
        ("The shop in Vale opens at ten. It is owned by Ina Holm, and sells tea and coffee on two floors.", False),
        ("The shop opens at ten, the café at noon. It sells cakes, bread, jam and much else.", False),
    ],
)
def test_a_copy_of_a_passage_with_another_answer_contests_it(copy: str, is_contested: bool) -> None:
    found = tell_apart(
        ["When does the shop open?", "What are the opening hours?"],
        ["at nine", "at ten"],
        [place(content=ORIGINAL), place(content=copy)],
    )
    assert [bool(one.rivals) for one in found] == [is_contested] * 2


@pytest.mark.parametrize(("heading", "do_contest"), [("Hail on houses", False), ("Hail on cars", True)])
def test_sections_of_one_document_about_two_cases_do_not_contest_each_other(heading: str, *, do_contest: bool) -> None:
    said = "The deductible that you pay for the damage is {}, whatever the number of dents and of claims in a year."
    found = tell_apart(
        ["What is the deductible for hail?"] * 2,
        ["$250", "$900"],
        [
            place("Bulletin", "Hail on cars", said.format("$250"), said.format("$250")),
            place("Bulletin", heading, said.format("$900"), said.format("$900")),
        ],
    )
    assert [bool(one.rivals) for one in found] == [do_contest] * 2


def test_a_heading_tells_apart_what_one_document_says() -> None:
    found = told([place("Counties", "Idaho"), place("Counties", "Alberta")])
    assert [one.interpretation for one in found] == [
        "What is the population of Clearwater County (Idaho)?",
        "What is the population of Clearwater County (Alberta)?",
    ]


def test_without_a_title_a_name_that_contains_the_asked_one_is_taken() -> None:
    asked = "Who recorded the album Holy Smoke?"
    places = [
        place(content="Holy Smoke (Peter Murphy album) Holy Smoke is the fourth album."),
        place(content="The debut was a success.", quote="Gin Wigmore's Holy Smoke came out in 2009."),
    ]
    found = told(places, asked=asked, answers=["Peter Murphy", "Gin Wigmore"])
    assert found[0].interpretation == "Who recorded the album Holy Smoke (Peter Murphy album)?"
    assert not any(one.rivals for one in found)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("Lindvik Harbor Museum The museum of Lindvik is large.", "Lindvik Harbor Museum"),
        (f"{'many words ' * 17}and the Lindvik Harbor Museum.", "Lindvik Harbor Museum"),
        ("The Brigade moved to Lindvik in 2014. The Old Lindvik Museum opened.", "The Old Lindvik Museum"),
    ],
)
def test_a_name_is_whole_and_ends_before_the_next_sentence(content: str, name: str) -> None:
    found = told([place(content=content), place()], asked="When does Lindvik open?")
    assert found[0].interpretation == f"When does Lindvik open ({name})?"


def test_answers_under_one_reading_are_contested() -> None:
    assert told([place("Clearwater County, Idaho"), place("Clearwater County, Idaho")]) == [
        Apart(ASKED, frozenset({1})),
        Apart(ASKED, frozenset({0})),
    ]


def test_a_title_that_some_share_is_told_and_a_heading_tells_these_apart() -> None:
    found = told([place("Idaho", "Census"), place("Idaho", "Estimate"), place("Alberta"), place("Alberta")])
    assert [one.interpretation.removeprefix(ASKED[:-1]) for one in found] == [
        " (Idaho, Census)?",
        " (Idaho, Estimate)?",
        " (Alberta)?",
        " (Alberta)?",
    ]
    assert [bool(one.rivals) for one in found] == [False, False, True, True]


@pytest.mark.parametrize(
    ("titles", "rivals"),
    [
        (["Idaho", "Alberta"], [set(), set()]),
        (["Idaho", "Orofino, Idaho", "Alberta"], [{1}, {0}, set()]),
        (["Idaho", ""], [set(), set()]),
        (["Idaho", "", ""], [set(), {2}, {1}]),
    ],
)
def test_only_readings_that_are_not_told_apart_contest_each_other(titles: list[str], rivals: list[set[int]]) -> None:
    assert [one.rivals for one in told([*map(place, titles)])] == rivals


@pytest.mark.parametrize(
    ("other", "do_contest"),
    [
        ("It has the towns of Orofino and Pierce, and is large.", True),
        ("Orofino is a town of Clearwater County.", True),
        ("Clearwater County, near Red Deer and Sundre, is large.", False),
    ],
)
def test_readings_contest_each_other_only_if_their_passages_share_names(other: str, do_contest: bool) -> None:
    here = place(content="Orofino and Pierce are towns of Clearwater County.")
    found = told([here, place(content=other)])
    assert [bool(one.rivals) for one in found] == [do_contest] * 2


def test_what_was_in_another_year_contests_nothing() -> None:
    quotes = ("It had 8,734 people in 2010.", "In 2020, it had 8,761 people.")
    answers = ["8,734", "8,761"]
    assert not any(one.rivals for one in told([place(quote=one) for one in quotes], answers=answers))
    assert all(one.rivals for one in told([place(quote=quotes[0]), place(quote=quotes[0])], answers=answers))


def test_readings_with_one_answer_are_not_contested() -> None:
    assert not any(one.rivals for one in told([place("Idaho"), place("")], answers=["10", "10"]))


def test_documents_that_disagree_on_a_birthday_speak_of_one_person() -> None:
    born = ("July 15, 1875", "19 February 1873")
    found = told(
        [place(content=f"Harland Howe ({one} \u2013 April 22, 1946) was a judge.") for one in born],
        asked="When was Judge Howe born?",
        answers=[*born],
    )
    assert all(one.rivals for one in found)


def test_a_date_that_is_the_answer_does_not_tell_apart() -> None:
    found = told(
        [place("Frederick Groves (born 1891)"), place("Frederick Groves (footballer)")],
        asked="When was Frederick Groves born?",
        answers=["1891", "1892"],
    )
    assert [one.interpretation for one in found] == [
        "When was Frederick Groves born?",
        "When was Frederick Groves born (footballer)?",
    ]


def test_a_reading_of_one_of_several_siblings_names_its_document() -> None:
    places = [place("Berlin office guide"), place("Lisbon office guide"), place("Glossary")]
    found = tell_apart(
        ["How much is parking in the garage?", "parking spaces in Lisbon", "parking"],
        ["free", "free", "for cars"],
        places,
    )
    assert [one.interpretation for one in found] == [
        "How much is parking in the garage (Berlin office guide)?",
        "parking spaces in Lisbon",
        "parking",
    ]


@pytest.mark.parametrize(
    ("one", "other", "are_they"),
    [
        ("Leave policy 2024", "Leave policy 2025", True),
        ("Berlin office guide", "New York office guide", True),
        ("Model A", "Model B", True),
        ("Leave policy", "Leave policy 2025", False),
        ("Parking in 2024", "Lunch in 2024", False),
        ("Berlin", "Lisbon", False),
        ("", "", False),
    ],
)
def test_titles_of_siblings_share_most_words(one: str, other: str, are_they: bool) -> None:
    assert are_siblings(one, other) is are_siblings(other, one) is are_they


def test_readings_in_other_words_or_with_the_same_answer_stay() -> None:
    places = [place("Idaho"), place("Alberta")]
    assert tell_apart([ASKED, "Where is it?"], ["8,734", "In Idaho"], places) == [
        Apart(ASKED),
        Apart("Where is it?"),
    ]
    assert [one.interpretation for one in told(places, answers=["8,734", "8,734"])] == [ASKED, ASKED]


words = st.sampled_from(["Idaho", "Alberta", "County", "(north)", "2024", "1, 2", "Ünal", "a-b", "\n", "?"])
texts = st.lists(words, max_size=4).map(" ".join)


@given(st.lists(st.tuples(texts, texts, st.builds(Place, texts, texts, texts, texts)), max_size=5))
def test_each_reading_keeps_its_words(readings: list[tuple[str, str, Place]]) -> None:
    asked = [one for one, _, _ in readings]
    found = tell_apart(asked, [answer for _, answer, _ in readings], [one for _, _, one in readings])
    assert len(found) == len(readings)
    for before, after in zip(asked, found, strict=True):
        assert after.interpretation.startswith(before.removesuffix("?").rstrip().removesuffix(")"))
