"""Which quotes are nearly the words of a passage: near ones are found there, and changed facts never."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.english.near_quotes import find_near
from pgclarify.language.sentences import split_sentences

POOL = (
    "The outdoor pool of Lindvik opens every morning at 9 am from June, and guests of the hotel swim there for free. "
    "The sauna (built in 1981, and painted red) costs guests 12 euros for two hours on each weekday evening. "
    "Not all members of the swimming club may bring their dogs into the garden of the cafe. The kiosk beside the gate "
    "sells coffee, cake and sunscreen. Swimmers leave valuable things in lockers near the northern entrance. "
    "Ten large boats are moored at -20 degrees, and a share of $45 belongs to millions of members of the old club."
)
LOWER = "the painter anna holm lived in the old town of ortval and painted boats in the northern harbor."


def near(quote: str, *, answer: str = "", content: str = POOL) -> str | None:
    span = find_near(quote, answer, content, split_sentences(content))
    return None if span is None else content[slice(*span)]


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        # A word is left out, put in, exchanged, swapped or inflected, and small words differ.
        ("The kiosk beside the gate sells coffee and cake, sunscreen",
         "The kiosk beside the gate sells coffee, cake and sunscreen"),
        ("The small kiosk beside the gate sells coffee, cake and sunscreen",
         "The kiosk beside the gate sells coffee, cake and sunscreen"),
        ("Swimmers put valuable things in lockers near the northern entrance.",
         "Swimmers leave valuable things in lockers near the northern entrance"),
        ("Swimmers leave things valuable in lockers near the northern entrance.",
         "Swimmers leave valuable things in lockers near the northern entrance"),
        ("swimmers left valuable things in the locker near a northern entrance",
         "Swimmers leave valuable things in lockers near the northern entrance"),
        ("The kiosk beside the gate sells coffee, cake and newspapers",
         "The kiosk beside the gate sells coffee, cake and sunscreen"),
        # Only a part of the sentence is quoted.
        ("and a guest of our hotel swims there for free", "guests of the hotel swim there for free"),
        ("The outdoor pool of Lindvik is opening every morning at 9 am from June",
         "The outdoor pool of Lindvik opens every morning at 9 am from June"),
        ("Not all members of a swimming club may bring dogs into the garden of the cafe",
         "Not all members of the swimming club may bring their dogs into the garden of the cafe"),
        ("ten big boats are moored at -20 degrees, and a share of $45 belongs to millions of members",
         "Ten large boats are moored at -20 degrees, and a share of $45 belongs to millions of members"),
        # Marks that nobody sees, and a number that is written in another way.
        ("Swimmers leave valuable things in the lock\u00aders near a northern entrance",
         "Swimmers leave valuable things in lockers near the northern entrance"),
        ("The sauna costs the guests 12 euros for 2 hours on each weekday evening",
         "The sauna (built in 1981, and painted red) costs guests 12 euros for two hours on each weekday evening"),
        # Two sentences.
        ("kiosk beside the gate sells coffee, cakes, sunscreen. Swimmers leave valuable things in lockers",
         "kiosk beside the gate sells coffee, cake and sunscreen. Swimmers leave valuable things in lockers"),
    ],
)  # fmt: skip
def test_a_near_quote_is_found_as_the_passage_has_it(quote: str, found: str) -> None:
    assert near(quote) == found


@pytest.mark.parametrize(
    "quote",
    [
        # A number, a date or a unit.
        "The outdoor pool of Lindvik is opening every morning at 10 am from June",
        "The outdoor pool of Lindvik is opening every morning at 9 pm from June",
        "The outdoor pool of Lindvik is opening every morning at 9 am from July",
        "The sauna costs our guests 13 euros for two hours on each weekday evening",
        "The sauna costs our guests 12 dollars for two hours on each weekday evening",
        "The sauna costs our guests 12 euros for two days on each weekday evening",
        "The sauna costs our guests 12 euros for hours on each weekday evening",
        "ten of the large boats are moored at 20 degrees, and a share of $45 belongs to millions of members",
        "ten of the large boats are moored at -20 degrees, and a share of €45 belongs to millions of members",
        "ten of the large boats are moored at -20 degrees, and a share of $45 belongs to billions of members",
        "twelve of the large boats are moored at -20 degrees, and a share of $45 belongs to millions of members",
        "ten of the large boats are moored at degrees, and a share of $45 belongs to millions of members",
        # A name.
        "The outdoor pool of Ortval is opening every morning at 9 am from June",
        "The outdoor Jon Berg pool of Lindvik is opening every morning at 9 am from June",
        "The outdoor pool is opening every morning at 9 am from June",
        "The outdoor pool of Lindviks is opening every morning at 9 am from June",
        # A negation, an exception or a limit is lost, put in, moved, or stands before the part.
        "The members of a swimming club may not bring all their dogs into the garden of the cafe",
        "All of the members of the swimming club may bring dogs into the garden of a cafe",
        "The members of a swimming club may bring their dogs into the garden of the cafe",
        "Not all members of a swimming club must bring their dogs into the garden of the cafe",
        "The kiosk beside the gate never sells coffee, cake and sunscreen",
        "The kiosk beside the gate sells only coffee, cake and sunscreen",
        "The kiosk beside a gate cannot sell coffee, cake and sunscreen",
        # The opposite.
        "Swimmers leave invaluable things in the lockers near the northern entrance",
        "The indoor pool of Lindvik is opening every morning at 9 am from June",
        "The outdoor pool of Lindvik is closing every morning at 9 am from June",
        # The order is another.
        "Entrance northern swimmers near lockers things valuable leave",
        # Too many other words, or too few words.
        "The manager says that every swimmer leaves his bags in lockers near the entrance",
        "sells the coffee",
        "The winter is long.",
        "",
    ],
)
def test_a_quote_with_another_fact_is_not_near(quote: str) -> None:
    assert near(quote) is None


def test_a_lost_negation_elsewhere_in_the_sentence_counts() -> None:
    text = "No cars, vans or heavy trucks are parked beside the old harbor wall. The gate is open."
    assert near("vans or heavy trucks are parked beside an old harbor wall", content=text) is None
    assert near("No cars, vans or heavy trucks are parked beside an old harbor wall", content=text) is not None


def test_a_negation_of_the_sentence_before_does_not_count() -> None:
    text = "Guests never smoke there. Swimmers smoke cigars beside the northern entrance every day."
    assert near("Swimmers never smoke cigars beside a northern entrance every day.", content=text) is None


@pytest.mark.parametrize("answer", ["northern entrance", "entrance"])
def test_what_the_answer_says_must_not_be_a_changed_word(answer: str) -> None:
    quote = "Swimmers put valuable things in lockers near the northern entrance"
    assert near(quote, answer=answer) is not None
    assert near(quote, answer=f"put at the {answer}") is None


def test_the_answer_is_not_part_of_a_longer_noun_or_of_a_possessive() -> None:
    text = "Ida Holm's teacher painted the old harbor and the long pier of Lindvik in oil."
    quote = "Ida Holm painted the old harbor and the long pier of Lindvik in oil."
    assert near(quote, answer="Ida Holm", content=text) is None
    text = "The museum director opened the new hall beside the harbor with a long speech and some music."
    quote = "The museum opened the new hall beside the harbor with a long speech and some music."
    assert near(quote, answer="the museum", content=text) is None
    assert near(quote, answer="the new hall", content=text) is not None


def test_without_capitals_any_word_may_be_a_name() -> None:
    quote = "the painter anna holm lived in an old town of ortval and painted boats in a northern harbor"
    assert near(quote, content=LOWER) is not None
    assert near(quote.replace("ortval", "lindvik"), content=LOWER) is None


def test_distant_sentences_are_not_joined() -> None:
    first, *_, last = split_sentences(POOL)
    assert near(f"{first.text} {last.text}") is None
    # One short sentence between them is.
    text = "The red boats leave the old harbor every morning. Really. Passengers buy their tickets at the yellow kiosk."
    quote = "The red boats leave the old harbor every morning. Passengers buy their tickets at a yellow kiosk."
    assert near(quote, content=text) == text.removesuffix(".")
    assert near(quote, content=text.replace("Really.", "Really. Truly.")) is None


def test_a_negation_belongs_to_the_same_words() -> None:
    text = "Members of the club who are not guests may swim in the small lake. The gate is open."
    assert near("Members of a club who are not guests may swim in the small lake", content=text) is not None
    assert near("Members of a club who aren't guests may swim in the small lake", content=text) is not None
    assert near("Members of a club who are guests may not swim in the small lake", content=text) is None


def test_the_words_of_a_quote_are_not_collected_from_a_longer_sentence() -> None:
    text = "The morning class for beginners is led by the owner, the evening class for others by the young cook."
    assert near("The morning class for beginners is led by the cook.", content=text) is None


def test_a_unit_without_a_number_is_the_same() -> None:
    text = "The report gives the profit of each quarter in percent, beside the revenue and the number of shops."
    quote = "The report gives a profit of each quarter in percent, beside the revenue and the number of shops."
    assert near(quote, content=text) is not None
    assert near(quote.replace("percent", "dollars"), content=text) is None


def test_sentences_that_repeat_their_words_are_not_aligned() -> None:
    # Aligning them takes five seconds.
    assert near("spam eggs " * 200, content="eggs spam spam " * 1300) is None
    # These need less than that.
    assert near("the spam and eggs " * 10 + "here", content="the spam and the eggs " * 10 + "here") is not None


def test_the_shortest_part_is_found() -> None:
    long = "The wooden ferry leaves the small pier early and crosses the bay at dawn."
    short = "The wooden ferry leaves the pier early and crosses the bay at dawn."
    quote = "A wooden ferry leaves a pier early, crosses a bay at dawn"
    assert near(quote, content=f"{long} {short}") == short.removeprefix("The ").removesuffix(".")


@given(st.text(max_size=80), st.text(max_size=20), st.text(max_size=200))
def test_whatever_is_found_is_a_part_of_the_passage_in_whole_words(quote: str, answer: str, content: str) -> None:
    found = near(quote, answer=answer, content=content)
    assert found is None or (found == found.strip() and found in content)
