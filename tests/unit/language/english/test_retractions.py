"""Sentences that take back what a part of them says, and sentences that only seem to."""

from __future__ import annotations

import pytest

from pgclarify.language.english.retractions import is_reserved, is_taken_back

FEE = "What is the fee?"


@pytest.mark.parametrize(
    "sentence",
    [
        "Nobody believes that the fee is 40 euros.",
        "Hardly anyone in the old town thinks the fee is 40 euros.",
        "Neither Ada nor Jon believes that, in summer, the fee is 40 euros.",
        "It is not true that the fee is 40 euros.",
        "It isn't certain whether the fee is 40 euros.",
        "There is no evidence that the fee is 40 euros.",
        "The mayor denied that the fee is 40 euros.",
        "It is a myth that the fee is 40 euros.",
        "The fee isn't 40 euros but 60 euros.",
        "The fee will no longer be 40 euros.",
    ],
)
def test_an_answer_that_its_sentence_takes_back_is_seen(sentence: str) -> None:
    assert is_taken_back([FEE], [sentence], "40 euros")
    # Another sentence says it.
    assert not is_taken_back([FEE], [sentence, "From May, the fee is 40 euros."], "40 euros")


@pytest.mark.parametrize(
    "sentence",
    [
        "Nobody doubts that the fee is 40 euros.",
        "She did not deny that the fee is 40 euros.",
        "Nobody knows that the fee is 40 euros.",
        "Do not forget that the fee is 40 euros.",
        "Ada claims that the fee is 40 euros.",
        "If you come late, the fee is 40 euros.",
        "If you do not say that you are a member, the fee is 40 euros.",
        "Nobody believes that the fee is 60 euros; it is 40 euros.",
        "The fee is not 60 euros but 40 euros.",
        "The fee is not only 40 euros but rises.",
        "The fee is not more than 40 euros.",
        "The fee is 40 euros, which is not much.",
        "The fee is 40 euros if you are not sure that you stay.",
        "Please make sure that you pay the fee of 40 euros.",
    ],
)
def test_an_answer_that_its_sentence_affirms_is_kept(sentence: str) -> None:
    assert not is_taken_back([FEE], [sentence], "40 euros")


@pytest.mark.parametrize(
    ("question", "sentence", "answer"),
    [
        ("What did the mayor deny?", "The mayor denied that the fee is 40 euros.", "that the fee is 40 euros"),
        ("What is the fee not?", "The fee is not 40 euros.", "40 euros"),
        ("When is the museum closed?", "The museum is not open on Mondays.", "on Mondays"),
        ("Is the fee 40 euros?", "It is not true that the fee is 40 euros.", "no"),
    ],
)
def test_what_is_denied_may_be_what_is_asked_for(question: str, sentence: str, answer: str) -> None:
    assert not is_taken_back([question], [sentence], answer)


def test_yes_is_taken_back_with_what_is_asked() -> None:
    assert is_taken_back(["Is the fee 40 euros?"], ["Nobody believes that the fee is 40 euros."], "yes")
    assert not is_taken_back(["Is the museum open?"], ["Nobody believes that the fee is 40 euros."], "yes")


@pytest.mark.parametrize(
    ("before", "after", "reserved"),
    [
        ("If you come late, ", ".", True),
        ("According to Ada, ", ".", True),
        ("", ", unless you are a member.", True),
        ("", ",” said the neighbor.", True),
        ("", " only on Mondays.", True),
        ("She rejected the idea that ", ".", True),
        ("", ", but that is wrong.", True),
        ("In summer, ", " a day.", False),
    ],
)
def test_what_limits_or_reports_a_quote_is_seen(before: str, after: str, reserved: bool) -> None:
    assert is_reserved(before, after) is reserved
