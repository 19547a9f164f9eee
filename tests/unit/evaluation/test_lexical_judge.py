"""The lexical judge: which answers passages support, and which readings are the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import AnswerSpan
from pgclarify.evaluation.lexical_judge import LexicalJudge, is_same_answer, states_answer
from pgclarify.evaluation.records import Stated

HOURS = Passage(
    "a", 1,
    "The museum has 12 boats. From April to October the harbor museum opens at 9 am. The cafe closes at 6 pm.",
    title="Lindvik",
)  # fmt: skip
YEARS = Passage("b", 2, "Its new building was opened in 1931. A pier was added in 1954.", title="Lindvik Harbor Museum")
HOUR = "At what time does the harbor museum of Lindvik open?"
YEAR = "In what year was the new building of the Lindvik Harbor Museum opened?"
OPEN_AT_NINE = "Does the harbor museum open at 9 am from April to October?"


class NoReader:
    """Finds no answer in any passage."""

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        return None


JUDGE = LexicalJudge(NoReader())


async def supports(question: str | None, answers: Sequence[str], *passages: Passage) -> bool:
    (judged,) = await JUDGE.supports([(Stated(question, tuple(answers)), passages)])
    return judged


@pytest.mark.parametrize(
    ("question", "answer", "passage"),
    [
        (HOUR, "9 am", HOURS),
        (HOUR, "9 AM.", HOURS),
        ("How many boats does the museum have?", "twelve", HOURS),
        # The title says what was opened.
        (YEAR, "1931", YEARS),
        ("Which museum in Lindvik opened a new building in 1931?", "the Harbor Museum", YEARS),
        # The answer crosses the end of a sentence.
        ("What was added to the harbor museum?", "1931. A pier", YEARS),
        # Passages do not contain a yes or a no, so the words of the question decide.
        (OPEN_AT_NINE, "Yes, it does", HOURS),
        (OPEN_AT_NINE, "no - only in winter", HOURS),
        (None, "9 am", HOURS),
    ],
)
async def test_an_answer_in_a_sentence_about_the_question_is_supported(
    question: str | None, answer: str, passage: Passage
) -> None:
    assert await supports(question, [answer], passage)


@pytest.mark.parametrize(
    ("question", "answers", "passage"),
    [
        (HOUR, ["10 am"], HOURS),
        # The passage has the answer, but says something else with it.
        (HOUR, ["6 pm"], HOURS),
        ("When did the queen die?", ["1931"], YEARS),
        ("When was a pier added?", ["54"], YEARS),
        ("Is the queen of Ortval rich?", ["No"], HOURS),
        # Names that begin with yes or no.
        ("Which film does the harbor museum show at 9 am from April to October?", ["No Country for Old Men"], HOURS),
        ("Which film does the harbor museum show at 9 am from April to October?", ["No. 5"], HOURS),
        # The question has no content word.
        ("Did he?", ["Yes"], HOURS),
        (None, ["10 am"], HOURS),
        (HOUR, [], HOURS),
        (None, [], HOURS),
    ],
)
async def test_an_answer_about_something_else_is_not_supported(
    question: str | None, answers: list[str], passage: Passage
) -> None:
    assert not await supports(question, answers, passage)


async def test_a_single_passage_has_to_support_an_answer() -> None:
    assert await supports(HOUR, ["9 am"], YEARS, HOURS)
    apart = Passage("c", 3, "It opens at 9 am."), Passage("d", 4, "The harbor museum of Lindvik is small.")
    assert not await supports(HOUR, ["9 am"], *apart)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Stated(HOUR), Stated("When do the harbor museums of Lindvik open?")),
        (Stated(HOUR, ("9 am",)), Stated(HOUR, ("nine am", "9 am"))),
        (Stated(HOUR, ("9 am",)), Stated(HOUR)),
        (Stated("Who leads the harbor museum?", ("Ida Holm",)), Stated("Who is the museum's head?", ("Holm",))),
        (Stated("Is the museum free?", ("yes",)), Stated("Is the harbor museum free?", ("Yes, it is",))),
        (Stated(YEAR, ("1931",)), Stated("When did the Lindvik museum open its building?", ("in May 1931",))),
        (Stated(None, ("Moussa Faki", "Faki")), Stated(HOUR, ("Moussa Faki Mahamat",))),
    ],
)
async def test_readings_in_other_words_are_the_same(one: Stated, other: Stated) -> None:
    assert await JUDGE.matches("museum", [one], [other]) == await JUDGE.matches("museum", [other], [one]) == [True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Stated(HOUR), Stated("Who owns the museum?")),
        (Stated("Who won season 1 of the show?", ("Ida",)), Stated("Who won the second season?", ("Ida",))),
        (Stated("What does the blue ticket cost?"), Stated("What does the red ticket cost?")),
        # If both have answers, the answers decide.
        (Stated(HOUR, ("9 am",)), Stated(HOUR, ("10 am",))),
        # Numbers and yes are answers of many questions.
        (
            Stated("What is the return window for clothing?", ("30 days",)),
            Stated("What is the return window for electronics?", ("30 days",)),
        ),
        (Stated("Is the museum open on Sunday?", ("yes",)), Stated("Is the museum free for children?", ("yes",))),
        (Stated(None, ("9 am",)), Stated(HOUR)),
    ],
)
async def test_readings_with_another_question_or_answer_are_not_the_same(one: Stated, other: Stated) -> None:
    assert await JUDGE.matches("museum", [one], [other]) == await JUDGE.matches("museum", [other], [one]) == [False]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (["Goldwyn", "Tony Goldwyn"], ["Tony Goldwyn, the actor"], True),
        (["1919"], ["October 1919"], True),
        (["game attendance to dwindle"], ["dwindling game attendance"], True),
        (["9 am"], ["9 pm"], False),
        (["no"], ["No Country for Old Men"], False),
        (["yes"], ["no"], False),
        (["2"], ["2 million"], False),
        (["Kris Benson"], ["Anna Benson"], False),
        ([], ["9 am"], False),
    ],
)
def test_spellings_of_one_answer_are_the_same(one: list[str], other: list[str], *, is_same: bool) -> None:
    assert is_same_answer(one, other) is is_same_answer(other, one) is is_same


def test_an_answer_is_stated_word_for_word_in_any_notation() -> None:
    passage = Passage(
        "a", 1, "The \u201cSt. Lind\u201d sank on 17 July 1948 with 1,500,000 coins.", heading="Caf\u00e9"
    )
    for answer in ("St Lind", "1.5 million", "17 july", "Cafe\u0301"):
        assert states_answer([answer], passage)
    for answer in ("", "1,500", "194", "coin"):
        assert not states_answer([answer], passage)
