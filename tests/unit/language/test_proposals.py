"""Whether two proposals are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.questions import proposes_same


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Rental cars", "rental cars?"),
        ("Are you looking for the symptoms of mange in dogs?", "Do you want to know about symptoms of mange in dogs"),
        ("Are you interested in who painted the altar?", "Would you like to know who painted the altar?"),
        ("Do you want information about the harbor\u2019s history?", "Are you looking for the harbor history"),
        ("Could you tell me if you mean the novel?", "Do you mean the novel?"),
        ("Do you want prices of berths?", "Do you want the price of a berth?"),
        ("Are you looking for butter or margarine?", "Do you mean the butter or the margarine?"),
        ("Are you interested in learning more about the harbor?", "Do you want to find out about the harbor?"),
        ("I would like to know how deep the harbor is.", "Are you trying to find out how deep the harbor is?"),
        ("Are you looking for tickets?", "tickets"),
        ("", "?"),
    ],
)
def test_other_words_of_politeness(first: str, second: str) -> None:
    assert proposes_same(first, second)
    assert proposes_same(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # all-MiniLM-L6-v2: 0.97.
        ("Are you interested in an advanced treatment above ground?", "Are you interested in one below ground?"),
        ("What is the weather in North Korea?", "What is the weather in South Korea?"),
        ("Can I bring a dog?", "Can I not bring a dog?"),
        ("Are you looking for flights to Rome?", "Are you looking for flights from Rome?"),
        ("Who did Norway defeat?", "Who defeated Norway?"),
        ("Would you like more information?", "Would you like more details?"),
        ("Would you like to see Lindvik Castle?", "Would you like information about Lindvik Castle?"),
        ("Do you want to get to the museum?", "Do you want to learn about the museum?"),
        ("Do you want tickets?", "Are you looking for information about tickets?"),
        ("Are you looking for something for teachers?", "Are you looking for something about teachers?"),
        ("Do you want to learn French?", "Do you want to know French?"),
    ],
)
def test_something_else(first: str, second: str) -> None:
    assert not proposes_same(first, second)


@given(st.text())
def test_every_text_is_itself(text: str) -> None:
    assert proposes_same(text, text)
